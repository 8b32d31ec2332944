package debate

import (
	"maps"
	"math"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// contest says whom judges mark, and who can win: each participant, or each side. A party is one of those who can win, by its name.
type contest struct {
	judged []Participant // contestants; of a round: those who have spoken in it
	sides  []format.Side // those that win or lose as one; nil: participants do
}

// sidesOf returns the sides that win or lose as one. Sides do if every contestant has one, there are at least two, and one of them has
// several contestants. It depends on the config alone, so it stays the same over a debate, whoever leaves.
func sidesOf(all []Participant, f *format.Format) []format.Side {
	var sides []format.Side
	several := false
	for i := range all {
		switch side := all[i].Side; {
		case !f.Judged(side):
		case side == "":
			return nil
		case slices.Contains(sides, side):
			several = true
		default:
			sides = append(sides, side)
		}
	}
	if !several || len(sides) < 2 {
		return nil
	}
	return sides
}

// BySides reports whether sides win this debate, and not participants.
func (d *Debate) BySides() bool { return d.decided().sides != nil }

// PartyOf returns the party that a verdict names as the winner: a participant or, if [Debate.BySides] reports true, a side. "": it names
// nobody.
func (d *Debate) PartyOf(v *FinalVerdict) string { return d.decided().of(v.Winner) }

// contest returns the contest of the whole debate, as judges are asked about it. At its end, those are not judged all of whose speeches
// were left out. Before, they may still speak, and a verdict that is reserved is about all.
func (d *Debate) contest() contest {
	judged := d.Contestants()
	if len(d.SkippedCalls) == 0 || d.Working() != flow.StateCompleting {
		return contest{judged, d.asked.sides}
	}
	spoken := make(map[string]bool, len(judged))
	for _, t := range d.Turns {
		spoken[t.Speaker] = spoken[t.Speaker] || t.Kind != KindAside
	}
	if slices.ContainsFunc(judged, func(p Participant) bool { return spoken[p.Name] }) {
		judged = slices.DeleteFunc(slices.Clone(judged), func(p Participant) bool { return !spoken[p.Name] })
	}
	return contest{judged, d.asked.sides}
}

// decided is contest as the verdicts have it: if they name participants, and none names a side, participants win. A log that was written
// elsewhere may hold such verdicts. A fork of it and an import without its prompts are asked anew, and do not change what was said.
func (d *Debate) decided() contest {
	c := d.contest()
	named := func(v *Verdict) bool { return v.Winner != nil && v.Winner.Participant != "" && v.Winner.Side == "" }
	sided := func(v *Verdict) bool { return v.Winner != nil && v.Winner.Side != "" }
	if slices.ContainsFunc(d.Verdicts, named) && !slices.ContainsFunc(d.Verdicts, sided) {
		c.sides = nil
	}
	return c
}

// roundContest returns the contest of the present round: those contestants who have spoken in it. In an estimate nobody has spoken, and
// those who are to speak stand for them.
func (d *Debate) roundContest() contest {
	judged, due := d.Contestants(), d.unspoken()
	silent := func(p Participant) bool { return !d.voiced[p.Name] && !slices.Contains(due, p.Name) }
	if slices.ContainsFunc(judged, silent) {
		judged = slices.DeleteFunc(slices.Clone(judged), silent)
	}
	return contest{judged, d.asked.sides}
}

// Contestants returns the participants whom a verdict is about: all but the chair. One who has left is judged by what it said
// before, or omitted if it said nothing.
func (d *Debate) Contestants() []Participant {
	if len(d.Dropped()) == 0 && (d.format == nil || d.format.Chair == "") {
		return d.config.Participants
	}
	var out []Participant
	for _, p := range d.config.Participants {
		spoke := func(t *flow.Turn) bool { return t.Speaker == p.Name && t.Kind != KindAside }
		if (d.format == nil || d.format.Judged(p.Side)) && (!d.IsDropped(p.Name) || slices.ContainsFunc(d.Turns, spoke)) {
			out = append(out, p)
		}
	}
	return out
}

// names returns the names of those who are judged.
func (c contest) names() []string { return namesOf(c.judged) }

// parties returns those who can win. A side of which nobody is judged cannot.
func (c contest) parties() []string {
	if c.sides == nil {
		return c.names()
	}
	out := make([]string, 0, len(c.sides))
	for _, side := range c.sides {
		if countSide(c.judged, side) > 0 {
			out = append(out, string(side))
		}
	}
	return out
}

// shown returns the people of a contest and its parties as a judge reads them. People stand in the judge's order, and under labels
// if judges read those. Sides stand in the order of the words, which are rendered once.
func (d *Debate) shown(judge string, swapped bool, c contest) (people, parties []string) {
	seats := d.shownTo(judge, swapped)
	people = make([]string, 0, len(seats))
	for _, seat := range seats {
		p := &d.config.Participants[seat]
		if !has(c.judged, p.Name) {
			continue
		}
		name := p.Name
		if d.config.Judging.Anonymous {
			name = d.Hide(name)
		}
		people = append(people, name)
	}
	if c.sides == nil {
		return people, people
	}
	return people, c.parties()
}

// of returns the party that a verdict names. Where sides win, a participant's name stands for its side. "": nobody.
func (c contest) of(w *Winner) string {
	switch {
	case w == nil:
		return ""
	case c.sides == nil:
		return w.Participant
	case w.Side != "":
		return string(w.Side)
	}
	for i := range c.judged {
		if c.judged[i].Name == w.Participant {
			return string(c.judged[i].Side)
		}
	}
	return ""
}

// means returns scores by party. A side has the mean of those of its speakers.
func (c contest) means(scores map[string]float64) map[string]float64 {
	if c.sides == nil {
		return scores
	}
	sums, count := make(map[string]float64), make(map[string]int)
	for i := range c.judged {
		if score, ok := scores[c.judged[i].Name]; ok {
			side := string(c.judged[i].Side)
			sums[side] += score
			count[side]++
		}
	}
	for side := range sums {
		sums[side] /= float64(count[side])
	}
	return sums
}

// byScore returns parties by falling score, and those with the same score by name.
func byScore(scores map[string]float64) []string {
	parties := slices.Sorted(maps.Keys(scores))
	slices.SortStableFunc(parties, func(a, b string) int {
		switch {
		case scores[a] > scores[b]:
			return -1
		case scores[a] < scores[b]:
			return 1
		default:
			return 0
		}
	})
	return parties
}

// ahead returns the party with the highest score, and by how much it is above the next one: without limit if there is no other.
func ahead(scores map[string]float64) (party string, by float64) {
	parties := byScore(scores)
	switch len(parties) {
	case 0:
		return "", 0
	case 1:
		return parties[0], math.Inf(1)
	default:
		return parties[0], scores[parties[0]] - scores[parties[1]]
	}
}

// called names a party in a sentence.
func (c contest) called(party string) string {
	if c.sides == nil {
		return party
	}
	return "the side " + party
}
