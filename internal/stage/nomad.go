package stage

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Nomad is a runtime that remembers nothing but what Advance returns: each of its steps could be made on another machine, and is
// made by another engine.
type Nomad struct {
	T       *testing.T
	Config  flow.Config
	Reply   func(*provider.Request) scripted.Reply
	Store   store.Store
	Same    *debate.Engine        // nil: each step has an engine of its own
	Machine func() *debate.Engine // makes that engine; nil: it is the Engine of a debate, which answers by Reply and notes what is Asked
	Asked   []string
}

// id is that of the conversation.
func (n *Nomad) id() string { return n.Config.Settings().ID }

// Core is the debate as it is stored.
func (n *Nomad) Core() *flow.Core {
	n.T.Helper()
	var log []debate.Event
	for event, err := range n.Store.Read(n.T.Context(), n.id(), 0) {
		require.NoError(n.T, err)
		log = append(log, event)
	}
	return CoreOf(n.T, n.Engine(), n.id(), log)
}

// Sit opens the debate in a session, and closes it while a call is in flight.
func (n *Nomad) Sit(do func(*debate.Session)) {
	n.T.Helper()
	engine := n.Engine()
	engine.Providers = map[string]provider.Provider{"test": ProviderFunc(
		func(ctx context.Context, _ *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		})}
	session, err := engine.Open(n.T.Context(), n.id())
	require.NoError(n.T, err)
	do(session)
	Pass(time.Second)
	require.NoError(n.T, session.Close())
}

// Engine is that of one more machine.
func (n *Nomad) Engine() *debate.Engine {
	if n.Same != nil {
		return n.Same
	}
	if n.Machine != nil {
		engine := n.Machine()
		engine.Store = n.Store
		return engine
	}
	config, ok := n.Config.(debate.Config)
	require.True(n.T, ok, "a conversation of another flow needs its Machine")
	engine, p := Engine(config)
	engine.Store = n.Store
	reply := p.Reply
	if n.Reply != nil {
		reply = n.Reply
	}
	p.Reply = func(r *provider.Request) scripted.Reply {
		n.Asked = append(n.Asked, r.ID)
		return reply(r)
	}
	return engine
}

// Begin stores the debate, which nobody works on yet.
func (n *Nomad) Begin() {
	n.T.Helper()
	core, signals, err := kernel.Begin(kernel.Of(n.T, n.Engine()), n.id(), n.Config)
	require.NoError(n.T, err)
	for _, signal := range signals {
		out, err := core.StepDrain(flow.Input{At: time.Now(), Signal: signal})
		require.NoError(n.T, err)
		require.NoError(n.T, n.Store.Append(n.T.Context(), n.id(), 0, "begin", out.Events))
	}
}

// Advance gives the debate a signal, by one more machine.
func (n *Nomad) Advance(signal flow.Signal) flow.Next {
	n.T.Helper()
	next, err := n.Engine().Advance(n.T.Context(), n.id(), "nomad", signal)
	require.NoError(n.T, err)
	return next
}

// Run plays the debate to its end, a call at a time.
func (n *Nomad) Run(next flow.Next) *debate.Record {
	n.T.Helper()
	for !next.Over {
		var err error
		switch {
		case len(next.Calls) > 0:
			next, err = n.Engine().Call(n.T.Context(), n.id(), "nomad", next.Calls[0], nil)
			require.NoError(n.T, err)
		default:
			require.NotZero(n.T, next.Wait, "nothing is due in state %s", next.State)
			<-time.After(next.Wait)
			next = n.Advance(flow.Tick{Seq: next.Seq})
		}
	}
	record, err := n.Engine().Record(n.T.Context(), n.id())
	require.NoError(n.T, err)
	return record
}
