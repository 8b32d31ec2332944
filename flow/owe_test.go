package flow_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A flow of a stranger that leaves out its failed calls cannot complete without them: that is nobody's decision.
func TestAFlowCannotCompleteWhileSomethingIsOwed(t *testing.T) {
	calls := func(r *debate.Record) []*flow.Call {
		var out []*flow.Call
		for _, name := range []string{"Ada", "Ben"} {
			if id := "say." + name; !r.Done(id) && !r.Failed(id) {
				out = append(out, &flow.Call{ID: id, Kind: "word", By: name, Model: stage.ModelOf(r, name), View: flow.View{None: true}})
			}
		}
		return out
	}
	for name, tc := range map[string]struct {
		fails bool
		owes  func(*flow.Record) []string
		kind  debate.Kind
		says  string
	}{
		"nothing":                  {false, nil, "", ""},
		"a call that has failed":   {true, nil, provider.KindRefusal, "the conversation cannot be completed: nobody has decided to do without this call"},
		"what the flow says":       {false, func(*flow.Record) []string { return []string{"a moral"} }, provider.KindState, "it still lacks a moral"},
		"nothing, the flow says":   {false, func(*flow.Record) []string { return nil }, "", ""},
		"a call, whatever it says": {true, func(*flow.Record) []string { return nil }, provider.KindRefusal, "nobody has decided"},
	} {
		t.Run(name, func(t *testing.T) {
			f := stage.OneState(calls)
			f.Owes = tc.owes
			engine, source, config := stage.WithFlow(f)
			source.Reply = func(req *provider.Request) scripted.Reply {
				if tc.fails && req.Self == "Ben" {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal}}
				}
				return scripted.Reply{Text: "Well."}
			}
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			record, err := session.Wait(t.Context())
			if tc.kind == "" {
				require.NoError(t, err)
				return
			}
			stage.RequireKind(t, err, tc.kind)
			require.ErrorContains(t, err, tc.says)
			assert.Equal(t, flow.StateError, record.State)

			// A person may decide to leave it at that.
			require.NoError(t, session.Stop(t.Context()))
			record = stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.Equal(t, flow.EndedByHost, record.EndedEarlyBy)
		})
	}
}

// What was left out, and who was dropped, is in the log of the program too.
func TestWhatIsLeftOutIsLogged(t *testing.T) {
	config := stage.Crew(3)
	config.OnFailure = []debate.FailureRule{{Do: flow.OptionSkip}, {Do: flow.OptionDrop}}
	engine, p := stage.Engine(config)
	stage.Abiding(p)
	stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
	var lines bytes.Buffer
	engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	record := stage.Run(t, engine, config)
	assert.Equal(t, []string{"Ben"}, record.Dropped())
	require.Len(t, record.SkippedCalls, 1)
	assert.Equal(t, 1, strings.Count(lines.String(), `msg="call left out"`))
	assert.Equal(t, 1, strings.Count(lines.String(), `msg="actor dropped"`))
	assert.Contains(t, lines.String(), "call=r2.rebuttal.Ben by=Ben kind=refusal")
	assert.NotContains(t, lines.String(), `msg="person asked"`, "rules have decided")
	assert.Equal(t, 1, strings.Count(lines.String(), "inquiry=ask.r2.rebuttal.Ben.1 rule=true option=skip"))
	assert.Regexp(t, `inquiry=ask\.r3\.\w+\.Ben\.1 rule=true option=drop`, lines.String())
}

// A person's choice is in the log of the program, behind the question.
func TestWhatAPersonDecidesIsLogged(t *testing.T) {
	config := stage.Attended()
	engine, p := stage.Engine(config)
	gone := stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
	var lines bytes.Buffer
	engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	gone.Over.Store(true)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionRetry}))
	stage.Ended(t, session)
	assert.Regexp(t, `(?s)msg="person asked".*inquiry=ask\.r2\.rebuttal\.Ben\.1\n.*msg=answered.*inquiry=ask\.r2\.rebuttal\.Ben\.1 rule=false option=retry`, lines.String())
}
