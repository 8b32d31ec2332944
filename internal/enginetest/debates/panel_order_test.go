package debates_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/vote"
)

// listed yields the names in the order in which a text first quotes them.
func listed(text string, names ...string) []string {
	places := map[string]int{}
	for _, name := range names {
		if at := strings.Index(text, strconv.Quote(name)); at >= 0 {
			places[name] = at
		}
	}
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := places[name]; return !ok })
	slices.SortFunc(names, func(a, b string) int { return places[a] - places[b] })
	return names
}

func reversed(names []string) []string {
	names = slices.Clone(names)
	slices.Reverse(names)
	return names
}

func TestTheSecondVerdictIsAskedInTheOtherOrder(t *testing.T) {
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			three := stage.Scored("Ada", 90, 80, 70)
			c := stage.NewCourt(three, three)
			c.Config.Judging.BothOrders, c.Config.Mode, c.Config.Rounds = true, mode, 3
			record := stage.Run(t, c.Engine, c.Config)
			require.Len(t, stage.View(record).Verdicts, 4)
			for _, judge := range []string{"judge-1", "judge-2"} {
				requests := c.RequestsTo(judge)
				require.Len(t, requests, 2)
				slices.SortFunc(requests, func(a, b provider.Request) int { return len(a.ID) - len(b.ID) })
				own, swapped := requests[0], requests[1]
				require.Equal(t, "verdict."+judge, stage.CallOf(&own))
				require.Equal(t, "verdict."+judge+".swapped", stage.CallOf(&swapped))
				names := listed(own.Last.Text, "Ada", "Ben", "Cyd")
				require.Len(t, names, 3)
				assert.Equal(t, reversed(names), listed(swapped.Last.Text, "Ada", "Ben", "Cyd"))

				require.Len(t, own.Messages, 9)
				require.Len(t, swapped.Messages, 9)
				for round := range slices.Chunk(own.Messages, 3) {
					at := slices.IndexFunc(own.Messages, func(m provider.Message) bool { return m.Text == round[0].Text })
					other := slices.Clone(swapped.Messages[at : at+3])
					if mode == debate.Simultaneous {
						slices.Reverse(other)
					}
					assert.Equal(t, round, other, "who spoke at once can be told in either order, who answered another cannot")
				}
				assert.Equal(t, own.System, swapped.System, "a prompt cache hits")
			}
		})
	}
}

// A judge from outside is asked in both orders too.
func TestAJudgeFromOutsideIsAskedInBothOrders(t *testing.T) {
	c := stage.NewCourt()
	c.Config.Mode = debate.Simultaneous
	c.Config.Judging.BothOrders = true
	c.Config.Judging.Judges = []debate.JudgeConfig{{Name: "Cato", Judge: "cato"}}
	var mu sync.Mutex
	tasks := map[string]debate.JudgeTask{}
	c.Engine.Judges = map[string]debate.Judge{"cato": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		mu.Lock()
		defer mu.Unlock()
		tasks[task.Call] = task
		return json.RawMessage(stage.ForAda().Verdict("x")), nil
	})}
	stage.Run(t, c.Engine, c.Config)
	own, swapped := tasks["verdict.Cato"], tasks["verdict.Cato.swapped"]
	assert.Equal(t, reversed(listed(own.Instruction, "Ada", "Ben")), listed(swapped.Instruction, "Ada", "Ben"))
	speakersOf := func(task debate.JudgeTask) (names []string) {
		for _, turn := range task.Turns {
			names = append(names, turn.Speaker)
		}
		return names
	}
	assert.Equal(t, reversed(speakersOf(own)), speakersOf(swapped), "turns of a simultaneous round")
	peopleOf := func(task debate.JudgeTask) (names []string) {
		for i := range task.Participants {
			names = append(names, task.Participants[i].Name)
		}
		return names
	}
	assert.Equal(t, reversed(peopleOf(own)), peopleOf(swapped), "participants")
}

func TestAFlipIsATie(t *testing.T) {
	t.Run("of the only judge", func(t *testing.T) {
		c := stage.NewCourt(stage.ForAda())
		c.Config.Judging.BothOrders = true
		c.Rules["judge-1.swapped"] = stage.ForBen()
		record := stage.Run(t, c.Engine, c.Config)
		outcome := stage.View(record).Outcome()
		assert.Empty(t, outcome.Winner)
		assert.Empty(t, outcome.Side)
		assert.True(t, outcome.Tie)
		assert.Empty(t, outcome.Votes, "it votes for nobody")
		assert.Empty(t, outcome.Dissent)
		assert.Equal(t, 1, outcome.Verdicts, "it is counted")
		assert.Empty(t, outcome.Degraded)
		assert.InDeltaMapValues(t, map[string]float64{"Ada": 70, "Ben": 70}, outcome.Scores, 1e-9)
	})
	t.Run("is an abstention in a panel", func(t *testing.T) {
		for protocol, winner := range map[debate.Protocol]string{
			debate.Majority: "Ada", debate.Supermajority: "Ada", debate.Plurality: "Ada", debate.Unanimity: "",
		} {
			c := stage.NewCourt(stage.ForAda(), stage.ForBen(), stage.ForAda())
			c.Config.Judging.BothOrders, c.Config.Judging.Protocol = true, protocol
			c.Rules["judge-2.swapped"] = stage.ForAda()
			outcome := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
			assert.Equal(t, winner, outcome.Winner, protocol)
			assert.Equal(t, []vote.Count{{Name: "Ada", Votes: 2}}, outcome.Votes, protocol)
			assert.Equal(t, 3, outcome.Verdicts)
			if winner != "" {
				assert.Equal(t, []debate.Dissent{{Judge: "judge-2", Reasoning: "Because word of judge-2"}}, outcome.Dissent)
			}
		}
	})
	t.Run("from nobody to somebody", func(t *testing.T) {
		c := stage.NewCourt(stage.ForNobody())
		c.Config.Judging.BothOrders = true
		c.Rules["judge-1.swapped"] = stage.ForBen()
		assert.True(t, stage.View(stage.Run(t, c.Engine, c.Config)).Outcome().Tie)
	})
	t.Run("the same twice is a vote", func(t *testing.T) {
		c := stage.NewCourt(stage.ForBen())
		c.Config.Judging.BothOrders = true
		c.Rules["judge-1.swapped"] = stage.Scored("Ben", 50, 90)
		outcome := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
		assert.Equal(t, "Ben", outcome.Winner)
		assert.InDeltaMapValues(t, map[string]float64{"Ada": 55, "Ben": 85}, outcome.Scores, 1e-9)
	})
	t.Run("one order alone is no verdict", func(t *testing.T) {
		c := stage.NewCourt(stage.ForAda(), stage.ForAda(), stage.ForBen())
		c.Config.Judging.BothOrders, c.Config.OnFailure = true, stage.Dropping()
		delete(c.Rules, "judge-3.swapped")
		outcome := stage.View(stage.Run(t, c.Engine, c.Config)).Outcome()
		assert.Equal(t, 2, outcome.Verdicts)
		assert.Equal(t, "Ada", outcome.Winner)
		assert.Empty(t, outcome.Dissent)
		assert.Equal(t, []string{"judge-3 has judged no further", "2 of 3 judges have given a verdict"}, outcome.Degraded)
	})
}

func TestTheOrderOfParticipantsIsDrawnForEachJudge(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	three := stage.Scored("Ada", 90, 80, 70)
	seen := map[string]int{}
	differ := 0
	c := stage.NewCourt(three, three)
	c.Engine.Seed = func() string { return "seed of " + c.Config.ID }
	for i := range 200 {
		c.Config.ID = fmt.Sprintf("d%d", i)
		before := len(c.Source.Requests())
		stage.Run(t, c.Engine, c.Config)
		orders, systems := map[string]string{}, map[string]bool{}
		for _, req := range c.Source.Requests()[before:] {
			if req.Schema != nil {
				names := listed(req.Last.Text, "Ada", "Ben", "Cyd")
				require.Equal(t, names, listed(string(req.Schema.JSON), "Ada", "Ben", "Cyd"), "the schema has the order of the instruction")
				orders[req.Self] = fmt.Sprint(names)
				systems[req.System] = true
			}
		}
		require.Len(t, orders, 2)
		require.Len(t, systems, 1, "the judges of a panel share their system prompt")
		seen[orders["judge-1"]]++
		if orders["judge-1"] != orders["judge-2"] {
			differ++
		}
	}
	assert.Len(t, seen, 6, "each order of three comes up: %v", seen)
	for order, n := range seen {
		assert.Greater(t, n, 10, "%s: about 33 of 200 are expected", order)
	}
	assert.Greater(t, differ, 100, "judges are drawn for one by one: about 167 of 200 differ")
}
