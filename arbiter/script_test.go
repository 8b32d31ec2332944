package arbiter_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// What the tests of all flows share.
var (
	toJSON = stage.JSON   // of a value that always has a JSON
	callOf = stage.CallOf // the ID of the call that a request is made for: "r1.Ada"
)

// askedOf is callOf, with a mark where an answer was rejected and is asked for again.
func askedOf(req *provider.Request) string {
	if strings.Contains(req.Last.Text, ", was refused") {
		return callOf(req) + " again"
	}
	return callOf(req)
}

// answers answer requests by what askedOf says; what has no answer is answered as usual.
type answers map[string]any

// reply answers for everybody.
func (a answers) reply(req *provider.Request) scripted.Reply {
	switch own := a[askedOf(req)].(type) {
	case nil:
		return scripted.Reply{Text: usual(req)}
	case func(*provider.Request) scripted.Reply:
		return own(req)
	case error:
		return scripted.Reply{Err: own}
	case string:
		return scripted.Reply{Text: own}
	default:
		return scripted.Reply{Text: toJSON(own)}
	}
}

// usual selects Ada, Ben and Ada again in turn, each of whom succeeds, and is then complete.
func usual(req *provider.Request) string {
	if req.Schema == nil {
		return "a text"
	}
	if req.Schema.Name == "result" {
		return toJSON(arbiter.Result{Success: true, Output: "What " + callOf(req) + " has done."})
	}
	if names := map[string]string{"d1": "Ada", "d2": "Ben", "d4": "Ada"}; names[callOf(req)] != "" {
		return toJSON(picks(names[callOf(req)]))
	}
	return toJSON(completes("All is done."))
}

func picks(names ...string) arbiter.Ruling {
	return arbiter.Ruling{Move: arbiter.MoveSelect, Agents: names, Reason: "it is their part"}
}

func completes(summary string) arbiter.Ruling {
	return arbiter.Ruling{Move: arbiter.MoveComplete, Agents: []string{}, Reason: "it is done", Summary: summary}
}

func moves(m arbiter.Move) arbiter.Ruling {
	return arbiter.Ruling{Move: m, Agents: []string{}, Reason: "so"}
}

func config() arbiter.Config {
	return arbiter.Config{
		ID: "work", Task: "Write a function.", Unattended: true,
		Arbiter: arbiter.Arbiter{Model: "test/m"},
		Agents:  []arbiter.Agent{{Name: "Ada", Description: "plans", Model: "test/m"}, {Name: "Ben", Description: "writes", Model: "test/m"}},
	}
}

func engineFor(a answers) (*debate.Engine, *scripted.Provider) {
	p := &scripted.Provider{Reply: a.reply}
	return &debate.Engine{
		Logger: slog.New(slog.DiscardHandler),
		Store:  &store.Memory{}, Providers: map[string]debate.Provider{"test": p},
		Flows: map[string]*debate.Flow{arbiter.FlowName: arbiter.Flow()},
	}, p
}

// play runs the work to its end.
func play(t *testing.T, engine *debate.Engine, c arbiter.Config) (w *arbiter.Work, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		session, failure := engine.Start(t.Context(), c)
		require.NoError(t, failure)
		var record *flow.Record
		record, err = session.WaitIdle(t.Context())
		require.NoError(t, session.Close())
		if record == nil {
			require.NoError(t, err)
		}
		var ok bool
		w, ok = arbiter.Of(record)
		require.True(t, ok)
	})
	return w, err
}

// worked runs the work to an end that is no error.
func worked(t *testing.T, engine *debate.Engine, c arbiter.Config) *arbiter.Work {
	t.Helper()
	w, err := play(t, engine, c)
	require.NoError(t, err)
	return w
}
