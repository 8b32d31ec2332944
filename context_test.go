package debate_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/context/token"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// narrowEngine is an engine whose debaters have a small window and speak at length.
func narrowEngine(config debate.Config, tokens int) (*debate.Engine, *scripted.Provider) {
	engine, p := engineFor(config)
	engine.Models["test/debater"] = debate.Model{Priced: true, Input: 1_000_000, Output: 2_000_000, Context: tokens}
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if req.Schema == nil {
			r.Text += strings.Repeat(" Prices are a gentler tool than bans, and they raise money for trams.", 20)
		}
		return r
	}
	return engine, p
}

func TestALongDebateIsCutToTheWindow(t *testing.T) {
	config := twoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve = debate.RoundLimited, 24, 500, 500
	engine, p := narrowEngine(config, 8000)
	record := run(t, engine, config)

	require.Len(t, record.Warnings, 1)
	assert.Equal(t, debate.WarnShort, record.Warnings[0].Kind)
	assert.Positive(t, record.Warnings[0].Left)
	shortest, moves, last := 1<<30, 0, map[string]string{}
	for _, req := range p.Requests() {
		if req.Schema != nil {
			continue
		}
		tokens := 0
		for _, text := range req.Chat() {
			tokens += token.ForModel("debater").Count(text)
		}
		assert.LessOrEqual(t, tokens+500, 8000, "%s fits", req.ID)
		if len(req.Messages) > 0 {
			first := req.Messages[0].Text
			if before, ok := last[req.Self]; ok && before != first {
				moves++
			}
			last[req.Self] = first
		}
		shortest = min(shortest, len(req.Messages))
	}
	assert.Positive(t, moves)
	assert.Less(t, moves, 14, "the beginning stays put between cuts, so that caches hit")
	for _, req := range p.Requests() {
		if req.Schema != nil && req.Schema.Name == "verdict" {
			assert.Len(t, req.Messages, 48, "the judge's window holds everything")
		}
	}
}

func TestWhatDoesNotFitAtAllIsAnErrorThatNamesIt(t *testing.T) {
	config := twoDebaters()
	config.MaxTokens, config.Reserve = 200, 200
	for name, tc := range map[string]struct {
		tokens int
		want   string
	}{
		"the prompt":  {500, "the prompt alone does not fit the window of 500 tokens"},
		"one message": {1600, "the turn of Ada in round 1 alone does not fit the window of 1600 tokens"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, p := narrowEngine(config, tc.tokens)
			reply := p.Reply
			p.Reply = func(req *provider.Request) scripted.Reply {
				r := reply(req)
				r.Text = strings.Repeat(r.Text, 4)
				return r
			}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			defer session.Close()
			record, err := session.Wait(t.Context())
			require.ErrorIs(t, err, &debate.Error{Kind: debate.KindContextOverflow}, "%v", err)
			assert.ErrorContains(t, err, tc.want)
			assert.Equal(t, debate.StateError, record.State)
		})
	}
}

// unread makes a flow whose speakers read nothing of what was said.
func unread() *debate.Flow {
	flow := debate.DebateFlow()
	flow.Name = "unread"
	step := flow.Steps[debate.StateAwaitingResponses]
	calls := step.Calls
	step.Calls = func(r *debate.Record) []debate.Call {
		all := calls(r)
		for i := range all {
			all[i].View.None = true
		}
		return all
	}
	flow.Steps[debate.StateAwaitingResponses] = step
	return flow
}

func TestWhoReadsNothingNeedsNoRoomForIt(t *testing.T) {
	config := twoDebaters()
	config.Format, config.Rounds, config.MaxTokens, config.Reserve, config.Flow = debate.RoundLimited, 12, 500, 500, "unread"
	engine, p := narrowEngine(config, 2500)
	engine.Flows = map[string]*debate.Flow{"unread": unread()}
	record := run(t, engine, config)
	assert.Len(t, record.Turns, 24)
	assert.Empty(t, record.Warnings)
	for _, req := range p.Requests() {
		if req.Schema == nil {
			assert.Empty(t, req.Messages)
		}
	}
}

func TestTheModelCapsTheOutput(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	model := engine.Models["test/debater"]
	model.MaxOutput = 1000
	engine.Models["test/debater"] = model
	config.Participants[1].MaxTokens = 300
	run(t, engine, config)
	requests := p.Requests()
	assert.Equal(t, 1000, requests[0].MaxTokens)
	assert.Equal(t, 300, requests[1].MaxTokens)
	assert.Equal(t, 4096, requests[2].MaxTokens)
}

// firstAndLast keeps the first message and the newest.
type firstAndLast struct{}

func (firstAndLast) Plan(p window.Problem) window.Plan {
	n := p.Len()
	if n < 3 {
		return window.Plan{Fits: true, TooBig: -1}
	}
	return window.Plan{Head: 1, From: n - 1, Fits: true, TooBig: -1}
}

func TestAHostsOwnContextManager(t *testing.T) {
	config := twoDebaters()
	config.Context = "ends"
	config.Participants[0].Model = "test/small"
	engine, p := engineFor(config)
	engine.Contexts = map[string]debate.ContextManager{"ends": firstAndLast{}}
	engine.Models["test/small"] = debate.Model{Context: 5000}
	run(t, engine, config)
	for _, req := range p.Requests() {
		if strings.HasSuffix(req.ID, "r3.closing.Ada/1") {
			require.Len(t, req.Messages, 2)
			assert.Equal(t, "Ada", req.Messages[0].Speaker)
			assert.Equal(t, speech("Ben", 2), req.Messages[1].Text)
			return
		}
	}
	t.Fatal("Ada did not close")
}

func TestPromptsAreTheHostsToReplace(t *testing.T) {
	config := twoDebaters()
	engine, p := engineFor(config)
	engine.Prompts = map[string]string{"turn": "Speak, it is round {{.Round}} of {{.Rounds}}."}
	run(t, engine, config)
	assert.Equal(t, "Speak, it is round 1 of 3.", p.Requests()[0].Last.Text)

	broken := &debate.Engine{Prompts: map[string]string{"turn": "{{.Nothing}}", "unknown": "x"}}
	err := broken.Validate(t.Context(), config)
	require.ErrorContains(t, err, "Prompts")
	assert.ErrorContains(t, err, "unknown")
}
