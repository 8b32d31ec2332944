package debate

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// degraded returns how the debate was less than configured, in one line each.
func (d *Debate) degraded() []string {
	if d.config == nil || d.format == nil {
		return nil
	}
	out := d.Record.Degraded(owes, func(name string) string {
		if d.Seat(name) < 0 {
			return name + " has judged no further"
		}
		return name + " has taken no further part"
	})
	for i := range d.SkippedCalls {
		out = append(out, d.missed(&d.SkippedCalls[i]))
	}
	out = append(out, d.unanswered()...)
	if d.Final() && d.config.Judging != nil {
		switch given := len(d.opinions()); {
		case given == 0:
			out = append(out, "there is no verdict")
		case given < d.quorum():
			out = append(out, fmt.Sprintf("%d of %d judges have given a verdict: fewer than the quorum of %d", given, len(d.bench), d.quorum()))
		case given < len(d.bench):
			out = append(out, fmt.Sprintf("%d of %d judges have given a verdict", given, len(d.bench)))
		}
	}
	for _, u := range d.unread() {
		out = append(out, d.sayUnread(&u))
	}
	for _, cut := range []string{d.sayCut(), d.sayStumps()} {
		if cut != "" {
			out = append(out, cut)
		}
	}
	for _, what := range d.missing() {
		out = append(out, "missing: "+what)
	}
	return out
}

// missing returns what a decision to end the debate early has cost of what the config asks for. What it still lacks in the error state,
// its record says.
func (d *Debate) missing() []string {
	if d.EndedEarlyBy == "" {
		return nil
	}
	out := d.lacksSpeeches()
	if d.Final() {
		out = append(out, d.lacksVerdicts()...)
	}
	return out
}

// missed returns what was left out, in words.
func (d *Debate) missed(s *flow.Skipped) string {
	what := fmt.Sprintf("a speech in round %d", s.Round)
	switch s.Kind {
	case KindAssessment:
		what = fmt.Sprintf("the assessment of round %d", s.Round)
	case KindBallot:
		what = "a vote"
	case KindAside:
		what = fmt.Sprintf("an answer out of turn in round %d", s.Round)
	case KindFloor:
		what = fmt.Sprintf("a decision who speaks next in round %d", s.Round)
	case flow.KindSummary:
		what = "a summary"
	}
	if s.With != "" {
		return fmt.Sprintf("%s had no question to answer in round %d, because it was left out (%s)", s.By, s.Round, s.Why())
	}
	return s.Missed(what)
}

// unanswered names the questions out of turn that have no answer and get none, unless missed says that the answer was left out, or
// lacksSpeeches that it is owed.
func (d *Debate) unanswered() []string {
	var out []string
	ended := d.Final() || d.State == flow.StateError
	for k, n := range d.Notes {
		id := asideID(n.Round, k, n.Ask)
		asked := !ended && n.Round == d.Round && k >= d.former && !d.Failed(id) && !d.IsDropped(n.Ask)
		owed := k == d.former && d.owesAnswer() != ""
		if n.Ask == "" || asked || owed || d.Done(id) || d.Skipped(id) {
			continue
		}
		question := "the question of " + strconv.Quote(n.As)
		if i := slices.IndexFunc(d.Earlier, func(e Concluded) bool { return e.note == k }); i >= 0 {
			question = d.Earlier[i].asked()
		}
		out = append(out, fmt.Sprintf("%s has not answered %s in round %d", n.Ask, question, n.Round))
	}
	return out
}

// Unread names the turns that a judge, or a member of the audience who votes after the debate, has read neither whole nor in a
// summary.
type Unread struct {
	Judge string        `json:"judge"`           // or the member of the audience
	Kind  flow.CallKind `json:"kind"`            // KindAssessment, KindVerdict or KindBallot
	Round int           `json:"round,omitempty"` // of an assessment
	// Swapped is that of the [Verdict].
	Swapped bool     `json:"swapped,omitempty"`
	Turns   []string `json:"turns"` // their calls, oldest first; see [flow.Turn]
}

// unread returns what the assessments, the verdicts and the votes after the debate claim to rest on and do not. An assessment
// rests on its round, and all others on the whole debate.
func (d *Debate) unread() []Unread {
	var out []Unread
	add := func(u Unread, call string) {
		for _, t := range d.Unread(call) {
			if u.Round == 0 || t.Round == u.Round {
				u.Turns = append(u.Turns, t.Call)
			}
		}
		if len(u.Turns) > 0 {
			out = append(out, u)
		}
	}
	for _, a := range d.ordered(d.Assessments) {
		add(Unread{Judge: a.Judge, Kind: KindAssessment, Round: a.Round}, a.Call)
	}
	for _, v := range d.Verdicts {
		add(Unread{Judge: v.Judge, Kind: KindVerdict, Swapped: v.Swapped}, v.Call)
	}
	for _, b := range d.Ballots {
		add(Unread{Judge: b.Voter, Kind: KindBallot}, b.Call)
	}
	return out
}

// sayUnread says in one line what a judge or a voter has not read.
func (d *Debate) sayUnread(u *Unread) string {
	what, whose := "the verdict of "+u.Judge, "judge"
	switch {
	case u.Kind == KindBallot:
		what, whose = "the vote of "+u.Judge, "voter"
	case u.Kind == KindAssessment:
		what = fmt.Sprintf("the assessment of round %d by %s", u.Round, u.Judge)
	case u.Swapped:
		what += " in the other order"
	}
	lost := strings.Join(d.spell(u.Turns), ", ")
	return fmt.Sprintf("%s rests on a part: the %s's window did not hold %s, of which there is no summary: amend summarizer, or its model",
		what, whose, lost)
}

// sayStumps says in one line which speeches have no end. "": all have one. The cap of the speaker replaces that of the format and that of
// the debate. Of those that the budget has cut, the record says it.
func (d *Debate) sayStumps() string {
	var cut []string
	for _, t := range d.Turns {
		lowered := func(w flow.Warning) bool { return w.Kind == flow.WarnCapped && w.Call == t.Call }
		if t.Cut && !slices.ContainsFunc(d.Warnings, lowered) {
			cut = append(cut, t.Call)
		}
	}
	if len(cut) == 0 {
		return ""
	}
	return "cut short at the limit of tokens: " + strings.Join(d.spell(cut), ", ") + ": raise the speaker's own maxTokens"
}

// sayCut says in one line that summaries have no end. "": all have one.
func (d *Debate) sayCut() string {
	cut := 0
	for _, s := range d.Summaries {
		if s.Cut {
			cut++
		}
	}
	if cut == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d summaries of older turns were cut off at the cap on their tokens", cut, len(d.Summaries))
}

// spell names turns in words: whole rounds by their numbers, and of other rounds the speakers.
func (d *Debate) spell(calls []string) []string {
	meant := make(map[string]bool, len(calls))
	for _, call := range calls {
		meant[call] = true
	}
	turns, all := make(map[int][]string), make(map[int]int)
	for _, t := range d.Turns {
		all[t.Round]++
		if meant[t.Call] {
			turns[t.Round] = append(turns[t.Round], t.Speaker)
		}
	}
	var out []string
	rounds := slices.Sorted(maps.Keys(turns))
	for i := 0; i < len(rounds); {
		first, last := rounds[i], rounds[i]
		for ; i < len(rounds) && rounds[i]-last <= 1 && len(turns[rounds[i]]) == all[rounds[i]]; i++ {
			last = rounds[i]
		}
		switch {
		case len(turns[first]) < all[first]:
			out = append(out, fmt.Sprintf("%s in round %d", strings.Join(turns[first], " and "), first))
			i++
		case first == last:
			out = append(out, fmt.Sprintf("round %d", first))
		default:
			out = append(out, fmt.Sprintf("rounds %d to %d", first, last))
		}
	}
	return out
}
