package web_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// busy is a store whose lists take a while, as those of a database do. Without leases it grants every lease of a scope.
type busy struct {
	*store.Memory

	lawless bool
}

func (b busy) List(ctx context.Context, f store.Filter) iter.Seq2[store.Info, error] {
	return func(yield func(store.Info, error) bool) {
		var all []store.Info
		for info, err := range b.Memory.List(ctx, f) {
			if err != nil {
				yield(info, err)
				return
			}
			all = append(all, info)
		}
		stage.Pass(10 * time.Millisecond) // others are faster meanwhile
		for _, info := range all {
			if !yield(info, nil) {
				return
			}
		}
	}
}

func (b busy) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	if b.lawless && strings.HasPrefix(id, web.QuotaPrefix) {
		return nil
	}
	return b.Memory.Lease(ctx, id, owner, d)
}

// bounded is a debate with a hard limit.
func bounded(id string, hard debate.Money) debate.Config {
	config := labelled(id, nil)
	config.Budget = &debate.Budget{Soft: hard, Hard: hard}
	return config
}

// costs is the sum of the hard limits of all conversations of a store.
func costs(t *testing.T, s store.Store) (sum debate.Money, n int) {
	t.Helper()
	for info, err := range s.List(t.Context(), store.Filter{}) {
		require.NoError(t, err)
		sum, n = sum.Plus(info.Limit), n+1
	}
	return sum, n
}

// started lets two engines on one store start many conversations of a scope at once, and returns how many were refused.
func started(t *testing.T, s busy, each int) (refused int64) {
	t.Helper()
	var starts sync.WaitGroup
	var poor atomic.Int64
	for range 2 {
		engine, _ := stage.Engine(labelled("", nil))
		engine.Store = s
		c := handler(t, engine, web.Options{
			Authorize: anybody, Scope: tenants, Start: engine.Submit, Quota: func(map[string]string) flow.Money { return 10 * debate.USD },
		}).as("acme")
		for range each {
			starts.Go(func() {
				answer := c.ask(http.MethodPost, "conversations", body(t, bounded("", debate.USD)))
				switch answer.Code {
				case http.StatusCreated:
				case http.StatusPaymentRequired:
					poor.Add(1)
				default:
					t.Errorf("%d: %s", answer.Code, answer.Body)
				}
			})
		}
	}
	starts.Wait()
	return poor.Load()
}

// TestAQuotaIsNeverPassed: whatever two processes start at once. Without the lease it would be.
func TestAQuotaIsNeverPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := busy{Memory: &store.Memory{}}
		assert.EqualValues(t, 90, started(t, s, 50))
		sum, n := costs(t, s)
		assert.Equal(t, []any{10 * debate.USD, 10}, []any{sum, n})
		for info, err := range s.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			assert.False(t, strings.HasPrefix(info.ID, web.QuotaPrefix), "a lease is no conversation")
		}
	})
	synctest.Test(t, func(t *testing.T) {
		s := busy{&store.Memory{}, true}
		started(t, s, 50)
		sum, _ := costs(t, s)
		assert.Greater(t, sum, 10*debate.USD)
	})
}

// TestWhatCountsInAQuota: starts by their limits, forks and amendments by what they add, and each scope for itself.
func TestWhatCountsInAQuota(t *testing.T) {
	engine, _ := stage.Engine(labelled("", nil))
	engine.Store = &store.Memory{}
	c := handler(t, engine, web.Options{
		Authorize: anybody, Scope: tenants, Start: engine.Submit, Policy: web.Strict(engine, web.Limits{}),
		Quota: func(scope map[string]string) flow.Money {
			if scope["tenant"] == "free" {
				return 0
			}
			return 3 * debate.USD
		},
	})
	acme := c.as("acme")
	p := problemOf(t, acme.ask(http.MethodPost, "conversations", body(t, labelled("", nil))))
	assert.Equal(t, []any{http.StatusUnprocessableEntity, "budget.hard"}, []any{p.Status, p.Field})
	p = problemOf(t, acme.ask(http.MethodPost, "conversations", body(t, bounded(web.QuotaPrefix+"x", debate.USD))))
	assert.Equal(t, "id", p.Field, "the ids of leases are no ids of conversations")
	acme.post("conversations", body(t, bounded("one", debate.USD)), http.StatusCreated)
	acme.post("conversations", body(t, bounded("one", debate.USD)), http.StatusOK)
	priced := acme.post("estimate", body(t, bounded("", debate.USD)), http.StatusOK)
	assert.InDelta(t, 2, priced["remains"], 0)
	p = problemOf(t, acme.ask(http.MethodPost, "conversations", body(t, bounded("", 5*debate.USD/2))))
	assert.Equal(t, []any{http.StatusPaymentRequired, "cost_limit", "budget.hard"}, []any{p.Status, p.Kind, p.Field})
	assert.Contains(t, p.Detail, "$2 of $3 are left")
	p = problemOf(t, acme.ask(http.MethodPost, "conversations/one/amend", `{"budget":{"soft":4,"hard":4}}`))
	assert.Equal(t, http.StatusPaymentRequired, p.Status)
	p = problemOf(t, acme.ask(http.MethodPost, "conversations/one/amend", `{"budget":{}}`))
	assert.Equal(t, http.StatusUnprocessableEntity, p.Status, "a limit is not removed")
	acme.post("conversations/one/amend", `{"budget":{"soft":2,"hard":2}}`, http.StatusAccepted)
	p = problemOf(t, acme.ask(http.MethodPost, "conversations/one/fork", `{"seq":1,"config":{"budget":{"soft":2,"hard":2}}}`))
	assert.Equal(t, http.StatusPaymentRequired, p.Status)
	acme.post("conversations/one/fork", `{"seq":1}`, http.StatusCreated) // by the limit before the amendment
	t.Cleanup(func() { assert.NoError(t, engine.Shutdown(context.WithoutCancel(t.Context()))) })
	c.as("globex").post("conversations", body(t, bounded("", 3*debate.USD)), http.StatusCreated)
	c.as("free").post("conversations", body(t, labelled("", nil)), http.StatusCreated)
	var sum struct{ Most, Quota, Remains float64 }
	c.as("globex").get("sum", &sum)
	assert.Equal(t, []float64{3, 3, 0}, []float64{sum.Most, sum.Quota, sum.Remains})
}

// TestAConversationWithoutALimitStopsAllStarts: nothing bounds the sum then, and the refusal names it. Once it has a limit, starts go on.
func TestAConversationWithoutALimitStopsAllStarts(t *testing.T) {
	engine, _ := stage.Engine(labelled("", nil))
	engine.Store = &store.Memory{}
	_, err := engine.Submit(t.Context(), labelled("endless", nil))
	require.NoError(t, err)
	c := handler(t, engine, web.Options{
		Authorize: anybody, Start: engine.Submit, Quota: func(map[string]string) flow.Money { return 3 * debate.USD },
	})
	p := problemOf(t, c.ask(http.MethodPost, "conversations", body(t, bounded("", debate.USD))))
	assert.Equal(t, http.StatusPaymentRequired, p.Status)
	assert.Contains(t, p.Hint, "endless")
	c.post("conversations/endless/amend", `{"budget":{"soft":1,"hard":1}}`, http.StatusAccepted)
	c.post("conversations", body(t, bounded("", debate.USD)), http.StatusCreated)
}

// TestAQuotaThatIsHeld: a start waits for others on the same account, and gives up after a while.
func TestAQuotaThatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory := &store.Memory{}
		engine, _ := stage.Engine(labelled("", nil))
		engine.Store = memory
		goOn := make(chan struct{})
		slow := handler(t, engine, web.Options{
			Authorize: anybody, Scope: tenants, Quota: func(map[string]string) flow.Money { return 3 * debate.USD },
			Start: func(ctx context.Context, config flow.Config) (string, error) {
				<-goOn
				return engine.Submit(ctx, config)
			},
		}).as("acme")
		held, begun := make(chan int), body(t, bounded("slow", debate.USD))
		go func() { held <- slow.ask(http.MethodPost, "conversations", begun).Code }()
		synctest.Wait()
		began := time.Now()
		p := problemOf(t, slow.ask(http.MethodPost, "conversations", body(t, bounded("", debate.USD))))
		assert.Equal(t, http.StatusServiceUnavailable, p.Status)
		assert.InDelta(t, 10, time.Since(began).Seconds(), 1)
		stage.Pass(time.Hour) // the lease is renewed for as long as the start lasts
		p = problemOf(t, slow.ask(http.MethodPost, "conversations", body(t, bounded("", debate.USD))))
		assert.Equal(t, http.StatusServiceUnavailable, p.Status)
		close(goOn)
		assert.Equal(t, http.StatusCreated, <-held)
		slow.post("conversations", body(t, bounded("", debate.USD)), http.StatusCreated)
	})
}

// waits sends a request, and returns where its status will be, once the request waits or has an answer.
func waits(c client, path, sent string) <-chan int {
	code := make(chan int, 1)
	go func() { code <- c.ask(http.MethodPost, path, sent).Code }()
	synctest.Wait()
	return code
}

// slowly is a handler for a scope with a quota whose starts wait until goOn is closed.
func slowly(t *testing.T, engine *debate.Engine, quota debate.Money, goOn <-chan struct{}) client {
	t.Helper()
	return handler(t, engine, web.Options{
		Authorize: anybody, Quota: func(map[string]string) flow.Money { return quota },
		Start: func(ctx context.Context, config flow.Config) (string, error) {
			<-goOn
			return engine.Submit(ctx, config)
		},
	})
}

// TestALimitIsComparedWhenItChanges: whoever waited to raise it is held to what it is then, and not to what it was before.
func TestALimitIsComparedWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(labelled("", nil))
		engine.Store = &store.Memory{}
		_, err := engine.Submit(t.Context(), bounded("one", 10*debate.USD))
		require.NoError(t, err)
		goOn := make(chan struct{})
		c := slowly(t, engine, 30*debate.USD, goOn)
		held := waits(c, "conversations", body(t, bounded("two", debate.USD)))
		raised := waits(c, "conversations/one/amend", `{"budget":{"soft":30,"hard":30}}`)
		lowered := waits(c, "conversations/one/amend", `{"budget":{"soft":5,"hard":5}}`)
		close(goOn)
		want := []int{http.StatusCreated, http.StatusPaymentRequired, http.StatusAccepted}
		assert.Equal(t, want, []int{<-held, <-raised, <-lowered})
		sum, _ := costs(t, engine.Store)
		assert.Equal(t, 6*debate.USD, sum)
	})
}

// TestEqualStartsAtOnce: the second one finds the conversation of the first, and needs no money of its own.
func TestEqualStartsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine, _ := stage.Engine(labelled("", nil))
		engine.Store = &store.Memory{}
		goOn := make(chan struct{})
		c, same := slowly(t, engine, 3*debate.USD/2, goOn), body(t, bounded("same", debate.USD))
		first, second := waits(c, "conversations", same), waits(c, "conversations", same)
		close(goOn)
		assert.Equal(t, []int{http.StatusCreated, http.StatusOK}, []int{<-first, <-second})
	})
}

// TestAForkReservesWhatWillBeInForce: an edit of any limit takes back the whole budget that was amended.
func TestAForkReservesWhatWillBeInForce(t *testing.T) {
	engine, _ := stage.Engine(labelled("", nil))
	engine.Store = &store.Memory{}
	c := handler(t, engine, web.Options{
		Authorize: anybody, Start: engine.Submit, Quota: func(map[string]string) flow.Money { return 60 * debate.USD },
	})
	c.post("conversations", body(t, bounded("one", 50*debate.USD)), http.StatusCreated)
	amended := c.post("conversations/one/amend", `{"budget":{"soft":5,"hard":5}}`, http.StatusAccepted)
	c.post("conversations", body(t, bounded("two", 50*debate.USD)), http.StatusCreated)
	for _, seq := range []any{0, amended["seq"]} {
		sent := fmt.Sprintf(`{"seq":%v,"config":{"budget":{"soft":9}}}`, seq)
		p := problemOf(t, c.ask(http.MethodPost, "conversations/one/fork", sent))
		assert.Equal(t, http.StatusPaymentRequired, p.Status, sent)
	}
	forked := c.post("conversations/one/fork", fmt.Sprintf(`{"seq":%v}`, amended["seq"]), http.StatusCreated)
	id, _ := forked["id"].(string)
	info, err := store.InfoOf(t.Context(), engine.Store, id)
	require.NoError(t, err)
	assert.Equal(t, 5*debate.USD, info.Limit)
}

// TestWhatHasCostSomethingStaysCounted: with a quota, nobody gets money back by a deletion. What has cost nothing can be deleted.
func TestWhatHasCostSomethingStaysCounted(t *testing.T) {
	first, _ := stage.Engine(labelled("", nil))
	first.Store = &store.Memory{}
	over := stage.Run(t, first, bounded("over", debate.USD))
	require.Positive(t, over.Spent().Cost)
	require.NoError(t, first.Shutdown(t.Context()))
	engine := stage.Twin(first)
	c := handler(t, engine, web.Options{
		Authorize: anybody, Start: engine.Submit, Quota: func(map[string]string) flow.Money { return 3 * debate.USD },
	})
	p := problemOf(t, c.ask(http.MethodDelete, "conversations/over", ""))
	assert.Equal(t, http.StatusConflict, p.Status)
	assert.Contains(t, p.Detail, "has cost up to "+over.Spent().Cost.Rounded())
	var sum struct{ Most debate.Money }
	c.get("sum", &sum)
	assert.Equal(t, over.Spent().Cost, sum.Most)
	c.post("conversations", body(t, bounded("new", debate.USD)), http.StatusCreated)
	c.post("conversations/over/fork", fmt.Sprintf(`{"id":"fork","seq":%d}`, over.Seq-1), http.StatusCreated)
	for _, id := range []string{"new", "fork"} {
		assert.Equal(t, http.StatusNoContent, c.ask(http.MethodDelete, "conversations/"+id, "").Code, id)
	}
	unbounded := handler(t, engine, web.Options{Authorize: anybody})
	assert.Equal(t, http.StatusNoContent, unbounded.ask(http.MethodDelete, "conversations/over", "").Code)
}

// TestAnImportCountsWhole: whatever its log says that it has copied. Nobody here has paid for that.
func TestAnImportCountsWhole(t *testing.T) {
	engine, _ := stage.Engine(labelled("", nil))
	engine.Store = &store.Memory{}
	log := func(id string, hard debate.Money) string {
		_, err := engine.Submit(t.Context(), bounded(id, hard))
		require.NoError(t, err)
		const begins, copied = `"kind":"start","body":{`, `"parent":{"id":"p","seq":1,"spent":{"usage":{},"cost":1000,"requests":1}},`
		out := strings.Replace(string(stage.Exported(t, engine, id)), begins, begins+copied, 1)
		require.Contains(t, out, copied)
		return out
	}
	away := stage.Twin(engine)
	away.Store = &store.Memory{}
	c := handler(t, away, web.Options{
		Authorize: anybody, Quota: func(map[string]string) flow.Money { return 5 * debate.USD },
		Policy: func(_ *http.Request, _ string, c flow.Config) (flow.Config, error) { return c, nil },
	})
	one := log("one", 2*debate.USD)
	c.post("import", one, http.StatusCreated)
	c.post("import", one, http.StatusOK) // it is the same log still
	assert.Equal(t, http.StatusPaymentRequired, problemOf(t, c.ask(http.MethodPost, "import", log("two", 4*debate.USD))).Status)
	var sum struct{ Most, Remains float64 }
	c.get("sum", &sum)
	assert.Equal(t, []float64{2, 3}, []float64{sum.Most, sum.Remains})
}

// TestAForkUnderTheIDOfItsParent: it is refused, also where the flow's copies of configs keep the id. The engine draws another there.
func TestAForkUnderTheIDOfItsParent(t *testing.T) {
	engine, _ := stage.Engine(labelled("", nil))
	plain := stage.Notes()
	whole, err := plain.Normalize(new(bounded("", 5*debate.USD)))
	require.NoError(t, err)
	config, err := flow.ConfigAs[debate.Config](whole)
	require.NoError(t, err)
	config.ID, plain.Normalize = "one", nil
	engine.Store, engine.Flows = &store.Memory{}, map[string]*debate.Flow{plain.Name: plain}
	_, err = engine.Submit(t.Context(), flow.Named(plain.Name, config))
	require.NoError(t, err)
	c := handler(t, engine, web.Options{
		Authorize: anybody, Start: engine.Submit, Quota: func(map[string]string) flow.Money { return 6 * debate.USD },
	})
	for _, sent := range []string{`{"seq":0,"id":"one"}`, `{"seq":1,"id":"one"}`} {
		p := problemOf(t, c.ask(http.MethodPost, "conversations/one/fork", sent))
		assert.Equal(t, []any{http.StatusConflict, "id"}, []any{p.Status, p.Field}, sent)
	}
	sum, n := costs(t, engine.Store)
	assert.Equal(t, []any{5 * debate.USD, 1}, []any{sum, n})
}
