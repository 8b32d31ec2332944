package debate

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/prompt"
)

// What the structured answers of a debate hold: evidence first, then reasons, then marks and decisions. One list of fields yields the
// words of an instruction, which are rendered at the start, and the schema of a call.

// tieBelow is the distance of two scores, of 100, below which nobody is ahead. Judges are told so. A verdict that names a winner all the
// same counts, with a note. A ranking by such scores is empty.
const tieBelow = 3.0

const flagRepetitive = "repetitive"

// flag is something that a judge may notice about a round.
type flag struct {
	name  string // in answers
	shown string // in exports
	ask   string
	first int  // the first round in which it is asked for and counts
	least int  // how many contestants it takes
	ends  bool // it can end a debate that ends by convergence
	of    func(*Flags) *bool
}

// flags are in the order in which judges are asked for them. A round cannot converge before anybody has answered, and returns cannot
// diminish twice before the third round.
var flags = []flag{ //nolint:gochecknoglobals // read only
	{flagRepetitive, "repetitive", "most of the round had been said before", 1, 1, false, func(f *Flags) *bool { return &f.Repetitive }},
	{"drifting", "drifting", "most of the round is not about the topic", 1, 1, false, func(f *Flags) *bool { return &f.Drifting }},
	{
		"diminishingReturns", "diminishing returns", "each of the last two rounds brought less than the round before it", 3, 1, true,
		func(f *Flags) *bool { return &f.DiminishingReturns },
	},
	{
		"convergenceReached", "convergence", "all now give the same answer to the topic, or agree that they will not agree, and on what; " +
			"clear views alone do not suffice", 2, 2, true,
		func(f *Flags) *bool { return &f.ConvergenceReached },
	},
}

// FlagsOf returns the names of the flags that are set, in the order in which judges are asked for them.
func FlagsOf(f *Flags) []string {
	var out []string
	for _, flag := range flags {
		if *flag.of(f) {
			out = append(out, flag.shown)
		}
	}
	return out
}

// laterRounds is the round whose instruction stands for all later ones: from then on every flag is asked for.
const laterRounds = 3

// asked is what the words and the schemas of a debate's judges depend on, beside the round. All of it is known at the start.
type asked struct {
	end      format.End
	judges   int
	marks    []string      // the criteria of the rubric; nil: one score for each participant
	criteria []string      // of the verdict's findings
	winner   bool          // somebody can win
	closing  bool          // there are closing turns, which may say again what was said
	alone    bool          // there is one contestant, who can agree with nobody
	sides    []format.Side // that can win; nil: participants can
}

// askedIn returns what a debate of this config asks of its judges.
func askedIn(c *Config, f *format.Format) asked {
	a := asked{
		end: f.End, winner: f.Decide != format.NoWinner, sides: sidesOf(c.Participants, f), closing: closes(f),
		alone: countJudged(f, c.Participants) == 1,
	}
	if c.Judging != nil {
		a.judges, a.criteria = len(c.Judging.Judges), c.Judging.criteria()
		if c.Judging.Rubric != nil {
			a.marks = a.criteria
		}
	}
	return a
}

// closes reports whether contestants close the debate, each in a turn of its own.
func closes(f *format.Format) bool {
	return slices.ContainsFunc(f.Phases, func(p format.Phase) bool {
		closing := func(s format.Slot) bool {
			return s.Who != format.TheChair && cmp.Or(string(s.Kind), p.Name) == format.PhaseClosing
		}
		return len(p.Slots) == 0 && p.Name == format.PhaseClosing || slices.ContainsFunc(p.Slots, closing)
	})
}

// notices reports whether a flag is asked for about a round.
func (a *asked) notices(f *flag, round int) bool {
	return round >= f.first && (f.least < 2 || !a.alone)
}

// noticing says in words when a flag is true.
func (a *asked) noticing(f *flag) string {
	if f.name == flagRepetitive && a.closing {
		return "most of the round, closings apart, had been said before"
	}
	return f.ask
}

// ends names the flags that can end the debate, of those that are asked for about a round. "": none can.
func (a *asked) ends(round int) string {
	out := ""
	for i := range flags {
		switch flag := &flags[i]; {
		case !flag.ends || !a.notices(flag, round):
		case out == "":
			out = strconv.Quote(flag.name)
		default:
			out += " or " + strconv.Quote(flag.name)
		}
	}
	return out
}

// assessment returns the fields of a judge's assessment of a round, in which these people have spoken.
func (a *asked) assessment(round int, people []string) prompt.Fields {
	mark := prompt.Field{Name: "score", Kind: prompt.Number, Ask: "0 to 10"}
	if a.marks != nil {
		mark = prompt.Field{
			Name: "criteria", Kind: prompt.ByName, Ask: "for each criterion, 0 to 10", Names: a.marks, Of: []prompt.Field{{Kind: prompt.Number}},
		}
	}
	const points = "lists of up to three sentences, each on a point that was made"
	out := prompt.Fields{
		{Name: "assessments", Kind: prompt.List, Ask: "for each of " + prompt.Names, Of: []prompt.Field{
			participantField(people),
			{Name: "strengths", Kind: prompt.Texts, Ask: points},
			{Name: "weaknesses", Kind: prompt.Texts, Ask: points},
			mark,
		}},
		reasoningField("what happened in the round, what was new, what is open; three to six sentences"),
	}
	if when := a.ending(round); when != "" {
		out = append(out, prompt.Field{Name: "ending", Ask: when + ", why, with the words that show it; else \"\""})
	}
	noticed := prompt.Field{Name: "flags", Kind: prompt.Object, Ask: "each true or false", Of: make([]prompt.Field, 0, len(flags))}
	for i := range flags {
		if flag := &flags[i]; a.notices(flag, round) {
			noticed.Of = append(noticed.Of, prompt.Field{Name: flag.name, Kind: prompt.Truth, Ask: a.noticing(flag)})
		}
	}
	return append(out, noticed, prompt.Field{Name: "qualityScore", Kind: prompt.Number, Ask: "the round as a whole, 0 to 10"}, a.further())
}

// ending says when an answer about the round must give the reason for which the debate ends. "": no answer ends it.
func (a *asked) ending(round int) string {
	switch {
	case a.end == format.EndByRounds:
		return ""
	case a.end != format.EndByConvergence:
		return "if the debate should end before its last round"
	}
	if ends := a.ends(round); ends != "" {
		return "if " + ends + " is true"
	}
	return ""
}

// further asks whether the debate should go on.
func (a *asked) further() prompt.Field {
	ask := "whether a further round would bring what a reader would miss; "
	switch {
	case a.end == format.EndByRounds || a.end == format.EndByConvergence:
		ask = "whether you would hold a further round; this alone ends nothing"
	case a.judges > 1:
		ask += "if most judges say false, the debate ends"
	default:
		ask += "false ends the debate"
	}
	return prompt.Field{Name: "shouldContinue", Kind: prompt.Truth, Ask: ask}
}

// verdict returns the fields of a judge's verdict on these people. parties are those that can win: the people, or sides.
func (a *asked) verdict(people, parties []string) prompt.Fields {
	agreed, open := "as they are at the end", "as they are at the end"
	compared := "by each criterion, a sentence that compares the participants"
	if a.alone {
		agreed, open = "what of the view held", "what did not hold, or stayed open"
		compared = "by each criterion, a sentence on the participant"
	}
	out := prompt.Fields{
		{Name: "summary", Ask: "what was disputed and how it went, for somebody who has read nothing of it"},
		{Name: "keyPoints", Kind: prompt.List, Ask: "for each of " + prompt.Names, Of: []prompt.Field{
			participantField(people),
			{Name: "mainArguments", Kind: prompt.Texts, Ask: "what carried the case, and whether it held"},
		}},
		{Name: "areasOfAgreement", Kind: prompt.Texts, Ask: agreed},
		{Name: "areasOfDisagreement", Kind: prompt.Texts, Ask: open},
		{Name: "criteria", Kind: prompt.ByName, Ask: compared, Names: a.criteria},
	}
	if a.winner {
		out = append(out, scoresField(100, people), a.winnerField(parties))
	}
	return append(out,
		prompt.Field{Name: "qualityScore", Kind: prompt.Number, Ask: "the discussion as a whole, 0 to 100"},
		prompt.Field{Name: "insights", Kind: prompt.Texts, Ask: "at most five, for somebody who must decide the question"})
}

// winnerField asks for the party that has won, and before it for the reason.
func (a *asked) winnerField(parties []string) prompt.Field {
	out := prompt.Field{
		Name: "winner", Kind: prompt.Object, Null: true, Ask: "null if " + tie(a.sides) + ", else who is ahead",
		Of: []prompt.Field{reasoningField("the points that decided it"), participantField(parties)},
	}
	if a.sides != nil {
		out.Ask = "null if " + tie(a.sides) + ", else the team that is ahead"
		out.Of[1] = prompt.Field{Name: "side", Kind: prompt.Choice, Ask: a.choice() + ": the team, not a person", Names: parties}
	}
	return out
}

// tie says when nobody is ahead of those who can win: of these sides or, without any, of the participants.
func tie(sides []format.Side) string {
	who, how := "the best two scores", ""
	switch {
	case len(sides) > 2:
		who, how = "the best two sides", " on average"
	case sides != nil:
		who, how = "the sides", " on average"
	}
	return fmt.Sprintf("%s are less than %g apart%s", who, tieBelow, how)
}

// choice lists the sides that can win.
func (a *asked) choice() string {
	quoted := make([]string, len(a.sides))
	for i, side := range a.sides {
		quoted[i] = strconv.Quote(string(side))
	}
	return strings.Join(quoted, " or ")
}

func reasoningField(ask string) prompt.Field { return prompt.Field{Name: "reasoning", Ask: ask} }

func participantField(people []string) prompt.Field {
	return prompt.Field{Name: "participant", Kind: prompt.Choice, Ask: "the name as given", Names: people}
}

func scoresField(most int, people []string) prompt.Field {
	return prompt.Field{
		Name: "scores", Kind: prompt.ByName, Ask: fmt.Sprintf("0 to %d for %s", most, prompt.Names), Names: people,
		Of: []prompt.Field{{Kind: prompt.Number}},
	}
}

// personAssessment is assessment for a person.
func (a *asked) personAssessment(people []string) prompt.Fields {
	return prompt.Fields{
		reasoningField("why, in a sentence"),
		scoresField(10, people),
		{Name: "qualityScore", Kind: prompt.Number, Ask: "the round as a whole, 0 to 10"},
		a.further(),
	}
}

// personVerdict is verdict for a person.
func (a *asked) personVerdict(people, parties []string) prompt.Fields {
	quality := prompt.Field{Name: "qualityScore", Kind: prompt.Number, Ask: "the discussion as a whole, 0 to 100"}
	out := prompt.Fields{reasoningField("why, in a sentence")}
	if !a.winner {
		return append(out, quality)
	}
	ask := "the winner's name as given"
	if a.sides != nil {
		ask = "the side that has won, " + a.choice()
	}
	return append(out, scoresField(100, people), quality,
		prompt.Field{Name: "winner", Kind: prompt.Choice, Ask: ask + "; \"\" if " + tie(a.sides), Names: append(slices.Clone(parties), "")})
}

// ballotFields returns the fields of a vote, before the debate or after it.
func ballotFields(after bool) prompt.Fields {
	why := "why, in one or two sentences"
	if after {
		why = "which point moved you, or why none did, in one or two sentences"
	}
	return prompt.Fields{
		reasoningField(why),
		{
			Name: "vote", Kind: prompt.Choice, Ask: `"for", "against" or "undecided"`,
			Names: []string{string(VoteFor), string(VoteAgainst), string(VoteUndecided)},
		},
	}
}

// planFields returns the fields of a plan of positions for these people.
func planFields(people []string) prompt.Fields {
	return prompt.Fields{
		reasoningField("on which points the positions will collide"),
		{Name: "positions", Kind: prompt.List, Ask: "for each of " + prompt.Names, Of: []prompt.Field{
			participantField(people),
			{
				Name: "side", Kind: prompt.Choice, Ask: `the side in brackets, or "none" where there is none`,
				Names: []string{string(format.For), string(format.Against), string(format.Neutral), noSide},
			},
			{Name: "persona", Ask: "the given one, or at most two sentences"},
			{Name: "position", Ask: "one sentence"},
			{Name: "keyArguments", Kind: prompt.Texts, Ask: "two to four"},
		}},
	}
}

// sheet says whom a judge is asked about, in the order and under the names in which it reads them, and for what.
type sheet struct {
	round  int           // of an assessment, at most laterRounds; 0: it is for a verdict
	judged []Participant // whom it is about, in the order of the seats

	people, parties []string // parties are those who can win: the people, or sides
	fields          prompt.Fields
	text, named     string // the latest instruction, without the names and with them
}

// answerBy is an answer of a judge: with this schema, and with the participants in the other order or not.
type answerBy struct {
	judge, schema string
	swapped       bool
}

// serves reports whether a sheet is that of a round and these people.
func (s *sheet) serves(round int, judged []Participant) bool {
	if s == nil || s.round != round || len(s.judged) != len(judged) {
		return false
	}
	for i := range judged {
		if judged[i].Name != s.judged[i].Name {
			return false
		}
	}
	return true
}

// sheet returns what a judge is asked with a schema. It follows from the record. The last sheet of each answer is kept, because the
// instruction, the schema and the task of a call read it, and most rounds ask for what the round before has asked for. Only the owner of
// the record makes calls, so that no other goroutine comes here.
func (d *Debate) sheet(judge, schema string, swapped bool) *sheet {
	c, round := d.contest(), 0
	if schema == string(KindAssessment) || schema == schemaRubric || schema == schemaPersonAssessment {
		c, round = d.roundContest(), min(d.Round, laterRounds)
	}
	answer := answerBy{judge, schema, swapped}
	if last := d.sheets[answer]; last.serves(round, c.judged) {
		return last
	}
	s := &sheet{round: round, judged: c.judged}
	s.people, s.parties = d.shown(judge, swapped, c)
	switch {
	case schema == schemaPersonAssessment:
		s.fields = d.asked.personAssessment(s.people)
	case schema == schemaPersonVerdict:
		s.fields = d.asked.personVerdict(s.people, s.parties)
	case round > 0:
		s.fields = d.asked.assessment(round, s.people)
	default:
		s.fields = d.asked.verdict(s.people, s.parties)
	}
	if d.sheets == nil {
		d.sheets = make(map[answerBy]*sheet)
	}
	d.sheets[answer] = s
	return s
}

func judgeFields(r *flow.Record, call *flow.Call) prompt.Fields {
	return of(r).sheet(call.By, call.Schema, call.View.Swapped).fields
}

func planFieldsOf(r *flow.Record, _ *flow.Call) prompt.Fields {
	d := of(r)
	open := d.unplaced()
	people := make([]string, len(open))
	for i, seat := range open {
		people[i] = d.config.Participants[seat].Name
	}
	return planFields(people)
}
