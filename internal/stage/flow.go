package stage

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Asks and Rests are the states of OneState, Done and Lost what fires there. Nudge, Remark and Noted are inputs of the flows below.
const (
	Asks   debate.State   = "asking"
	Rests  debate.State   = "resting"
	Done   debate.Trigger = "done"
	Lost   debate.Trigger = "lost"
	Nudge  debate.Trigger = "nudge"
	Remark debate.Trigger = "remark"
	Noted  debate.Trigger = "noted"
)

// OneState is a flow that asks for calls in one state, and then ends; lost leads to another that ends too.
func OneState(calls func(r *debate.Record) []*flow.Call) *debate.Flow {
	fires := func(on debate.Trigger) func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
		return func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return on, flow.Exit{}, true }
	}
	return ofDebates(&debate.Flow{
		Name: "one", Version: 1, Start: Asks,
		Rules: []debate.Rule{
			{From: Asks, On: Done, To: flow.StateCompleting},
			{From: Asks, On: Lost, To: Rests},
			{From: Rests, On: Done, To: flow.StateCompleting},
		},
		Steps: map[debate.State]flow.Step{Asks: {Calls: calls, Next: fires(Done)}, Rests: {Next: fires(Done)}},
	})
}

// CallsOf yields a call for each active participant that has no result.
func CallsOf(how func(*flow.Call)) func(r *debate.Record) []*flow.Call {
	return func(r *debate.Record) []*flow.Call {
		var calls []*flow.Call
		for i, name := range r.Active() {
			call := &flow.Call{ID: "say." + name, Kind: "word", By: name, Model: ModelOf(r, name), Slot: i}
			how(call)
			if !r.Done(call.ID) {
				calls = append(calls, call)
			}
		}
		return calls
	}
}

// Seats are those of actors whom one model plays, which stands in the field "model" of a config.
func Seats(model string, names ...string) flow.Seats {
	return func(yield func(flow.Seat) bool) {
		for _, name := range names {
			if !yield(flow.Seat{By: name, Model: &model}) {
				return
			}
		}
	}
}

// WithFlow is an engine of one flow, and a config that can be named for it; see [inFlow].
func WithFlow(f *debate.Flow) (*debate.Engine, *scripted.Provider, debate.Config) {
	config := TwoDebaters()
	config.Judging = nil
	engine, source := Engine(config)
	engine.Flows = map[string]*debate.Flow{f.Name: f}
	return engine, source, config
}

// Remarkable is a flow of two calls at once, whose turns wait for each other, and of an input that is legal where from says.
func Remarkable(from ...debate.State) *debate.Flow {
	f := OneState(CallsOf(func(c *flow.Call) {
		c.Hidden, c.Last = true, func(r *debate.Record) string { return fmt.Sprintf("Remarks: %d", len(r.Inputs)) }
	}))
	f.Inputs = []debate.Trigger{Remark}
	for _, state := range from {
		f.Rules = append(f.Rules, debate.Rule{From: state, On: Remark, To: flow.StateUnchanged})
	}
	return f
}

// Reach brings a conversation of remarkable to a state. Ada's turn is there then, and hidden; Ben's is not.
func Reach(t *testing.T, f *debate.Flow, state debate.State) (*debate.Engine, *debate.Session, *scripted.Provider) {
	t.Helper()
	engine, source, config := WithFlow(f)
	script, failing := source.Reply, state != Asks && state != flow.StatePaused
	source.Reply = func(req *provider.Request) scripted.Reply {
		reply := script(req)
		if req.Self != "Ada" {
			reply.Delay = time.Minute
			if failing {
				failing = false
				return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Status: 200}}
			}
		}
		return reply
	}
	config.Unattended = state == flow.StateError
	session, err := engine.Start(t.Context(), InFlow(engine, config))
	require.NoError(t, err)
	Pass(time.Second)
	if state == flow.StatePaused {
		require.NoError(t, session.Pause(t.Context()))
		Pass(time.Second) // until the call that is aborted is recorded
	}
	require.Equal(t, state, session.State())
	return engine, session, source
}

// Reflecting is the debate flow with one more state, in which a participant looks back on a round.
func Reflecting() *debate.Flow {
	const (
		state debate.State   = "reflecting"
		done  debate.Trigger = "reflected"
	)
	id := func(r *debate.Record) string { return fmt.Sprintf("r%d.reflection.%s", r.Round, r.Active()[0]) }
	f := debate.DebateFlow()
	f.Name = "reflecting-debate"
	for i := range f.Rules {
		if f.Rules[i].To == debate.StateRoundComplete {
			f.Rules[i].To = state
		}
	}
	f.Rules = append(f.Rules, debate.Rule{From: state, On: done, To: debate.StateRoundComplete})
	f.Steps[state] = flow.Step{
		Calls: func(r *debate.Record) []*flow.Call {
			if r.Done(id(r)) {
				return nil
			}
			name := r.Active()[0]
			return []*flow.Call{{
				ID: id(r), Kind: "reflection", By: name, Model: ModelOf(r, name), Round: r.Round, System: r.Text("system." + name),
				Last: func(*debate.Record) string { return "What have you learned in this round?" },
			}}
		},
		Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return done, flow.Exit{}, true },
	}
	return f
}

// Notes is the debate flow, with an input of its own.
func Notes() *debate.Flow {
	flow := debate.DebateFlow()
	flow.Name = "notes"
	return Recording(flow, Noted)
}

// ofDebates gives a flow that a test has written by hand the configs of debates: how they are read, normalized and checked,
// what is frozen of them, and the debate that a record shows.
func ofDebates(flow *debate.Flow) *debate.Flow {
	like := debate.DebateFlow()
	flow.Decode, flow.Normalize, flow.Freeze, flow.Thaw, flow.Fixed = like.Decode, like.Normalize, like.Freeze, like.Thaw, like.Fixed
	flow.Draw, flow.Views, flow.Open = like.Draw, like.Views, like.Open
	flow.Check = like.Check
	return flow
}

// Recording adds inputs to a flow that are recorded in every state, and change none.
func Recording(f *debate.Flow, inputs ...debate.Trigger) *debate.Flow {
	f.Inputs = append(f.Inputs, inputs...)
	for _, on := range inputs {
		for _, from := range []debate.State{
			flow.StateInitializing, flow.StateRunning, flow.StateCompleting, flow.StatePaused, flow.StateAwaitingInput, flow.StateError,
		} {
			f.Rules = append(f.Rules, debate.Rule{From: from, On: on, To: flow.StateUnchanged})
		}
	}
	return f
}

// ModelOf yields the model of a participant of a debate.
func ModelOf(r *debate.Record, name string) string {
	return View(r).Config().Participants[r.Seat(name)].Model
}

const (
	stateAsking  debate.State   = "asking"
	stateClosing debate.State   = "closing"
	onAsked      debate.Trigger = "asked"

	// OnHurry is the input that ends the questions of an Interview.
	OnHurry debate.Trigger = "hurry"
)

// Interview is a flow that asks two people at once, then a model. A host may hurry it.
func Interview() *debate.Flow {
	ask := func(r *debate.Record) []*flow.Call {
		var calls []*flow.Call
		for i, name := range []string{"Ada", "Ben"} {
			id := "question." + name
			if !r.Done(id) {
				calls = append(calls, &flow.Call{
					ID: id, Kind: "question", By: name, Performer: flow.ByPerson, Slot: i,
					Last: func(*debate.Record) string { return "What do you say, " + name + "?" },
				})
			}
		}
		return calls
	}
	closing := func(r *debate.Record) []*flow.Call {
		if r.Done("closing") {
			return nil
		}
		return []*flow.Call{{ID: "closing", Kind: "closing", By: "Ada", Model: "test/debater", Last: func(*debate.Record) string { return "Close." }}}
	}
	next := func(on debate.Trigger) func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
		return func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return on, flow.Exit{}, true }
	}
	return ofDebates(Recording(&debate.Flow{
		Name: "interview", Version: 1, Start: stateAsking,
		Rules: []debate.Rule{
			{From: stateAsking, On: onAsked, To: stateClosing},
			{From: stateAsking, On: OnHurry, To: stateClosing},
			{From: stateClosing, On: flow.TriggerComplete, To: flow.StateCompleting},
		},
		Steps: map[debate.State]flow.Step{
			stateAsking:  {Calls: ask, Next: next(onAsked)},
			stateClosing: {Calls: closing, Next: next(flow.TriggerComplete)},
		},
	}, OnHurry))
}
