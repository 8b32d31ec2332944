package session_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

var takeoverSeeds = flag.Uint64("takeover.seeds", uint64(120/longform.Fewer()), "how many seeds TestTakeovers plays")

// TestTakeovers plays each seed's debate by three engines that all want to go on with it. A lease is much
// shorter than a call, and now and then an engine cannot renew its own, is cut off from the store, or
// stands still: so that others take over from one that goes on all the same.
func TestTakeovers(t *testing.T) {
	t.Parallel()
	var seen rush
	for seed := range *takeoverSeeds {
		synctest.Test(t, func(t *testing.T) { seen.add(takeovers(t, seed)) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("double advances %d over %d takeovers, in %d debates with %d lost calls", seen.doubles, seen.takeovers, *takeoverSeeds, seen.lost)
	assert.Zero(t, seen.doubles)
	assert.Greater(t, seen.takeovers, int(*takeoverSeeds), "the debates are no longer taken over")
	assert.Positive(t, seen.lost)
}

// rush counts what happened to debates.
type rush struct{ takeovers, doubles, lost int }

func (r *rush) add(s rush) {
	r.takeovers, r.doubles, r.lost = r.takeovers+s.takeovers, r.doubles+s.doubles, r.lost+s.lost
}

const shortLease = 120 * time.Millisecond

// takeovers plays one seed.
func takeovers(t *testing.T, seed uint64) (seen rush) {
	chance := stage.NewDice(rand.New(rand.NewPCG(seed, 3)))
	config := []func() debate.Config{stage.TwoDebaters, stage.Simultaneous}[seed%2]()
	config.ID = fmt.Sprintf("taken-%d", seed)
	c := stage.NewCompany(t, config)
	_, p := stage.Engine(config)
	c.Reply = func(req *provider.Request) scripted.Reply {
		r := p.Reply(req)
		r.Delay = 100*time.Millisecond + chance.UpTo(400*time.Millisecond)
		return r
	}
	hands := &hands{store: c.Store}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var group sync.WaitGroup
	for i := range 3 {
		m := c.Member(chance.Below(2) == 0)
		m.Lease = shortLease
		m.Goes((&trouble{chance: chance}).way)
		m.Store = hands.of(m.Store)
		group.Go(func() {
			if i == 0 {
				for start(ctx, m) != nil { // whatever the store says
					stage.Pass(shortLease)
				}
			}
			work(ctx, m, chance)
		})
	}
	group.Wait()
	require.NoError(t, ctx.Err(), "seed %d: the debate does not end", seed)
	stage.Pass(time.Second)
	c.Finished(config.ID)
	seen.takeovers, seen.doubles = hands.takeovers, len(c.Repeated())+len(stage.Doubles(c.Log(config.ID)))
	for _, e := range c.Log(config.ID) {
		if body.As[flow.Failure](e) != nil && body.As[flow.Failure](e).Void && body.As[flow.Failure](e).Error.Kind == provider.KindNetwork {
			seen.lost++
		}
	}
	return seen
}

func start(ctx context.Context, m *stage.Member) error {
	_, err := m.Start(ctx, m.Company.Config)
	return err
}

// work opens the debate whenever it can, until it is over.
func work(ctx context.Context, m *stage.Member, chance *stage.Dice) {
	id := m.Company.Config.ID
	for ctx.Err() == nil {
		s, err := m.Open(ctx, id)
		if err != nil {
			stage.Pass(chance.UpTo(2 * shortLease))
			continue
		}
		some, cancel := context.WithTimeout(ctx, chance.UpTo(2*time.Second))
		_, err = s.Wait(some)
		cancel()
		if err == nil {
			_ = s.Close()
			return
		}
		switch chance.Below(6) {
		case 0:
			_ = s.Close()
		case 1:
			_ = m.Control(ctx, id, flow.Pause{Drain: chance.Below(2) == 0})
		default:
		}
		if s.State() == flow.StatePaused {
			_ = m.Control(ctx, id, flow.Resume{})
		}
	}
}

// trouble is what an engine has with its store: it comes and goes.
type trouble struct {
	chance *stage.Dice

	mu    sync.Mutex
	kind  int
	until time.Time
}

// The kinds of trouble.
const (
	noTrouble  = iota
	noLease    // a lease cannot be taken or renewed
	lostLease  // it is taken, but nobody is told
	slowLease  // it takes longer than it lasts
	standstill // whatever is done takes longer than a lease
	cutOff     // nothing can be done
)

// now yields the present trouble.
func (f *trouble) now() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if time.Now().After(f.until) {
		if f.kind == noTrouble {
			f.kind, f.until = 1+f.chance.Below(cutOff), time.Now().Add(f.chance.UpTo(4*shortLease))
		} else {
			f.kind, f.until = noTrouble, time.Now().Add(f.chance.UpTo(12*shortLease))
		}
	}
	return f.kind
}

func (f *trouble) way(_ context.Context, op string, do func() error) error {
	kind := f.now()
	switch {
	case kind == cutOff, kind == noLease && op == "lease":
		return stage.ErrBroken
	case kind == lostLease && op == "lease":
		_ = do()
		return stage.ErrBroken
	case kind == standstill, kind == slowLease && op == "lease":
		stage.Pass(f.chance.UpTo(2 * shortLease)) // whatever its context says
	default:
	}
	return do()
}

// hands counts how often a debate changes hands that nobody has given back.
type hands struct {
	store     *store.Memory
	mu        sync.Mutex
	owner     string
	takeovers int
}

// of lets a store's leases be counted.
func (h *hands) of(s debate.Store) debate.Store {
	if w, ok := s.(store.Watcher); ok {
		return struct {
			counted
			store.Watcher
		}{counted{s, h}, w}
	}
	return counted{s, h}
}

type counted struct {
	debate.Store
	hands *hands
}

func (c counted) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	err := c.Store.Lease(ctx, id, owner, d)
	if err == nil {
		c.hands.mu.Lock()
		defer c.hands.mu.Unlock()
		if c.hands.owner != "" && c.hands.owner != owner {
			c.hands.takeovers++
		}
		c.hands.owner = owner
	}
	return err
}

func (c counted) Release(ctx context.Context, id, owner string) error {
	err := c.Store.Release(ctx, id, owner)
	if err == nil {
		c.hands.mu.Lock()
		defer c.hands.mu.Unlock()
		if c.hands.owner == owner {
			c.hands.owner = ""
		}
	}
	return err
}

// Of several calls that a dead process has left the first is given up, and somebody else's control comes
// between: the others are not the new holder's own, and are given up too.
func TestAControlComesBetweenATakeover(t *testing.T) {
	stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		a, b, other := join(), join(), join()
		first := a.Begun()
		stage.Pass(500 * time.Millisecond)
		a.Die()
		stage.Pass(stage.LeaseTime)
		once := sync.OnceFunc(func() {
			assert.NoError(t, other.Control(t.Context(), first.ID(), flow.Pause{Drain: true}))
		})
		b.Goes(func(_ context.Context, op string, do func() error) error {
			if op == "append" {
				once()
			}
			return do()
		})
		second := b.Opened(first.ID())
		stage.Pass(2 * time.Second)
		assert.Equal(t, flow.StatePaused, second.State())
		assert.Zero(t, c.Record(first.ID()).InFlight())
		assert.Equal(t, 2, c.Calls(), "nothing is asked in a pause")
		require.NoError(t, second.Resume(t.Context()))
		stage.Ended(t, second)
		c.Finished(first.ID())
	})
}

// A holder cannot renew its lease for a while. Somebody else takes over, begins calls and is gone. Then
// the first one can renew it: the calls that the second has begun are not its own.
func TestAHolderComesBack(t *testing.T) {
	for name, long := range map[string]time.Duration{"with a result": 41 * time.Second, "with a look at the log": time.Hour} {
		t.Run(name, func(t *testing.T) {
			stage.InCompany(t, stage.Simultaneous(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
				hurry := c.Slow("Ada", long)
				a, b := join(), join()
				var cut atomic.Bool
				a.Goes(func(_ context.Context, op string, do func() error) error {
					if op == "lease" && cut.Load() {
						return stage.ErrBroken
					}
					return do()
				})
				first := a.Begun()
				stage.Pass(2500 * time.Millisecond) // Ben has spoken, Ada speaks
				cut.Store(true)
				stage.Pass(stage.LeaseTime + 2*time.Second)
				b.Opened(first.ID())
				stage.Pass(500 * time.Millisecond)
				hurry()
				b.Die()
				stage.Pass(stage.LeaseTime + 500*time.Millisecond)
				cut.Store(false)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_, err := first.Wait(ctx)
				if errors.Is(err, debate.ErrLeased) { // it may as well let go
					_, err = join().Opened(first.ID()).Wait(ctx)
				}
				require.NoError(t, err)
				c.Finished(first.ID())
			})
		})
	}
}

// Calls are broken off by their round's time, and their provider takes long to hear of it. The session has
// given its lease back meanwhile, and another engine goes on: what comes home late begins nothing.
func TestACallComesHomeLate(t *testing.T) {
	config := stage.TwoDebaters()
	config.RoundTimeout = 10 * time.Second
	stage.Pausing(&config, 5*time.Second)
	stage.InCompany(t, config, func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		hurry, hurryToo := c.Slow("Ada", 18500*time.Millisecond), c.Slow("Ben", 20*time.Second) // home at 19.5 and 28.5
		a, b := join(), join()
		a.Providers["test"], a.Grace = stubborn{a}, time.Minute
		began := time.Now()
		b.Goes(func(_ context.Context, op string, do func() error) error {
			if at := time.Since(began); op == "append" && at >= 19*time.Second && at < 19500*time.Millisecond {
				stage.Pass(time.Second) // the second round is about to begin
			}
			return do()
		})
		first := a.Begun()
		_, err := first.Wait(t.Context())
		stage.RequireKind(t, err, provider.KindTimeout)
		hurry()
		hurryToo()
		stage.Pass(time.Second)
		second := b.Opened(first.ID())
		require.NoError(t, second.Retry(t.Context()))
		stage.Pass(20 * time.Second)
		stage.Ended(t, second)
		assert.Equal(t, 12, c.Calls(), "ten calls and the two that came home late")
		c.Finished(first.ID())
	})
}
