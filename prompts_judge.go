package debate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// What judges and the audience are told and asked. What speakers are told is in prompts.go.

// formerHole stands for a voter's first vote. Its runes are those of the other holes.
const formerHole = "\uE001former\uE001"

// Names of the texts that judges and voters are asked with.
const (
	askTexts    = "ask."
	askAssess   = askTexts + "assess." // with the round; that of laterRounds stands for all later ones
	askVerdict  = askTexts + "verdict"
	askAim      = askTexts + "aim"      // for judges who read no system prompt
	askMotion   = askTexts + "motion"   // for voters who read none
	askLanguage = askTexts + "language" // for both
	askBallot   = askTexts + "ballot."  // with beforeDebate or afterDebate
)

// When the audience votes, as texts are named.
const (
	beforeDebate = "before"
	afterDebate  = "after"
)

// aimIn returns what the judges of a debate judge: what the config says. Otherwise, if the config replaces the format's stances, what goes
// with those that it gives, unless they differ in it. Otherwise what the format says.
func aimIn(c *Config, f *format.Format) format.Aim {
	if c.Judging != nil && c.Judging.Aim != "" {
		return c.Judging.Aim
	}
	replaced, aim := false, format.Aim("")
	for i := range c.Participants {
		p := &c.Participants[i]
		if !f.Judged(p.Side) {
			continue
		}
		stance := stanceIn(c, f, p)
		replaced = replaced || stance != f.StanceOf(p.Side)
		if aim != "" && aim != stance.Aim() {
			return f.Aim
		}
		aim = stance.Aim()
	}
	if replaced {
		return aim
	}
	return f.Aim
}

// judges renders what judges are told. All judges of a panel are told the same, in the same order, so that they share the beginning of
// their prompts. The order that was drawn for a judge is that of the names in its instruction and its schema.
func (t *textWriter) judges() {
	j := t.Config.Judging
	if j == nil || len(t.Orders) == 0 {
		return
	}
	people, names, chairs := t.shown(t.Orders[0])
	a, rubric := askedIn(t.Config, t.Format), j.Rubric.prompted()
	for i := range rubric {
		rubric[i].Low, rubric[i].High = t.hide(rubric[i].Low), t.hide(rubric[i].High)
	}
	judge := prompt.Judge{
		Topic: t.hide(t.Config.Topic), Format: t.Format.Name, FormatGuidance: t.hide(t.Format.Guidance), Participants: people, Chairs: chairs,
		Criteria: j.Criteria, Rubric: rubric, Rounds: t.Config.Rounds, NoWinner: t.Format.Decide == format.NoWinner,
		Aim: string(aimIn(t.Config, t.Format)), Sources: t.sources(), Closing: a.closing, Roles: t.roles(),
		Instructions: t.hide(bare(j.Instructions)), Language: t.Config.Language, Fence: t.Fence,
	}
	if len(j.Judges) == 1 {
		judge.Name = j.Judges[0].Name
	}
	text, err := t.Prompts.Judge(judge)
	for i := range j.Judges {
		t.put(textSystem.of(j.Judges[i].Name), text, err)
	}
	if slices.ContainsFunc(j.Judges, func(judge JudgeConfig) bool { return judge.Model == "" }) {
		aim, err := t.Prompts.Aim(judge)
		t.put(askAim, aim, err)
		t.language()
	}
	for round := 1; round <= laterRounds; round++ {
		text, err := t.Prompts.Assess(prompt.Assess{
			Participants: names, Rubric: judge.Rubric, Rounds: t.planned(), Ends: string(t.Format.End), Judges: len(j.Judges), First: round == 1,
			Fields: a.assessment(round, nil).String(),
		})
		t.put(askAssess+strconv.Itoa(round), text, err)
	}
	t.verdicts(&a, names)
	findings, err := t.Prompts.Findings(prompt.Findings{Items: []string{findingsHole}})
	t.put("findings", findings, err)
}

func (t *textWriter) verdicts(a *asked, names []string) {
	v := prompt.Verdict{
		Participants: names, Criteria: a.criteria, Rounds: t.planned(), NoWinner: t.Format.Decide == format.NoWinner,
		Fields: a.verdict(nil, nil).String(),
	}
	text, err := t.Prompts.Verdict(v)
	t.put(askVerdict, text, err)
	v.Unfinished = true
	text, err = t.Prompts.Verdict(v)
	t.put(askVerdict+unfinishedSuffix, text, err)
}

// roles returns what the format asks of those who are judged, by their sides.
func (t *textWriter) roles() []string {
	var out []string
	for i := range t.Format.Seats {
		seats := &t.Format.Seats[i]
		if strings.TrimSpace(seats.Role) == "" || seats.Side != "" && !t.Format.Judged(seats.Side) {
			continue
		}
		who := string(seats.Side)
		if who == "" && len(out) == 0 {
			who = "all"
		} else if who == "" {
			who = "all others"
		}
		out = append(out, who+": "+t.hide(seats.Role))
	}
	return out
}

// shown returns the participants as a judge is told about them, in the order drawn for the judge. If names are
// hidden, they stand under their labels. names are those of the contestants.
func (t *textWriter) shown(order []int) (people []prompt.Person, names, chairs []string) {
	all := t.people()
	for _, seat := range order {
		p := all[seat]
		if t.Labels != nil {
			p.Name = t.Labels[seat]
			p.Position = t.hide(p.Position)
		}
		people = append(people, p)
		if t.Format.Judged(t.Config.Participants[seat].Side) {
			names = append(names, p.Name)
		} else {
			people[len(people)-1].Side += ", not judged"
			chairs = append(chairs, p.Name)
		}
	}
	return people, names, chairs
}

// hide replaces names by labels, if judges read labels.
func (t *textWriter) hide(text string) string {
	if t.Labels == nil {
		return text
	}
	return flow.ReplaceNames(text, namesOf(t.Config.Participants), t.Labels)
}

// language renders in which language to write, for those who read no system prompt, if the config says it.
func (t *textWriter) language() {
	if t.Config.Language == "" {
		return
	}
	text, err := t.Prompts.Render("language", prompt.Language{Language: prompt.Plain(t.Config.Language)})
	t.put(askLanguage, text, err)
}

func (t *textWriter) audience() {
	if t.Config.Audience == nil {
		return
	}
	people := t.people()
	for i := 0; i < len(t.Config.Audience.Members) && t.err == nil; i++ {
		m := &t.Config.Audience.Members[i]
		text, err := t.Prompts.Voter(prompt.Voter{
			Topic: t.Config.Topic, Name: m.Name, Persona: m.Persona, Format: t.Format.Name, FormatGuidance: t.Format.Guidance,
			Participants: people, Instructions: bare(joined(t.Config.Audience.Instructions, m.Instructions)), Language: t.Config.Language,
			Fence: t.Fence,
		})
		t.put(textSystem.of(m.Name), text, err)
	}
	if slices.ContainsFunc(t.Config.Audience.Members, func(m Member) bool { return m.Model == "" }) {
		t.put(askMotion, "The motion: "+prompt.Quoted(t.Config.Topic)+`

- for: you agree with the motion; if it is a question, you say yes
- against: you disagree with it; if it is a question, you say no
- undecided: you cannot tell, or nobody has won you over`, nil)
		t.language()
	}
	for name, before := range map[string]bool{beforeDebate: true, afterDebate: false} {
		ballot := prompt.Ballot{Before: before, Fields: ballotFields(!before).String()}
		if !before {
			ballot.Former = formerHole
		}
		text, err := t.Prompts.Ballot(ballot)
		t.put(askBallot+name, text, err)
	}
}
