package debate

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// personTurn returns what a person is asked for a speech, in words for a person, with the host program's instructions. Nothing of it stands
// in a prompt of the library's: what a format and a config say is theirs.
func (d *Debate) personTurn(s *format.Speech, instructions string) func(*flow.Record) string {
	return func(*flow.Record) string {
		when := fmt.Sprintf("round %d of %d", d.Round, d.rounds())
		if d.rounds() == 1 {
			when = "the only round"
		}
		asked := []string{
			fmt.Sprintf("It is your turn, %s: %s, %s.", s.Speaker, s.Kind, when), "The topic: " + d.config.Topic, d.standing(s.Seat),
			d.addressed(s), d.wished(s), lengthOf(s), d.documented(), strings.TrimSpace(d.told("")),
		}
		if d.config.Language != "" {
			asked = append(asked, "Write in "+d.config.Language+".")
		}
		asked = slices.DeleteFunc(asked, func(part string) bool { return part == "" })
		return strings.Join(asked, "\n\n") + further(instructions)
	}
}

// standing tells a person in a seat what they speak for.
func (d *Debate) standing(seat int) string {
	if seat < 0 {
		return ""
	}
	if d.freed && d.bonds[seat] != "" {
		return released(d.bonds[seat])
	}
	var lines []string
	p := d.placed(seat)
	if p.Side != "" && d.format.Judged(p.Side) {
		lines = append(lines, "Your side: "+string(p.Side))
	}
	if role := strings.TrimSpace(d.format.Role(p.Side)); role != "" {
		lines = append(lines, "Your part: "+role)
	}
	if p.Position != "" {
		lines = append(lines, "Your position: "+p.Position)
	}
	if d.Assignment != nil {
		for _, found := range d.Assignment.Positions {
			if found.Participant != p.Name || len(found.KeyArguments) == 0 {
				continue
			}
			lines = append(lines, "What you may build on:")
			for _, argument := range found.KeyArguments {
				lines = append(lines, "- "+d.Line(argument, mostAssigned))
			}
		}
	}
	return strings.Join(lines, "\n")
}

// released tells a person what a phase has freed them from, in place of it; see bond.
func released(bond string) string {
	switch bond {
	case "critic":
		return "From here on nothing that was assigned to you binds you, your part as a critic included: you may propose."
	case "both":
		return "From here on your side and your position no longer bind you."
	case "view":
		return "From here on the view that you took no longer binds you."
	default:
		return "From here on your " + bond + " no longer binds you."
	}
}

// addressed tells a person to whom they speak, and what they answer.
func (d *Debate) addressed(s *format.Speech) string {
	switch {
	case s.Target == "":
		return ""
	case s.Kind != format.KindAnswer:
		return "You speak to " + s.Target + "."
	}
	for _, t := range slices.Backward(d.Turns) {
		if t.Round == d.Round && t.Kind == format.KindQuestion && t.Speaker == s.Target && t.Target == s.Speaker {
			return s.Target + " asks you:\n\n" + cited(t.Text)
		}
	}
	return "You answer " + s.Target + "."
}

// cited marks each line of what somebody has said, so that none reads like a line of the question in which it stands.
func cited(said string) string { return "> " + prompt.Quoted(said) }

// wished tells a person what the speech is for: in the format's own words, or else in some for its kind. The rules of questions and
// answers hold in any case.
func (d *Debate) wished(s *format.Speech) string {
	var phase format.Phase
	if d.phase >= 0 {
		phase = d.format.Phases[d.phase]
	}
	own := []string{exchanged(s.Kind), phase.Instruction}
	for n := range phase.Slots {
		switch s.Text {
		case format.SlotText(phase.Name, n):
			own = append(own, phase.Slots[n].Instruction)
		case format.AnswerText(phase.Name, n):
			own = append(own, phase.Slots[n].Answer)
		}
	}
	own = slices.DeleteFunc(own, func(text string) bool { return strings.TrimSpace(text) == "" })
	if len(own) > 0 {
		return strings.Join(own, "\n\n")
	}
	switch s.Kind {
	case format.PhaseOpening:
		return "Say what you hold, and why."
	case format.PhaseClosing:
		return "Say what the debate has shown. Bring nothing new."
	default:
		return "Answer what was said, and add what is missing."
	}
}

// exchanged tells a person the rule of a question, or of its answer. "": the speech is neither.
func exchanged(kind flow.CallKind) string {
	switch kind {
	case format.KindQuestion:
		return "Ask one question. It should take no more than a few sentences to answer."
	case format.KindAnswer:
		return "Answer the question in a few sentences, and ask nothing back."
	default:
		return ""
	}
}

// documented names the documents to a person, as quotations name them. What is in them is the host program's to show.
func (d *Debate) documented() string {
	documents := d.Settings().Documents
	if len(documents) == 0 {
		return ""
	}
	names := make([]string, len(documents))
	for i := range documents {
		for k := range documents[i].Files {
			names[i] += " " + documents[i].Files[k].String()
		}
		names[i] = strings.TrimSpace(documents[i].Name + names[i])
	}
	return "The documents: " + strings.Join(names, "; ")
}

// lengthOf tells a person how long the speech is to be. How long it may be stands in the inquiry.
func lengthOf(s *format.Speech) string {
	if s.Words == 0 {
		return ""
	}
	if s.Kind == format.KindQuestion || s.Kind == format.KindAnswer {
		return "At most " + prompt.Count(s.Words, "word") + "."
	}
	return fmt.Sprintf("Aim for about %d words.", s.Words)
}

// mostWritten returns how many bytes a person may write where a model has so many tokens: what they take in writing like the topic's, so
// that nobody has more room than another. 0: the tokens alone bound it, since the config names a language, and its writing is not known.
func (d *Debate) mostWritten(tokens int) int {
	const halves = 9 // a token has 4.5 letters
	letters := utf8.RuneCountInString(d.config.Topic)
	if d.config.Language != "" || letters == 0 {
		return 0
	}
	return int(float64(tokens) * halves / 2 * float64(len(d.config.Topic)) / float64(letters))
}
