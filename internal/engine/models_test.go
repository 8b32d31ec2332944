package engine_test

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/limit"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Each provider is asked for its list once, whatever the number of its models. What is not listed may be an alias. The
// engine remembers the answers for ten minutes.
func TestAListOfModelsIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := stage.Market()
		for range 3 {
			require.NoError(t, engine.Validate(t.Context(), config))
		}
		for name, s := range shops {
			assert.EqualValues(t, 1, s.Lists.Load(), name)
		}
		assert.EqualValues(t, 1, shops["one"].Looks.Load(), "the alias")
		stage.Pass(10 * time.Minute)
		require.NoError(t, engine.Validate(t.Context(), config))
		assert.EqualValues(t, 2, shops["one"].Lists.Load())
		assert.EqualValues(t, 2, shops["one"].Looks.Load())
	})
}

// What a list's failure means: a key that is refused and a model that is missing prevent a start. What could not be
// asked is a warning, in the log and for the logger.
func TestWhatCannotBeAskedIsAWarning(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*stage.Shop)
		kind   debate.Kind // "": a warning
		says   string
	}{
		"a key that is refused": {
			func(s *stage.Shop) { s.Err = &provider.Error{Kind: provider.KindAuthentication, Status: 401} }, provider.KindAuthentication, "",
		},
		"a region": {
			func(s *stage.Shop) {
				s.Err = &provider.Error{Kind: provider.KindAuthentication, Status: 403, Message: "not in your country"}
			},
			provider.KindAuthentication, "",
		},
		"a model that is missing": {func(s *stage.Shop) { s.Has = []string{"other"} }, provider.KindValidation, ""},
		"a scope": {
			func(s *stage.Shop) {
				s.Err = &provider.Error{Kind: provider.KindAuthentication, Status: 403, Message: "Missing scopes: api.model.read"}
			}, "", "authentication, status 403",
		},
		"a rate limit": {
			func(s *stage.Shop) { s.Err = &provider.Error{Kind: provider.KindRateLimit, Status: 429} }, "", "rate_limit, status 429",
		},
		"an outage": {func(s *stage.Shop) { s.Err = &provider.Error{Kind: provider.KindAPI, Status: 503} }, "", "api_error, status 503"},
		"no answer": {func(s *stage.Shop) { s.Hangs = true }, "", "timeout"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config, engine, shops := stage.Market()
			test.change(shops["three"])
			var lines stage.Locked
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
			record := stage.Ended(t, s)
			require.Len(t, record.Warnings, 1)
			assert.Equal(t, flow.WarnUnchecked, record.Warnings[0].Kind)
			assert.Equal(t, "provider three could not be asked about its models: "+test.says, record.Warnings[0].Evidence)
			assert.Contains(t, lines.String(), "models not checked")
		}))
	}
}

// A config may come from one of many users. The error about a model that is not there names no model that was made or deployed for another
// one, whatever its name looks like: only those that everybody may know.
func TestAModelThatIsMissingNamesNoneOfTheAccounts(t *testing.T) {
	own := []string{"accounts/acme/models/x", "acme/x-ft-1", "davinci:ft-acme", "ft:gpt-4o:acme::1"}
	says := func(change func(*debate.Engine, *stage.Shop)) string {
		config, engine, shops := stage.Market()
		shops["three"].Has = own
		change(engine, shops["three"])
		var failure *debate.Error
		require.ErrorAs(t, engine.Validate(t.Context(), config), &failure)
		assert.Equal(t, "judging.judges[0].model", failure.Field)
		return failure.Error() + " " + failure.Hint()
	}
	for _, public := range []bool{false, true} {
		text := says(func(e *debate.Engine, s *stage.Shop) {
			if public {
				s.Has = append(slices.Clone(own), "verdicts")
				e.Models["three/verdicts"] = debate.Model{Window: 1000}
			}
		})
		assert.NotContains(t, text, "acme")
		if public {
			assert.Contains(t, text, "there is only three/verdicts")
		} else {
			assert.Contains(t, text, `"three/judge" is none of the 4 models of the account`)
		}
	}
}

// Three lists that hang delay a start by ten seconds in all, and the next one not at all.
func TestListsThatHang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := stage.Market()
		for _, s := range shops {
			s.Hangs = true
		}
		for _, want := range []time.Duration{10 * time.Second, 0} {
			began := time.Now()
			s, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			assert.Equal(t, want, time.Since(began))
			record := stage.Ended(t, s)
			assert.Len(t, record.Warnings, 3)
			require.NoError(t, s.Close())
		}
		stage.Pass(time.Minute)
		shops["one"].Hangs = false
		_, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		assert.EqualValues(t, 2, shops["one"].Lists.Load())
		require.NoError(t, engine.Shutdown(t.Context()))
	})
}

// The start of a stored debate asks nobody, whether the debate is over or not; nor does an engine that trusts.
func TestTheStartOfAStoredDebateAsksNobody(t *testing.T) {
	config, engine, shops := stage.Market()
	config.ID, engine.Store = "stored", &store.Memory{}
	stage.Run(t, engine, config)
	requests := func() (n int) {
		for _, s := range shops {
			n += int(s.Lists.Load() + s.Looks.Load())
		}
		return n + shops["one"].Calls()
	}
	again, other, _ := stage.Market()
	again.ID = config.ID
	other.Store, other.Providers = engine.Store, engine.Providers
	before := requests()
	s, err := other.Start(t.Context(), again)
	require.NoError(t, err)
	assert.Equal(t, flow.StateCompleted, s.State())
	require.NoError(t, s.Close())
	t.Logf("requests of the start of a stored, finished debate: %d", requests()-before)
	assert.Equal(t, before, requests())

	_, bare, _ := stage.Market()
	bare.Store, bare.Providers = engine.Store, nil
	s, err = bare.Start(t.Context(), again)
	require.NoError(t, err, "it is only read")
	require.NoError(t, s.Close())
	again.Topic = "Another?"
	_, err = other.Start(t.Context(), again)
	stage.RequireKind(t, err, provider.KindConflict)

	config.ID, config.Rounds = "trusted", 2
	stage.Pausing(&config, time.Hour) // so that it cannot end before it is paused
	again = config
	_, trusting, trusted := stage.Market()
	trusting.SkipModelCheck, trusting.Store = true, engine.Store
	trusting.Flows = map[string]*debate.Flow{debate.FlowName: stage.Paced()}
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
		assert.Zero(t, s.Lists.Load()+s.Looks.Load())
	}
}

// A limiter counts the questions about models.
func TestALimiterCountsTheQuestionsAboutModels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := stage.Market()
		config.Participants[0].Fallbacks = []string{"one/alias"}
		limits := &limit.Rate{Requests: 1}
		for name, s := range shops {
			engine.Providers[name] = limits.Wrap(name, slow{s})
		}
		require.NoError(t, engine.Validate(t.Context(), config))
		var counted []string
		for _, one := range limits.Status() {
			counted = append(counted, one.Name+" "+one.Model)
		}
		assert.Equal(t, []string{"one ", "one alias", "three ", "two "}, counted)
	})
}

// A start does not wait for the calls of others: if they have all places of a limit, models are not checked this time.
func TestAFullLimitDelaysNoStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, shops := stage.Market()
		limits := &limit.Concurrency{Calls: 3}
		for name, s := range shops {
			engine.Providers[name] = limits.Wrap(s)
		}
		var lines stage.Locked
		engine.Logger = slog.New(slog.NewTextHandler(&lines, nil))
		busy := limits.Wrap(&scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
			return scripted.Reply{Text: "A word.", Delay: time.Second}
		}})
		for range 3 {
			go func() { _, _ = busy.Generate(t.Context(), &provider.Request{Model: "m"}, func(provider.Chunk) {}) }()
		}
		synctest.Wait()
		began := time.Now()
		require.NoError(t, engine.Validate(t.Context(), config))
		assert.Zero(t, time.Since(began))
		assert.Contains(t, lines.String(), "why=rate_limit")
		for name, s := range shops {
			assert.Zero(t, s.Lists.Load(), name)
		}
		stage.Pass(2 * time.Second)
		require.NoError(t, engine.Validate(t.Context(), config))
		for name, s := range shops {
			assert.EqualValues(t, 1, s.Lists.Load(), "%s was asked as soon as there was a place", name)
		}
	})
}

// slow is a shop whose list takes a second.
type slow struct{ *stage.Shop }

func (s slow) Models(ctx context.Context) ([]string, error) {
	stage.Pass(time.Second)
	return s.Shop.Models(ctx)
}
