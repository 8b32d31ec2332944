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
	s.Config, s.Terms = flow.Value{Go: config}, config.Terms()
	s.Terms.ID, s.Terms.Unattended = id, unattended
}

// ofDebates gives a flow that a test has written by hand the configs of debates: how they are read, settled and checked,
// what is frozen of them, and the debate that a record shows. Unlike the flow of debates it may let its participants use
// tools.
func ofDebates(flow *debate.Flow) *debate.Flow {
	like := debate.DebateFlow()
	flow.Decode, flow.Settle, flow.Freeze, flow.Thaw, flow.Fixed = like.Decode, like.Settle, like.Freeze, like.Thaw, like.Fixed
	flow.Draw, flow.Views, flow.Prompted, flow.Open, flow.Spare = like.Draw, like.Views, like.Prompted, like.Open, like.Spare
	flow.Check = withTools(like.Check)
	return flow
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
