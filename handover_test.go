package debate_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
)

// twin is another engine that asks the same models, as another process does; its store is the same.
func twin(e *debate.Engine) *debate.Engine {
	return &debate.Engine{Providers: e.Providers, Judges: e.Judges, Models: e.Models, Store: e.Store}
}

// handovers are the ways in which a debate that waits comes into other hands, or stays in the same.
func handovers() map[string]func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
	return map[string]func(*testing.T, *debate.Engine, *debate.Session) (*debate.Engine, *debate.Session){
		"at once": func(_ *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) { return e, s },
		"after a restart": func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
			snapshot, err := s.Snapshot(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			other := twin(e)
			other.Store = nil
			restored, err := other.Restore(t.Context(), snapshot)
			require.NoError(t, err)
			t.Cleanup(func() { _ = restored.Close() })
			return other, restored
		},
		"from another engine": func(t *testing.T, e *debate.Engine, s *debate.Session) (*debate.Engine, *debate.Session) {
			require.NoError(t, s.Close())
			other := twin(e)
			opened, err := other.Open(t.Context(), s.ID())
			require.NoError(t, err)
			t.Cleanup(func() { _ = opened.Close() })
			return other, opened
		},
	}
}
