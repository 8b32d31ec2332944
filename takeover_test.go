package debate_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

var takeoverSeeds = flag.Uint64("takeover.seeds", 160/fewer, "how many seeds TestTakeovers plays")

// TestTakeovers plays each seed's debate by three engines that all want to go on with it. A lease is much
// shorter than a call, and now and then an engine cannot renew its own, is cut off from the store, or
// stands still: so that others take over from one that goes on all the same.
func TestTakeovers(t *testing.T) {
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

// drawn is a source of chance for several goroutines.
type drawn struct {
	mu   sync.Mutex
	dice *rand.Rand
}

func (d *drawn) below(n int) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dice.IntN(n)
}

func (d *drawn) upTo(most time.Duration) time.Duration { return time.Duration(d.below(int(most))) }

// takeovers plays one seed.
func takeovers(t *testing.T, seed uint64) (seen rush) {
	chance := &drawn{dice: rand.New(rand.NewPCG(seed, 3))}
	config := []func() debate.Config{twoDebaters, simultaneous}[seed%2]()
	config.ID = fmt.Sprintf("taken-%d", seed)
	c := newCompany(t, config)
	_, p := engineFor(config)
	c.reply = func(req *provider.Request) scripted.Reply {
		r := p.Reply(req)
		r.Delay = 100*time.Millisecond + chance.upTo(400*time.Millisecond)
		return r
	}
	hands := &hands{store: c.store}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var group sync.WaitGroup
	for i := range 3 {
		m := c.member(chance.below(2) == 0)
		m.Lease = shortLease
		m.way = (&trouble{chance: chance}).way
		m.Store = hands.of(m.Store)
		group.Go(func() {
			if i == 0 {
				for m.start(ctx) != nil { // whatever the store says
					pass(shortLease)
				}
			}
			m.work(ctx, chance)
		})
	}
	group.Wait()
	require.NoError(t, ctx.Err(), "seed %d: the debate does not end", seed)
	pass(time.Second)
	c.finished(config.ID)
	seen.takeovers, seen.doubles = hands.takeovers, len(c.repeated())+len(doubles(c.log(config.ID)))
	for _, e := range c.log(config.ID) {
		if e.Failure != nil && e.Failure.Void && e.Failure.Error.Kind == debate.KindNetwork {
			seen.lost++
		}
	}
	return seen
}

func (m *member) start(ctx context.Context) error {
	_, err := m.Start(ctx, m.company.config)
	return err
}

// work opens the debate whenever it can, until it is over.
func (m *member) work(ctx context.Context, chance *drawn) {
	id := m.company.config.ID
	for ctx.Err() == nil {
		s, err := m.Open(ctx, id)
		if err != nil {
			pass(chance.upTo(2 * shortLease))
			continue
		}
		some, cancel := context.WithTimeout(ctx, chance.upTo(2*time.Second))
		_, err = s.Wait(some)
		cancel()
		if err == nil {
			_ = s.Close()
			return
		}
		switch chance.below(6) {
		case 0:
			_ = s.Close()
		case 1:
			_ = m.Control(ctx, id, debate.Pause{Drain: chance.below(2) == 0})
		default:
		}
		if s.State() == debate.StatePaused {
			_ = m.Control(ctx, id, debate.Resume{})
		}
	}
}

// trouble is what an engine has with its store: it comes and goes.
type trouble struct {
	chance *drawn

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
			f.kind, f.until = 1+f.chance.below(cutOff), time.Now().Add(f.chance.upTo(4*shortLease))
		} else {
			f.kind, f.until = noTrouble, time.Now().Add(f.chance.upTo(12*shortLease))
		}
	}
	return f.kind
}

func (f *trouble) way(_ context.Context, op string, do func() error) error {
	kind := f.now()
	switch {
	case kind == cutOff, kind == noLease && op == "lease":
		return errBroken
	case kind == lostLease && op == "lease":
		_ = do()
		return errBroken
	case kind == standstill, kind == slowLease && op == "lease":
		pass(f.chance.upTo(2 * shortLease)) // whatever its context says
	default:
	}
	return do()
}

// hands counts how often a debate changes hands that nobody has given back.
type hands struct {
	store     *debate.MemoryStore
	mu        sync.Mutex
	owner     string
	takeovers int
}

// of lets a store's leases be counted.
func (h *hands) of(store debate.Store) debate.Store {
	if w, ok := store.(debate.Watcher); ok {
		return struct {
			counted
			debate.Watcher
		}{counted{store, h}, w}
	}
	return counted{store, h}
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
