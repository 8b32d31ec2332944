package debate_test

import (
	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
)

// as yields the body of an event if it is a T; nil: it is another.
func as[T any](e debate.Event) *T {
	body, _ := any(readBodies([]debate.Event{e})[0].Body).(*T)
	return body
}

// readBodies decodes the bodies of a debate's own events, which JSON alone leaves as they are.
func readBodies(events []debate.Event) []debate.Event {
	var f *flow.Flow // made only if an event needs it: benchmarks look at every piece of a reply
	for i := range events {
		if _, foreign := events[i].Body.(*flow.Foreign); !foreign {
			continue
		}
		if f == nil {
			f = debate.DebateFlow()
		}
		if read, err := f.DecodeEvent(events[i]); err == nil {
			events[i] = read
		}
	}
	return events
}

// view yields the debate of a record; an empty one if it is of another flow.
func view(r *debate.Record) *debate.Debate {
	if d, ok := debate.Of(r); ok {
		return d
	}
	return &debate.Debate{Record: r}
}

// startConfig yields the config of a debate that a start holds; nil: it holds none.
func startConfig(s *flow.Start) *debate.Config {
	if config, ok := s.Config.Go.(*debate.Config); ok {
		return config
	}
	read, err := debate.DebateFlow().Decode(s.Config.JSON)
	if err != nil {
		return nil
	}
	config, _ := read.(*debate.Config)
	return config
}

// startFormat yields the format that a start holds; nil: it holds none.
func startFormat(s *flow.Start) *debate.Format {
	if format, ok := s.Frozen.Go.(*debate.Format); ok {
		return format
	}
	read, err := debate.DebateFlow().Thaw(s.Frozen.JSON)
	if err != nil {
		return nil
	}
	format, _ := read.(*debate.Format)
	return format
}

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

// inFlow yields a config under the name of the one flow that an engine was given; else it is a debate's.
func inFlow(engine *debate.Engine, config debate.Config) flow.Config {
	for name := range engine.Flows {
		return flow.Named(name, config)
	}
	return config
}
