package debate_test

import (
	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// reconfigure changes the config of a start, and what is frozen of its terms with it.
func reconfigure(s *flow.Start, change func(*debate.Config)) {
	config := startConfig(s)
	change(config)
	id, unattended := s.Terms.ID, s.Terms.Unattended
	terms := config.Terms()
	terms.ID, terms.Unattended = id, unattended
	s.Config, s.Terms = flow.Value{Go: config}, *debate.DebateFlow().Complete(terms)
}

// ofDebates gives a flow that a test has written by hand the configs of debates: how they are read, settled and checked,
// what is frozen of them, and the debate that a record shows. Unlike the flow of debates it may let its participants use
// tools.
func ofDebates(flow *debate.Flow) *debate.Flow {
	like := debate.DebateFlow()
	flow.Decode, flow.Settle, flow.Freeze, flow.Thaw, flow.Fixed = like.Decode, like.Settle, like.Freeze, like.Thaw, like.Fixed
	flow.Draw, flow.Views, flow.Prompted, flow.Open = like.Draw, like.Views, like.Prompted, like.Open
	flow.Check = withTools(like.Check)
	return flow
}

// recording adds inputs to a flow that are recorded in every state, and change none.
func recording(f *debate.Flow, inputs ...debate.Trigger) *debate.Flow {
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

// withTools is the check of the configs of debates, for a flow whose participants may use tools.
func withTools(check func(flow.Config, any, flow.Registry) []error) func(flow.Config, any, flow.Registry) []error {
	return func(config flow.Config, frozen any, known flow.Registry) []error {
		if c, ok := config.(*debate.Config); ok && len(c.Tools) > 0 {
			bare := *c
			bare.Tools = nil
			config = &bare
		}
		return check(config, frozen, known)
	}
}

// modelOf yields the model of a participant of a debate.
func modelOf(r *debate.Record, name string) string {
	return view(r).Config().Participants[r.Seat(name)].Model
}
