package log_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
)

// An engine keeps what it has found out about a config, for the next start of an equal one. In these tests, a start on an engine that
// knows other configs is the same as on one that knows none.

// starter is an engine with a seed that everybody knows. rendered counts the renderings of the prompts of the config's flow. during is
// called when the next start draws its seed, which is after it has read the config.
type starter struct {
	*kernel.Engine

	rendered atomic.Int64
	during   atomic.Pointer[func()]
}

func newStarter(t *testing.T, config flow.Config) *starter {
	t.Helper()
	s, engine := &starter{}, everyEngine(&store.Memory{})
	engine.Flows[debate.FlowName] = debate.DebateFlow()
	own := engine.Flows[config.Flow()]
	texts := own.Texts
	own.Texts = func(told flow.Setup) (map[string]string, error) {
		s.rendered.Add(1)
		return texts(told)
	}
	engine.Seed = func() string {
		if during := s.during.Swap(nil); during != nil {
			(*during)()
		}
		return "seed"
	}
	s.Engine = kernel.Of(t, engine)
	return s
}

// start returns what is wrong with a config, or else what its conversation starts with.
func (s *starter) start(t *testing.T, config flow.Config) string {
	t.Helper()
	if err := s.Validate(t.Context(), config); err != nil {
		return err.Error()
	}
	start, err := s.Freeze(config)
	if err != nil {
		return err.Error()
	}
	return stage.JSON(start)
}

// alike reports where a start differs from the one that is wanted.
func alike(t *testing.T, want, got, what string) {
	t.Helper()
	at := 0
	for at < min(len(want), len(got)) && want[at] == got[at] {
		at++
	}
	if want != got {
		t.Errorf("%s: it starts with …%.80s… in place of …%.80s…", what, got[at:], want[at:])
	}
}

// eachConfig runs a test for each config of which every field is set. given makes it anew.
func eachConfig(t *testing.T, test func(t *testing.T, n int, given func() flow.Config)) {
	t.Helper()
	for name, configs := range everyField() {
		for i := range configs {
			t.Run(fmt.Sprintf("%s %d", name, i+1), func(t *testing.T) {
				test(t, i, func() flow.Config {
					config := everyField()[name][i]
					write(reflect.ValueOf(config), "", "")
					return config
				})
			})
		}
	}
}

// Two configs that differ in one place, whichever it is, start in turn as each starts alone.
func TestAConfigStartsAsIfNoOtherHadStarted(t *testing.T) {
	longform.Lone(t)
	places := 0
	eachConfig(t, func(t *testing.T, n int, given func() flow.Config) {
		known := newStarter(t, given())
		want := newStarter(t, given()).start(t, given())
		require.True(t, json.Valid([]byte(want)), want)
		require.Equal(t, want, known.start(t, given()))
		rendered := known.rendered.Load()
		require.Equal(t, want, known.start(t, given()))
		require.Equal(t, rendered, known.rendered.Load(), "the config has a setup")
		all := len(stage.Leaves(given(), nil))
		for ; n < all; n += min(longform.Fewer(), 2) {
			other := given()
			leaf := stage.Leaves(other, nil)[n]
			leaf.Change()
			places++
			alike(t, newStarter(t, given()).start(t, other), known.start(t, other), "another "+leaf.Path)
			alike(t, want, known.start(t, given()), "after another "+leaf.Path)
		}
	})
	t.Logf("changed configs in %d places", places)
}

// Whatever a host program writes to its config, during its start and after it, is not seen by that start, and by no other one.
func TestAHostWritesToAConfigThatHasASetup(t *testing.T) {
	eachConfig(t, func(t *testing.T, _ int, given func() flow.Config) {
		known, mine := newStarter(t, given()), given()
		want := newStarter(t, given()).start(t, given())
		change := func() {
			for _, leaf := range stage.Leaves(mine, nil) {
				leaf.Change()
			}
		}
		known.during.Store(&change)
		start, err := known.Freeze(mine)
		require.NoError(t, err)
		alike(t, want, stage.JSON(start), "what is started")
		alike(t, want, known.start(t, given()), "what was started")
		alike(t, newStarter(t, given()).start(t, mine), known.start(t, mine), "what was written")

		mine = given()
		require.Equal(t, want, known.start(t, mine))
		leaves := stage.Leaves(mine, nil) // of what was started
		var group sync.WaitGroup
		group.Go(func() {
			for range 5 {
				for _, leaf := range leaves {
					leaf.Change()
				}
			}
		})
		for range 3 {
			group.Go(func() {
				for range 3 {
					alike(t, want, known.start(t, given()), "beside a writer")
				}
			})
		}
		group.Wait()
	})
}
