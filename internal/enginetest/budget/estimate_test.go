package budget_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Nothing that is said, however long, and nothing that a vendor reports or keeps to itself, makes a debate
// without failures use more than its estimate.
func TestNoDebateUsesMoreThanItsEstimate(t *testing.T) {
	t.Parallel()
	counted := 0
	for seed := range uint64(300 / longform.Fewer()) {
		s := newSpree(seed)
		dice := rand.New(rand.NewPCG(seed, 8))
		if dice.IntN(3) == 0 {
			s.crowded()
		}
		formats := format.Builtin()
		for _, i := range dice.Perm(len(formats)) {
			s.config.Format = formats[i].Name
			if s.engine.Validate(t.Context(), s.config) == nil {
				break
			}
		}
		if dice.IntN(3) == 0 { // windows that hold a part of it
			for _, name := range []string{"test/cheap", "test/dear"} {
				row := s.engine.Models[name]
				row.Window = 20_000 + dice.IntN(20_000)
				s.engine = &debate.Engine{Store: s.engine.Store, Providers: s.engine.Providers, Models: map[string]debate.Model{
					"test/cheap": s.engine.Models["test/cheap"], "test/dear": s.engine.Models["test/dear"],
				}}
				s.engine.Models[name] = row
			}
		}
		estimate := stage.Estimated(t, s.engine, s.config)
		out, ok := s.play(t)
		require.True(t, ok)
		name := fmt.Sprintf("seed %d: %s, %s, %d rounds, silent %t, anonymous %t, assigned %t", seed,
			s.config.Format, s.config.Mode, s.config.Rounds, s.silent, s.config.Judging.Anonymous, s.config.AssignPositions != nil)
		require.NoError(t, out.err, name)
		if len(out.record.Rejections) > 0 || len(out.record.Answers) > 0 {
			continue // what is asked again comes on top
		}
		counted++
		spent := out.record.Spent()
		require.LessOrEqual(t, spent.Cost, estimate.Cost, name)
		require.LessOrEqual(t, spent.Requests, estimate.Calls, name)
		require.LessOrEqual(t, out.most.tokens, estimate.Tokens, name)
		for _, a := range out.record.SpentByModel() {
			for _, most := range estimate.Models {
				if most.Name == a.Name {
					require.LessOrEqual(t, a.Cost, most.Cost, name)
					require.LessOrEqual(t, a.Requests, most.Requests, name)
				}
			}
		}
	}
	assert.Greater(t, counted, 200/longform.Fewer())
}

// What a judge is shown without names may be longer than what was said.
func TestAnEstimateHoldsForAJudgeWhoKnowsNoNames(t *testing.T) {
	d := stage.NewTalk(2, 0)
	d.Config.MaxTokens, d.Config.Judging.Anonymous = 2000, true
	d.Config.Participants[0].Name, d.Config.Participants[1].Name = "A", "B"
	d.Provider.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return scripted.Reply{Text: strings.Repeat("A B ", 4000)}
		}
		return scripted.Reply{Text: stage.Verdict([]string{"Speaker A", "Speaker B"})}
	}
	estimate := stage.Estimated(t, d.Engine, d.Config)
	record := stage.Run(t, d.Engine, d.Config)
	assert.Empty(t, record.Rejections)
	assert.LessOrEqual(t, record.Spent().Cost, estimate.Cost)
}

// A text of few tokens may have many bytes, and bytes are what is charged where a vendor reports nothing.
func TestAnEstimateHoldsForBytesInANarrowWindow(t *testing.T) {
	d := stage.NewTalk(20, 6000)
	d.Provider.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil {
			return scripted.Reply{Text: strings.Repeat("x"+strings.Repeat(" ", 79), stage.ReplyTokens/10)}
		}
		return scripted.Reply{Text: stage.Verdict([]string{"Ada", "Ben"})}
	}
	estimate := stage.Estimated(t, d.Engine, d.Config)
	record := stage.Run(t, d.Engine, d.Config)
	assert.LessOrEqual(t, record.Spent().Cost, estimate.Cost)
}

// Positions that a model finds are written into the prompts of all others.
func TestAnEstimateHoldsForPositionsThatAreFound(t *testing.T) {
	d := stage.NewTalk(1, 0)
	d.Config.MaxTokens, d.Config.AssignPositions = 3000, &debate.AssignPositions{Model: "test/judge"}
	d.Said = func(*provider.Request) int { return 5000 }
	reply := d.Provider.Reply
	d.Provider.Reply = func(req *provider.Request) scripted.Reply {
		if req.Schema == nil || req.Schema.Name != "assign" {
			return reply(req)
		}
		var positions []map[string]any
		for _, word := range []string{"ban ", "price "} {
			positions = append(positions, map[string]any{
				"position": strings.Repeat(word, 300), "persona": strings.Repeat(word, 300), "keyArguments": slices.Repeat([]string{strings.Repeat(word, 100)}, 15),
			})
		}
		return scripted.Reply{Text: stage.Placed(req, stage.JSON(map[string]any{"positions": positions, "reasoning": "They differ."}))}
	}
	for i := range d.Config.Participants {
		d.Config.Participants[i].Position = ""
	}
	estimate := stage.Estimated(t, d.Engine, d.Config)
	record := stage.Run(t, d.Engine, d.Config)
	require.NotNil(t, stage.View(record).Assignment)
	assert.Empty(t, record.Rejections)
	assert.LessOrEqual(t, record.Spent().Cost, estimate.Cost)
}

func TestAnEstimateCountsSummaries(t *testing.T) {
	t.Parallel()
	d := stage.NewTalk(30, 5000).Summarizes(true)
	d.Engine.Models["test/summarizer"] = debate.Model{Priced: true, Input: 50_000_000, Output: 50_000_000}
	estimate := stage.Estimated(t, d.Engine, d.Config)
	record := stage.Run(t, d.Engine, d.Config)
	require.NotEmpty(t, record.Summaries)
	assert.LessOrEqual(t, record.Spent().Requests, estimate.Calls)
	assert.LessOrEqual(t, record.Spent().Cost, estimate.Cost)
}

// terse makes prompts of few bytes: a system prompt of 45, which are the markers and twice their word of 16 digits, and a last message of one.
func terse() map[string]string {
	return map[string]string{
		"debater": `{{.Instructions}}{{template "fence" .}}`, "fence": "<<<{{.Fence}}<<<end {{.Fence}}>>>", "turn": "T",
	}
}

// Two debaters, one round, no judge, ten tokens a reply, at 1 and 2 USD for a million tokens. By hand:
//
//	Ada reads  45 (system) + 1 (last message) + 3·24 (framing)                 = 118
//	Ben reads  118 + Ada's turn: 10·8·5/4 (text) + 2·16 (fence) + 43 (label) + 3 (name) + 24 = 320
//	both write 10
//
// so that there are 458 tokens, for 438 + 2·20 millionths of a dollar.
func TestAnEstimateByHand(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Judging = format.FreeForm, 1, 10, nil
	engine, p := stage.Engine(config)
	engine.Prompts = terse()
	estimate := stage.Estimated(t, engine, config)
	assert.Zero(t, p.Calls(), "nobody is asked")
	assert.Equal(t, 2, estimate.Calls)
	assert.Equal(t, 458, estimate.Tokens)
	assert.Equal(t, (438+2*20)*debate.USD/1_000_000, estimate.Cost)
	assert.Equal(t, estimate.Cost, estimate.FirstRound)
	assert.Equal(t, []flow.Account{{
		Name: "test/debater", Usage: provider.Usage{Input: 438, Output: 20}, Cost: estimate.Cost, Requests: 2,
	}}, estimate.Models)

	// And it can come to that, but for the label, which is 24 bytes shorter than the longest: a vendor that reports nothing, and replies as
	// long as they may be.
	engine, p = stage.Engine(config)
	engine.Prompts = terse()
	engine.Providers["test"] = stage.ProviderFunc(func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
		return &provider.Response{Text: strings.Repeat("</s>", 20), Stop: provider.StopEnd}, nil
	})
	record := stage.Run(t, engine, config)
	assert.Zero(t, record.Spent().Cost)
	assert.Equal(t, flow.Unsettled{AtMost: (438 - 24 + 2*20) * debate.USD / 1_000_000, Unreported: 2}, record.Spent().Unsettled)
	assert.Zero(t, p.Calls())
}

func TestAnEstimateGrowsWithTheRounds(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		s := newSpree(seed)
		if seed%3 == 0 {
			s.crowded()
		}
		var last flow.Estimate
		for rounds := 1; rounds <= 8; rounds++ {
			s.config.Rounds = rounds
			estimate := stage.Estimated(t, s.engine, s.config)
			require.Greater(t, estimate.Cost, last.Cost, "seed %d, %d rounds", seed, rounds)
			require.Greater(t, estimate.Tokens, last.Tokens)
			require.Greater(t, estimate.Calls, last.Calls)
			var models debate.Money
			requests := 0
			for _, a := range estimate.Models {
				models += a.Cost
				requests += a.Requests
			}
			require.Equal(t, estimate.Cost, models)
			require.Equal(t, estimate.Calls, requests)
			last = estimate
		}
	}
}

func TestTheFirstRoundIsADebateOfOne(t *testing.T) {
	for seed := range uint64(40) {
		s := newSpree(seed)
		s.config.Format = format.FreeForm
		if seed%3 == 0 {
			s.crowded()
		}
		s.config.Rounds = 1
		one := stage.Estimated(t, s.engine, s.config)
		assert.Equal(t, one.Cost, one.FirstRound)
		s.config.Rounds = 9
		many := stage.Estimated(t, s.engine, s.config)
		assert.InEpsilon(t, float64(one.Cost), float64(many.FirstRound), 0.04, "seed %d", seed) // the prompts of one round speak of no other
	}
}

// Fallbacks may be asked in a model's place, so the dearest counts.
func TestAnEstimateIsOfTheDearestFallback(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	plain := stage.Estimated(t, engine, config)
	config.Participants[0].Fallbacks = []string{"test/judge"}
	dear := stage.Estimated(t, engine, config)
	assert.Greater(t, dear.Cost, plain.Cost)
	assert.Equal(t, plain.Calls, dear.Calls)
}

// Who is no model costs nothing, but is a call.
func TestAnEstimateOfPeopleAndJudgesFromOutside(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	config.Judging = nil
	none := stage.Estimated(t, engine, config)
	config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Person: true}}}
	person := stage.Estimated(t, engine, config)
	assert.Equal(t, none.Cost, person.Cost)
	assert.Equal(t, none.Tokens, person.Tokens)
	assert.Equal(t, none.Calls, person.Calls, "what a person does is no call")
}

func TestEstimatesThatCannotBeMade(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	formatless := config
	formatless.Format = "unknown"
	for field, wrong := range map[string]flow.Config{"flow": flow.Named("unknown", config), "format": formatless} {
		_, err := engine.Estimate(t.Context(), wrong)
		require.ErrorIs(t, err, &debate.Error{Kind: provider.KindValidation}, field)
		var failure *debate.Error
		require.ErrorAs(t, err, &failure)
		assert.Equal(t, field, failure.Field)
	}
	// What Validate refuses must not break it.
	for name, wrong := range map[string]debate.Config{
		"nothing":         {},
		"nobody":          {Topic: "T"},
		"empty judging":   {Judging: &debate.Judging{}},
		"no such model":   {Participants: []debate.Participant{{Name: "A", Model: "x"}, {Name: "B"}}},
		"negative":        {Rounds: -3, MaxTokens: -1, Participants: config.Participants},
		"no such judge":   {Participants: config.Participants, Judging: &debate.Judging{Judges: []debate.JudgeConfig{{Judge: "x"}}}},
		"empty audience":  {Participants: config.Participants, Audience: &debate.Audience{}},
		"assigned by who": {Participants: config.Participants, AssignPositions: &debate.AssignPositions{}},
		"huge":            {Participants: config.Participants, MaxTokens: 1 << 60, Rounds: 3},
	} {
		assert.NotPanics(t, func() {
			estimate, err := engine.Estimate(t.Context(), wrong)
			if err == nil {
				assert.GreaterOrEqual(t, estimate.Cost, debate.Money(0), name)
				assert.GreaterOrEqual(t, estimate.Tokens, 0, name)
			}
		}, name)
	}
}

// Thoughts are output: the estimate of each model holds at least the most output tokens that its requests may ask for.
func TestAnEstimateCountsThoughtsAsOutput(t *testing.T) {
	for name, tc := range map[string]struct {
		effort provider.Effort
		fall   bool
	}{
		"none asked for": {}, "low": {effort: provider.EffortLow}, "max": {effort: provider.EffortMax}, "of a fallback": {fall: true},
	} {
		t.Run(name, func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds, config.Judging = 1, nil
			for i := range config.Participants {
				if tc.effort != "" {
					config.Participants[i].Options = &provider.Options{Effort: tc.effort}
				}
				if tc.fall {
					config.Participants[i].Fallbacks = []string{"test/thinker"}
				}
			}
			engine, source := stage.Engine(config)
			thinker := debate.Model{Window: 1_000_000, MaxOutput: 100_000, Reasoning: true, Priced: true, Input: 1, Output: 2}
			engine.Models["test/thinker"] = thinker
			if !tc.fall {
				engine.Models["test/debater"] = thinker
			}
			estimate := stage.Estimated(t, engine, config)
			stage.Run(t, engine, config)
			output := 0
			for _, req := range source.Requests() {
				output += req.MaxTokens
			}
			if tc.fall {
				output += 2 * 8192
			}
			assert.Equal(t, output, estimate.Models[0].Usage.Output)
			assert.Equal(t, estimate.Tokens, estimate.Models[0].Usage.Input+output)
		})
	}
}

func ExampleEngine_Estimate() {
	engine := &debate.Engine{Models: map[string]debate.Model{
		"openai/gpt-x": {Priced: true, Input: 1_000_000, Output: 4_000_000}, // 1 and 4 USD for a million tokens
	}}
	config := debate.Config{
		Topic: "Should cities ban cars from their centres?", Rounds: 2, MaxTokens: 500,
		Participants: []debate.Participant{{Name: "Ada", Model: "openai/gpt-x"}, {Name: "Ben", Model: "openai/gpt-x"}},
		Judging:      &debate.Judging{Judges: []debate.JudgeConfig{{Model: "openai/gpt-x"}}},
	}
	estimate, err := engine.Estimate(context.Background(), config)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(estimate.Calls, "calls:", estimate.Cost < debate.USD/2, estimate.FirstRound < estimate.Cost)
	// Output: 7 calls: true true
}
