package simulation_test

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// chance holds once in so many times.
func chance(dice *rand.Rand, n int) bool { return dice.IntN(n) == 0 }

// oneOf draws one of several.
func oneOf[T any](dice *rand.Rand, all ...T) T { return all[dice.IntN(len(all))] }

// simNames are names that stand in no prompt of the library's own, so that a judge who must not know
// them can be searched for them.
func simNames() []string {
	return []string{"Quorra", "Vexley", "Çem & Co", "Tamsin", "Ødger", "Ilmar"}
}

// casting is what a drawn debate is drawn from.
type casting struct {
	dice   *rand.Rand
	models []string // those that participants, judges and the audience may have
	spare  []string // fallbacks
	people bool     // judges and the audience may be people
}

// drawCast draws the format and those who take part.
func (s *casting) drawCast(c *debate.Config) {
	formats := format.Builtin()
	if chance(s.dice, 2) {
		s.ownFormat(c)
		return
	}
	f := &formats[s.dice.IntN(len(formats))]
	c.Format, c.Rounds = f.Name, f.Rounds
	if f.Rounds == 0 {
		c.Rounds = 1 + s.dice.IntN(3)
	}
	var sides []debate.Side
	for _, seats := range f.Seats {
		n := seats.Min
		if n < 2 && (seats.Max == 0 || seats.Max > n) {
			n++
		}
		for range n {
			sides = append(sides, seats.Side)
		}
	}
	for len(sides) < max(2, f.MinParticipants) || len(f.Seats) == 0 && len(sides) < 6 && !chance(s.dice, 3) {
		sides = append(sides, oneOf(s.dice, debate.For, debate.Against, ""))
	}
	if f.Decide == format.BySwing {
		s.drawAudience(c)
	}
	s.drawParticipants(c, sides)
}

func (s *casting) drawParticipants(c *debate.Config, sides []debate.Side) {
	for i, side := range sides {
		p := debate.Participant{Name: simNames()[i], Side: side, Model: oneOf(s.dice, s.models...)}
		if chance(s.dice, 3) {
			p.Fallbacks = []string{oneOf(s.dice, s.spare...)}
		}
		if c.AssignPositions == nil || chance(s.dice, 2) {
			p.Position = fmt.Sprintf("Position %c of its own kind.", 'A'+i)
		}
		c.Participants = append(c.Participants, p)
	}
}

// ownFormat draws a format that nobody would think of.
func (s *casting) ownFormat(c *debate.Config) {
	dice := s.dice
	f := &debate.Format{
		Name: "drawn", Guidance: "Whatever comes.", MaxParticipants: 6, End: oneOf(dice, format.EndByJudge, format.EndByRounds, format.EndByConvergence),
		Decide: oneOf(dice, "", format.ByJudges, format.NoWinner),
	}
	sides := []debate.Side{debate.For, debate.Against}
	for len(sides) < 6 && !chance(dice, 3) {
		sides = append(sides, oneOf(dice, debate.For, debate.Against))
	}
	if chance(dice, 3) {
		f.Chair = debate.Neutral
		sides = slices.Insert(sides, dice.IntN(len(sides)), debate.Neutral)[:min(6, len(sides)+1)]
	}
	if chance(dice, 4) {
		s.drawAudience(c)
		f.Decide = oneOf(dice, f.Decide, format.BySwing)
	}
	s.drawParticipants(c, sides)
	f.Reads.Graph = oneOf(dice, "", format.AllRead, format.Ring, format.SideGroups, format.GivenEdges)
	if f.Reads.Graph == format.GivenEdges {
		f.Reads.Edges = make(map[string][]string)
		for i := range c.Participants {
			for k := range c.Participants {
				if i != k && chance(dice, 3) {
					f.Reads.Edges[c.Participants[i].Name] = append(f.Reads.Edges[c.Participants[i].Name], c.Participants[k].Name)
				}
			}
		}
		if len(f.Reads.Edges) == 0 {
			f.Reads.Edges[c.Participants[0].Name] = []string{c.Participants[1].Name}
		}
	}
	f.Phases = []format.Phase{{Name: "opening", First: 1, Last: 1}, {Name: "clash", First: 2, Last: -1}}
	if chance(dice, 3) {
		f.Phases = slices.Insert(f.Phases, 0, format.Phase{Name: "closing", First: -1, Last: -1})
	}
	for i := range f.Phases {
		f.Phases[i].Back = oneOf(dice, 0, 0, 1)
		if chance(dice, 3) {
			continue // everybody, once
		}
		for range 1 + dice.IntN(3) {
			f.Phases[i].Slots = append(f.Phases[i].Slots, s.drawSlot(c))
		}
		f.Phases[i].Slots = slices.Insert(f.Phases[i].Slots, dice.IntN(len(f.Phases[i].Slots)+1), format.Slot{Who: oneOf[format.Who](dice, "for:1", "against:1"), Group: dice.IntN(2)})
	}
	for _, d := range []format.Detector{format.DetectRepetition, format.DetectDiminishing, format.DetectDrift} {
		switch dice.IntN(6) {
		case 0:
			f.Watch = append(f.Watch, d)
		case 1:
			f.StopOn = append(f.StopOn, d)
		default:
		}
	}
	c.Format, c.CustomFormat, c.Rounds = "", f, 1+dice.IntN(3)
}

func (s *casting) drawSlot(c *debate.Config) format.Slot {
	dice := s.dice
	slot := format.Slot{Who: oneOf(dice, format.Everyone, format.BothSides, "for", "against:1", "for:1", "name:"+format.Who(c.Participants[0].Name), format.TheChair)}
	if c.Audience != nil && chance(dice, 3) {
		slot.Who, slot.Kind = "audience:1", format.KindQuestion
	}
	switch dice.IntN(4) {
	case 0:
		slot.Words, slot.MaxTokens = 20, 40+dice.IntN(40)
	case 1:
		slot.Minutes = 0.5
	default:
	}
	switch dice.IntN(4) {
	case 0: // few are asked: a round is not to have dozens of turns
		slot.Who, slot.To = oneOf[format.Who](dice, "for:1", "against:1"), oneOf[format.Who](dice, format.Others, "against", "name:"+format.Who(c.Participants[1].Name), format.TheChair)
		if chance(dice, 2) {
			slot.Exchanges = 1 + dice.IntN(2)
			return slot
		}
	default:
	}
	slot.Group = dice.IntN(3)
	return slot
}

// drawJudging draws nobody, one judge or a panel.
func (s *casting) drawJudging(c *debate.Config, most int) {
	dice := s.dice
	n := dice.IntN(most + 1)
	if n == 0 {
		return
	}
	j := &debate.Judging{
		Quorum: dice.IntN(n + 1), When: oneOf(dice, "", debate.EveryRound, debate.AtEnd), BothOrders: chance(dice, 4),
		Protocol:  oneOf(dice, "", debate.Majority, debate.Plurality, debate.Supermajority, debate.Unanimity, debate.Borda),
		Anonymous: chance(dice, 3), AllowSameFamily: chance(dice, 2),
	}
	switch dice.IntN(4) {
	case 0:
		j.Rubric = debate.DefaultRubric()
	case 1:
		j.Criteria = []string{"candour", "thrift"}
	default:
	}
	for range n {
		judge := debate.JudgeConfig{Model: oneOf(dice, s.models...)}
		switch dice.IntN(6) {
		case 0:
			judge = debate.JudgeConfig{Judge: "jury"}
		case 1:
			if s.people {
				judge = debate.JudgeConfig{Person: true}
			}
		case 2, 3:
			judge.Fallbacks = []string{oneOf(dice, s.spare...)}
		default:
		}
		j.Judges = append(j.Judges, judge)
	}
	c.Judging = j
}

func (s *casting) drawAudience(c *debate.Config) {
	c.Audience = &debate.Audience{}
	for range 1 + s.dice.IntN(3) {
		m := debate.Member{Model: oneOf(s.dice, s.models...)}
		switch s.dice.IntN(6) {
		case 0:
			m = debate.Member{Judge: "jury"}
		case 1:
			if s.people {
				m = debate.Member{Person: true}
			}
		default:
		}
		c.Audience.Members = append(c.Audience.Members, m)
	}
}

// drawExtras adds what a debate may have beside its cast, and now and then takes another one for it: all that
// changes nothing about who answers what.
func (s *casting) drawExtras(c *debate.Config) {
	dice := s.dice
	if chance(dice, 8) {
		c.AssignPositions = &debate.AssignPositions{Model: "test/large", Fallbacks: []string{"spare/large-b"}}
	}
	if chance(dice, 4) {
		c.Participants, c.Audience = nil, nil
		s.ownFormat(c)
		if c.Audience != nil {
			c.Audience.Members = []debate.Member{{Model: "test/large"}, {Model: "test/large"}}
		}
	}
	if s.models[0] == "test/small" && !chance(dice, 3) {
		c.Summarizer, c.AutoSummary = "test/large", chance(dice, 2)
		c.Context = oneOf(dice, "", flow.ContextSummarize)
	}
	j := c.Judging
	if j == nil {
		return
	}
	j.Anonymous = chance(dice, 3)
	j.Protocol = oneOf(dice, "", debate.Plurality, debate.Supermajority, debate.Unanimity, debate.Borda)
	if chance(dice, 4) {
		j.Rubric = debate.DefaultRubric()
	}
	if len(j.Judges) == 1 && chance(dice, 8) {
		j.Judges[0] = debate.JudgeConfig{Person: true}
	}
}
