package river_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/store"
)

// asked is called with each request before it is answered.
type asked = flows.Before

func slowly(d time.Duration) asked { return flows.Slowly(d) }

func cast(before asked) debate.Provider { return flows.Provider(before) }

func engineOn(s store.Store, before asked) *debate.Engine { return flows.Engine(s, before) }

func debating(id string) debate.Config { return flows.Debate(id) }

func deliberating(id string) deliberation.Config { return flows.Deliberation(id) }

func arbitrating(id string) arbiter.Config { return flows.Arbitration(id) }

// submit stores a conversation, and makes no call of it.
func submit(t testing.TB, engine *debate.Engine, config flow.Config) {
	t.Helper()
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
}
