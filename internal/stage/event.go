package stage

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
)

// ReadBodies decodes the bodies of a debate's own events in place. JSON alone leaves them as they are.
func ReadBodies(events []debate.Event) []debate.Event {
	read := debate.DebateFlow()
	for i := range events {
		if e, err := read.DecodeEvent(events[i]); err == nil {
			events[i] = e
		}
	}
	return events
}

// ThroughJSON returns events as a store that writes JSON gives them back.
func ThroughJSON(t *testing.T, events []debate.Event) []debate.Event {
	t.Helper()
	data, err := json.Marshal(events)
	require.NoError(t, err)
	var out []debate.Event
	require.NoError(t, json.Unmarshal(data, &out))
	return out
}

// Shown returns an event as readers get it: decoded by its flow, and without the debate's secrets.
func Shown(e debate.Event) debate.Event {
	if read, err := debate.DebateFlow().DecodeEvent(e); err == nil {
		e = read
	}
	if given := body.As[flow.Start](e); given != nil {
		start := *given
		start.Seed, start.Texts, start.Views = "", nil, flow.Views{}
		e.Body = &start
	}
	return e
}

// StartConfig returns the config of a debate that a start holds, or nil.
func StartConfig(s *flow.Start) *debate.Config {
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

// StartFormat returns the format that a start holds, or nil.
func StartFormat(s *flow.Start) *debate.Format {
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
