package debate_test

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
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
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// company is several engines on one store, each a process of its own. What they ask is answered alike,
// and counted.
type company struct {
	t      *testing.T
	config debate.Config
	store  *store.Memory
	reply  func(*provider.Request) scripted.Reply
	reader *debate.Engine // of what is stored
	want   string         // the canonical record of the debate if nothing happens to it

	apart bool                          // nothing in memory is shared: events travel as JSON
	saved func(*member, []debate.Event) // is told of what is appended; nil: nobody is
	asks  func(string)                  // is told of each attempt that is made, by its request's id; nil: nobody is

	mu     sync.Mutex
	holder *member        // who was the last to take a lease
	asked  map[string]int // how often each attempt of a call was made, by the request's id
}

// newCompany makes a company whose replies take a second, in ten chunks.
func newCompany(t *testing.T, config debate.Config) *company {
	t.Helper()
	_, p := engineFor(config)
	slowly(p)
	c := &company{t: t, config: config, store: &store.Memory{}, reply: p.Reply, asked: make(map[string]int)}
	c.reader = &debate.Engine{Store: c.store}
	return c
}

// inCompany runs a test of a company on a clock of its own: once with stores that watch, once with stores
// that are looked at now and then.
func inCompany(t *testing.T, config debate.Config, test func(t *testing.T, c *company, join func() *member)) {
	t.Helper()
	for name, blind := range map[string]bool{"watching": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCompany(t, config)
				test(t, c, func() *member { return c.member(blind) })
			})
		})
	}
}

// failing makes the attempts at a call fail until the returned function is called. The call is named by
// the end of its id.
func (c *company) failing(call string, failure *provider.Error) (mend func()) {
	return c.until(func(req *provider.Request, r *scripted.Reply) {
		if id, _ := lastCut(req.ID); strings.HasSuffix(id, call) {
			r.Err, r.AfterChunks = failure, 0
		}
	})
}

// slow makes somebody's replies take so much longer, until the returned function is called.
func (c *company) slow(who string, by time.Duration) (hurry func()) {
	return c.until(func(req *provider.Request, r *scripted.Reply) {
		if req.Self == who {
			r.Delay += by
		}
	})
}

// until changes replies until the returned function is called.
func (c *company) until(change func(*provider.Request, *scripted.Reply)) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply, on := c.reply, new(atomic.Bool)
	on.Store(true)
	c.reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if on.Load() {
			change(req, &r)
		}
		return r
	}
	return func() { on.Store(false) }
}

// repeated yields the attempts that were made more than once.
func (c *company) repeated() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var ids []string
	for id, n := range c.asked {
		if n > 1 {
			ids = append(ids, id)
		}
	}
	return ids
}

// calls is how many attempts were made.
func (c *company) calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, times := range c.asked {
		n += times
	}
	return n
}

// owner is who holds a debate; "": nobody.
func (c *company) owner(id string) (owner string) {
	c.t.Helper()
	for info, err := range c.store.List(c.t.Context(), debate.Filter{}) {
		require.NoError(c.t, err)
		if info.ID == id {
			owner = info.Owner
		}
	}
	return owner
}

// leased checks that calls are begun by nobody but who has the lease. It is for a company of one debate.
func (c *company) leased(m *member, events []debate.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range events {
		if in := as[flow.Intent](events[i]); in != nil {
			assert.Same(c.t, m, c.holder, "%s is begun by somebody else", in.Call)
			for info, err := range c.store.List(context.Background(), debate.Filter{}) {
				assert.NoError(c.t, err)
				assert.NotEmpty(c.t, info.Owner, "%s is begun without a lease", in.Call)
			}
		}
	}
}

// log is what is stored of a debate.
func (c *company) log(id string) (events []debate.Event) {
	c.t.Helper()
	for event, err := range c.store.Read(c.t.Context(), id, 0) {
		if errors.Is(err, debate.ErrNotFound) {
			return nil // it has not begun
		}
		require.NoError(c.t, err)
		events = append(events, event)
	}
	return readBodies(events)
}

// record is the fold of what is stored.
func (c *company) record(id string) *debate.Record {
	c.t.Helper()
	record, err := c.reader.Record(c.t.Context(), id)
	require.NoError(c.t, err)
	return record
}

// finished checks that a debate came to the end that it would have had undisturbed, that every result is
// recorded once, and that no attempt was made twice.
func (c *company) finished(id string) {
	c.t.Helper()
	record := c.record(id)
	if c.want == "" {
		c.want = undisturbed(c.t, c.config)
	}
	assert.Equal(c.t, c.want, canonical(c.t, record))
	assert.Zero(c.t, record.InFlight())
	assert.Zero(c.t, record.Reserved())
	assert.Empty(c.t, c.repeated(), "no attempt is made twice")
	assert.Empty(c.t, doubles(c.log(id)))
}

// doubles yields the attempts of a log that have more than one result, or none.
func doubles(log []debate.Event) (odd []string) {
	open := make(map[string]bool)
	for i := range log {
		e := &log[i]
		if in := as[flow.Intent](*e); in != nil {
			open[in.Call] = true
		}
		if q := as[flow.Inquiry](*e); q != nil && q.About == "" {
			continue
		}
		if spend := flow.SpendOf(e.Body); spend != nil {
			if !open[spend.Call] {
				odd = append(odd, spend.Call)
			}
			delete(open, spend.Call)
		}
	}
	return append(odd, slices.Collect(maps.Keys(open))...)
}

// begin starts the company's debate with an engine, and closes its session after the test.
func (m *member) begin() *debate.Session {
	m.company.t.Helper()
	session, err := m.Start(m.company.t.Context(), inFlow(m.Engine, m.company.config))
	require.NoError(m.company.t, err)
	m.company.t.Cleanup(func() { _ = session.Close() })
	return session
}

// open opens a debate with an engine, and closes its session after the test.
func (m *member) open(id string) *debate.Session {
	m.company.t.Helper()
	session, err := m.Open(m.company.t.Context(), id)
	require.NoError(m.company.t, err)
	m.company.t.Cleanup(func() { _ = session.Close() })
	return session
}

// member is one engine of a company, with a way of its own to the store.
type member struct {
	*debate.Engine

	company *company
	way     atomic.Pointer[way]
	// heard is what becomes of the signs that a log has grown; nil: they are heard.
	heard func(ctx context.Context, grown <-chan struct{}) <-chan struct{}
	// half is after how many events a read breaks off; nil, or below 0: it does not.
	half func() int
	dead atomic.Bool
}

// way is what becomes of an operation of a store, which do does.
type way func(ctx context.Context, op string, do func() error) error

// goes sets what becomes of the engine's operations from now on.
func (m *member) goes(w way) { m.way.Store(&w) }

// member makes an engine. Its store can watch, unless it is blind.
func (c *company) member(blind ...bool) *member {
	engine, _ := engineFor(c.config)
	m := &member{Engine: engine, company: c}
	m.Providers = maps.Clone(engine.Providers)
	m.Providers["test"] = m
	m.Store = watching{path{m}}
	if len(blind) > 0 && blind[0] {
		m.Store = path{m}
	}
	return m
}

// die ends the process, as far as others can tell: nothing that it does has an effect any more.
func (m *member) die() { m.dead.Store(true) }

// Generate implements [provider.Provider].
func (m *member) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	c := m.company
	c.mu.Lock()
	reply := c.reply
	if !m.dead.Load() {
		c.asked[req.ID]++
	}
	c.mu.Unlock()
	if c.asks != nil && !m.dead.Load() {
		c.asks(req.ID)
	}
	p := scripted.Provider{Reply: reply}
	return p.Generate(ctx, req, emit)
}

// path is the way of an engine to the company's store.
type path struct{ m *member }

// watching is one on which changes are heard of.
type watching struct{ path }

var errDead = errors.New("this process is gone")

func (p path) do(ctx context.Context, op string, do func() error) error {
	if p.m.dead.Load() {
		return errDead
	}
	if w := p.m.way.Load(); w != nil {
		return (*w)(ctx, op, do)
	}
	return do()
}

func (p path) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	if p.m.company.apart {
		events = throughJSON(p.m.company.t, events)
	}
	return p.do(ctx, "append", func() error {
		err := p.m.company.store.Append(ctx, id, after, writer, events)
		if err == nil && p.m.company.saved != nil {
			p.m.company.saved(p.m, events)
		}
		return err
	})
}

func (p path) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	return func(yield func(debate.Event, error) bool) {
		if err := p.do(ctx, "read", func() error { return nil }); err != nil {
			yield(debate.Event{}, err)
			return
		}
		left := -1
		if p.m.half != nil {
			left = p.m.half()
		}
		for event, err := range p.m.company.store.Read(ctx, id, after) {
			if left--; left == -1 {
				event, err = debate.Event{}, errBroken
			}
			if !yield(event, err) || err != nil {
				return
			}
		}
	}
}

func (p path) List(ctx context.Context, filter debate.Filter) iter.Seq2[debate.Info, error] {
	return p.m.company.store.List(ctx, filter)
}

func (p path) Delete(ctx context.Context, id string) error {
	return p.do(ctx, "delete", func() error { return p.m.company.store.Delete(ctx, id) })
}

func (p path) Lease(ctx context.Context, id, owner string, d time.Duration) error {
	return p.do(ctx, "lease", func() error {
		err := p.m.company.store.Lease(ctx, id, owner, d)
		if err == nil {
			p.m.company.mu.Lock()
			defer p.m.company.mu.Unlock()
			p.m.company.holder = p.m
		}
		return err
	})
}

func (p path) Release(ctx context.Context, id, owner string) error {
	return p.do(ctx, "release", func() error { return p.m.company.store.Release(ctx, id, owner) })
}

func (w watching) Watch(ctx context.Context, id string) <-chan struct{} {
	grown := w.m.company.store.Watch(ctx, id)
	if w.m.heard == nil {
		return grown
	}
	return w.m.heard(ctx, grown)
}
