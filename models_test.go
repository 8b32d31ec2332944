package debate_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// shop is a provider that can list its models.
type shop struct {
	*scripted.Provider

	has   []string
	err   error
	hangs bool
	lists atomic.Int32
	looks atomic.Int32
}

func (s *shop) Models(ctx context.Context) ([]string, error) {
	s.lists.Add(1)
	if s.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return s.has, s.err
}

func (s *shop) Check(_ context.Context, model string) error {
	s.looks.Add(1)
	if model == "alias" {
		return nil
	}
	return &provider.Error{Kind: provider.KindValidation, Status: 404, Code: "model_not_found"}
}

// market returns a config of three providers, one for each debater and one for the judge, and an engine with them.
func market() (debate.Config, *debate.Engine, map[string]*shop) {
	config := twoDebaters()
	config.Participants[0].Model, config.Participants[0].Fallbacks = "one/debater", []string{"one/spare", "one/alias", "two/spare"}
	config.Participants[1].Model, config.Judging.Judges[0].Model = "two/debater", "three/judge"
	engine, p := engineFor(config)
	shops := make(map[string]*shop)
	for _, name := range []string{"one", "two", "three"} {
		shops[name] = &shop{Provider: p, has: []string{"debater", "spare", "judge"}}
		engine.Providers[name] = shops[name]
	}
	return config, engine, shops
}

// Each provider is asked for its list once, whatever the number of its models. What is not listed may be an alias. The
// engine remembers the answers for ten minutes.
func TestAListOfModelsIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := market()
		for range 3 {
			require.NoError(t, engine.Validate(t.Context(), config))
		}
		for name, s := range shops {
			assert.EqualValues(t, 1, s.lists.Load(), name)
		}
		assert.EqualValues(t, 1, shops["one"].looks.Load(), "the alias")
		pass(10 * time.Minute)
		require.NoError(t, engine.Validate(t.Context(), config))
		assert.EqualValues(t, 2, shops["one"].lists.Load())
		assert.EqualValues(t, 2, shops["one"].looks.Load())
	})
}

// What a list's failure means: a key that is refused and a model that is missing prevent a start. What could not be
// asked is a warning, in the log and for the logger.
func TestWhatCannotBeAskedIsAWarning(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*shop)
		kind   debate.Kind // "": a warning
		says   string
	}{
		"a key that is refused": {
			func(s *shop) { s.err = &provider.Error{Kind: provider.KindAuthentication, Status: 401} }, provider.KindAuthentication, "",
		},
		"a region": {
			func(s *shop) {
				s.err = &provider.Error{Kind: provider.KindAuthentication, Status: 403, Message: "not in your country"}
			},
			provider.KindAuthentication, "",
		},
		"a model that is missing": {func(s *shop) { s.has = []string{"other"} }, provider.KindValidation, ""},
		"a scope": {
			func(s *shop) {
				s.err = &provider.Error{Kind: provider.KindAuthentication, Status: 403, Message: "Missing scopes: api.model.read"}
			}, "", "authentication, status 403",
		},
		"a rate limit": {
			func(s *shop) { s.err = &provider.Error{Kind: provider.KindRateLimit, Status: 429} }, "", "rate_limit, status 429",
		},
		"an outage": {func(s *shop) { s.err = &provider.Error{Kind: provider.KindAPI, Status: 503} }, "", "api_error, status 503"},
		"no answer": {func(s *shop) { s.hangs = true }, "", "timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, engine, shops := market()
				test.change(shops["three"])
				var lines locked
				engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
				s, err := engine.Start(t.Context(), config)
				if test.kind != "" {
					var failure *debate.Error
					require.ErrorAs(t, err, &failure)
					assert.Equal(t, test.kind, failure.Kind)
					assert.Equal(t, "judging.judges[0].model", failure.Field)
					return
				}
				require.NoError(t, err)
				defer s.Close()
				record, err := s.Wait(t.Context())
				require.NoError(t, err)
				require.Len(t, record.Warnings, 1)
				assert.Equal(t, flow.WarnUnchecked, record.Warnings[0].Kind)
				assert.Equal(t, "provider three could not be asked about its models: "+test.says, record.Warnings[0].Evidence)
				assert.Contains(t, lines.String(), "models not checked")
			})
		})
	}
}

// Three lists that hang delay a start by ten seconds in all, and the next one not at all.
func TestListsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := market()
		for _, s := range shops {
			s.hangs = true
		}
		for _, want := range []time.Duration{10 * time.Second, 0} {
			began := time.Now()
			s, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			assert.Equal(t, want, time.Since(began))
			record, err := s.Wait(t.Context())
			require.NoError(t, err)
			assert.Len(t, record.Warnings, 3)
			require.NoError(t, s.Close())
		}
		pass(time.Minute)
		shops["one"].hangs = false
		_, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		assert.EqualValues(t, 2, shops["one"].lists.Load())
		require.NoError(t, engine.Shutdown(t.Context()))
	})
}

// The start of a stored debate asks nobody, whether the debate is over or not; nor does an engine that trusts.
func TestTheStartOfAStoredDebateAsksNobody(t *testing.T) {
	config, engine, shops := market()
	config.ID, engine.Store = "stored", &store.Memory{}
	run(t, engine, config)
	requests := func() (n int) {
		for _, s := range shops {
			n += int(s.lists.Load() + s.looks.Load())
		}
		return n + shops["one"].Calls()
	}
	again, other, _ := market()
	again.ID = config.ID
	other.Store, other.Providers = engine.Store, engine.Providers
	before := requests()
	s, err := other.Start(t.Context(), again)
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, s.State())
	require.NoError(t, s.Close())
	t.Logf("requests of the start of a stored, finished debate: %d", requests()-before)
	assert.Equal(t, before, requests())

	_, bare, _ := market()
	bare.Store, bare.Providers = engine.Store, nil
	s, err = bare.Start(t.Context(), again)
	require.NoError(t, err, "it is only read")
	require.NoError(t, s.Close())
	again.Topic = "Another?"
	_, err = other.Start(t.Context(), again)
	requireKind(t, err, provider.KindConflict)

	config.ID, again.ID, again.Topic = "trusted", "trusted", config.Topic
	_, trusting, trusted := market()
	trusting.TrustModels, trusting.Store = true, engine.Store
	s, err = trusting.New(config)
	require.NoError(t, err)
	require.NoError(t, s.Validate(t.Context()))
	require.NoError(t, s.Start(t.Context()))
	require.NoError(t, s.Pause(t.Context()))
	require.NoError(t, s.Close())
	s, err = other.Start(t.Context(), again)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	assert.Equal(t, before, requests())
	for _, s := range trusted {
		assert.Zero(t, s.lists.Load()+s.looks.Load())
	}
}

// A limiter counts the questions about models.
func TestALimiterCountsTheQuestionsAboutModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := market()
		config.Participants[0].Fallbacks = []string{"one/alias"}
		limits := &limit.Concurrency{Calls: 1}
		for name, s := range shops {
			engine.Providers[name] = limits.Wrap(slow{s})
		}
		began := time.Now()
		require.NoError(t, engine.Validate(t.Context(), config))
		assert.Equal(t, 3*time.Second, time.Since(began), "one after the other")
	})
}

// slow is a shop whose list takes a second.
type slow struct{ *shop }

func (s slow) Models(ctx context.Context) ([]string, error) {
	pass(time.Second)
	return s.shop.Models(ctx)
}
