package budget_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Where little is left, calls are made one after the other, and the caps on their replies are lowered. A reply that ends at such a cap is
// said to be cut by the budget.
func TestWhatTheBudgetHasCutIsSaid(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds, config.Mode, config.Judging = format.FreeForm, 2, debate.Simultaneous, nil
	engine, p := stage.Engine(config)
	engine.Store, p.Vouch = &store.Memory{}, true
	engine.Models["test/gpt-4.1"] = engine.Models["test/debater"]
	for i := range config.Participants {
		config.Participants[i].Model = "test/gpt-4.1" // whose tokens are counted
	}
	p.Reply = func(req *provider.Request) scripted.Reply {
		said := 6000 // tokens: more than the cap
		if strings.Contains(stage.CallOf(req), "r1.") {
			said = 500
		}
		r := scripted.Reply{Text: strings.Repeat("So. ", min(said, req.MaxTokens)), Usage: provider.Usage{Input: 300, Output: min(said, req.MaxTokens)}}
		if said > req.MaxTokens {
			r.Stop = provider.StopLength
		}
		return r
	}
	estimate := stage.Estimated(t, engine, config)
	config.Budget = &debate.Budget{Hard: estimate.Whole * 3 / 2}
	record := stage.Run(t, engine, config)
	assert.Empty(t, record.CutShort())
	assert.Len(t, record.Turns, 4)
	lowered := map[string]*flow.Intent{}
	for _, event := range stage.Logged(t, engine, record.ID) {
		if in := body.As[flow.Intent](event); in != nil && in.Lowered > 0 {
			lowered[in.Call] = in
			assert.Equal(t, flow.DefaultMaxTokens, in.Lowered)
			assert.Less(t, in.Tokens, in.Lowered)
			assert.GreaterOrEqual(t, in.Tokens, 500, "a usual reply still fits")
		}
	}
	require.NotEmpty(t, lowered)
	var cut []string
	for _, turn := range record.Turns {
		if in := lowered[turn.Call]; in != nil && turn.Cut {
			cut = append(cut, fmt.Sprintf("the reply of %s (%s) was cut at %d tokens: the budget left no more (the cap is %d)", in.By, in.Call, in.Tokens, in.Lowered))
		}
	}
	require.NotEmpty(t, cut)
	var said []string
	for _, w := range record.Warnings {
		if w.Kind == flow.WarnCapped {
			said = append(said, w.Evidence)
		}
	}
	assert.Equal(t, cut, said)
	assert.Subset(t, stage.View(record).Outcome().Degraded, cut)
	assert.NotContains(t, strings.Join(stage.View(record).Outcome().Degraded, "\n"), "maxTokens", "it would not help")
	stored := stage.StoredRecord(t, engine, record.ID)
	assert.Equal(t, stage.Canonical(t, record), stage.Canonical(t, stored))
}

// intentsOf returns the attempts of a conversation.
func intentsOf(t *testing.T, engine *debate.Engine, id string) (all []*flow.Intent) {
	t.Helper()
	for _, event := range stage.Logged(t, engine, id) {
		if in := body.As[flow.Intent](event); in != nil {
			all = append(all, in)
		}
	}
	return all
}

// Three speak at the same time, and there is room for two usual replies. The cap of the first leaves one of them to the second, although the
// third gets none.
func TestALoweredCapLeavesUsualRepliesToAsManyAsFit(t *testing.T) {
	t.Parallel()
	const usual, most = flow.TypicalReply, 4_000
	for tokens := 500; tokens <= most; tokens += 50 {
		engine, p, config := stage.WithFlow(stage.OneState(stage.CallsOf(func(c *flow.Call) { c.View.None = true })))
		engine.Store = &store.Memory{}
		config.Participants = append(config.Participants, debate.Participant{Name: "Cy", Model: "test/debater"})
		config.MaxTokens, config.Budget = most, &debate.Budget{HardTokens: tokens}
		p.Reply = func(req *provider.Request) scripted.Reply {
			return scripted.Reply{Text: "So.", Usage: provider.Usage{Input: 1, Output: req.MaxTokens}, Stop: provider.StopLength}
		}
		session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
		require.NoError(t, err)
		record, _ := session.Wait(t.Context())
		require.NoError(t, session.Close())
		input := 0
		for _, in := range intentsOf(t, engine, record.ID) {
			input = max(input, in.Bound-in.Tokens)
			assert.GreaterOrEqual(t, in.Tokens, usual)
		}
		if input > 0 {
			assert.GreaterOrEqual(t, len(record.Turns), min(3, tokens/(input+usual)), "%d tokens", tokens)
		}
	}
}

// A cap that is lowered changes nothing else about a request: where a window is full, what it holds of the conversation stays the same. So
// a call whose usual reply fits is not refused because its window would hold more beside a lower cap.
func TestALoweredCapReadsWhatTheFullOneReads(t *testing.T) {
	t.Parallel()
	const used, usual = 1_100, 250 // of each call, and of a reply
	play := func(tokens int) (inputs []int, lowered int) {
		config := stage.TwoDebaters()
		config.Format, config.Rounds, config.Judging, config.Context = format.FreeForm, 8, nil, flow.ContextTruncate
		config.MaxTokens, config.Reserve = 900, 100
		engine, p := stage.Engine(config)
		engine.Store = &store.Memory{}
		row := engine.Models["test/debater"]
		row.Window = 3_000
		engine.Models["test/debater"] = row
		if tokens > 0 {
			config.Budget = &debate.Budget{HardTokens: tokens}
		}
		p.Reply = func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: words(200), Usage: provider.Usage{Input: used - 200, Output: 200}}
		}
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		record, _ := session.Wait(t.Context())
		require.NoError(t, session.Close())
		for _, in := range intentsOf(t, engine, record.ID) {
			inputs = append(inputs, in.Bound-in.Tokens)
			lowered += min(1, in.Lowered)
		}
		return inputs, lowered
	}
	free, _ := play(0)
	require.Len(t, free, 16)
	all := 0
	for tokens := 16_000; tokens < 26_000; tokens += longform.Sized(250, 250, 750) {
		inputs, lowered := play(tokens)
		all += lowered
		n := len(inputs)
		assert.Equal(t, free[:n], inputs, "%d tokens", tokens)
		if n < len(free) {
			assert.Less(t, tokens, n*used+free[n]+usual, "the next call did not fit")
		}
	}
	assert.Positive(t, all)
}

// A soft limit of money is compared with what is spent, and not with what the calls could use: at the cost of a whole debate it cuts
// nothing, and right below what the rounds cost it ends them behind the call that passes it.
func TestASoftLimitIsComparedWithWhatIsSpent(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	whole := stage.Run(t, engine, config)
	config.Budget = &debate.Budget{Soft: whole.Spent().Cost}
	assert.Empty(t, stage.Run(t, engine, config).CutShort())
	assert.NotEqual(t, whole.SpentInRound(3).Cost, debate.Money(0))
	config.Budget.Soft = whole.SpentInRound(1).Cost + whole.SpentInRound(2).Cost + 1
	cut := stage.Run(t, engine, config)
	assert.Len(t, cut.Turns, 5)
	assert.Regexp(t, "^ended after 2 of 3 rounds by the soft limit of", cut.CutShort())
	assert.NotNil(t, stage.View(cut).Verdict)
}

// What persons are asked for is read by the conclusion. It is kept back for the longest answers, however many are asked at once.
func TestAnswersOfPersonsAreInTheReserve(t *testing.T) {
	const answer = 61_000 // bytes
	asked, ended := 0, map[flow.EndReason]int{}
	for tokens := 40_000; tokens <= 1_600_000; tokens += 20_000 {
		f := stage.OneState(stage.CallsOf(func(c *flow.Call) { c.Performer = flow.ByPerson }))
		f.Steps[flow.StateCompleting] = flow.Step{Calls: func(r *debate.Record) []*flow.Call {
			if r.Done("end") {
				return nil
			}
			return []*flow.Call{{ID: "end", Kind: "end", By: "judge", Model: "test/debater", Needed: true}}
		}}
		engine, _, config := stage.WithFlow(f)
		engine.Store = &store.Memory{}
		config.Unattended, config.MaxTokens = false, 16_000
		for i := range 6 {
			config.Participants = append(config.Participants, debate.Participant{Name: fmt.Sprintf("P%d", i), Model: "test/debater"})
		}
		config.Budget = &debate.Budget{HardTokens: tokens, SoftTokens: tokens - 1}
		session, err := engine.Start(t.Context(), stage.InFlow(engine, config))
		require.NoError(t, err)
		var record *debate.Record
		for {
			record, err = session.Wait(t.Context())
			if len(record.Inquiries) == 0 {
				break
			}
			asked++
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Text: strings.Repeat("a", answer)}))
		}
		require.NoError(t, err, "%d tokens", tokens)
		assert.True(t, record.Done("end"), "%d tokens", tokens)
		ended[record.Reason]++
		require.NoError(t, session.Close())
	}
	assert.Positive(t, ended[flow.EndSoftLimit])
	assert.Greater(t, len(ended), 1, "%v", ended)
	assert.Greater(t, asked, 8)
}
