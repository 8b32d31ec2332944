package stage

import (
	"context"
	"errors"
	"log/slog"
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
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Company is several engines on one store, each a process of its own. All get the same replies, and the company counts
// the attempts. The fields are set before the first engine works.
type Company struct {
	T      *testing.T
	Config debate.Config
	Store  *store.Memory
	Reply  func(*provider.Request) scripted.Reply
	Reader *debate.Engine // reads what is stored
	Want   string         // the canonical record of the undisturbed debate; Finished fills it

	Apart bool                          // nothing in memory is shared: events travel as JSON
	Saved func(*Member, []debate.Event) // is called after each append; may be nil
	Asks  func(string)                  // is called with the id of each request; may be nil

	mu     sync.Mutex
	holder *Member        // acquired the last lease
	asked  map[string]int // how often each attempt was made, by the request's id
}

// NewCompany returns a company whose replies take a second, in ten chunks.
func NewCompany(t *testing.T, config debate.Config) *Company {
	t.Helper()
	_, p := Engine(config)
	Slowly(p)
	c := &Company{T: t, Config: config, Store: &store.Memory{}, Reply: p.Reply, asked: make(map[string]int)}
	c.Reader = &debate.Engine{Store: c.Store, Logger: slog.New(slog.DiscardHandler)}
	return c
}

// InCompany runs a test of a company on a clock of its own: once with stores that can be watched, once with stores that
// the engines poll.
func InCompany(t *testing.T, config debate.Config, test func(t *testing.T, c *Company, join func() *Member)) {
	t.Helper()
	for name, blind := range map[string]bool{"watching": false, "polling": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := NewCompany(t, config)
				test(t, c, func() *Member { return c.Member(blind) })
			})
		})
	}
}

// Failing makes the attempts at a call fail until the caller calls mend. The end of its id names the call.
func (c *Company) Failing(call string, failure *provider.Error) (mend func()) {
	return c.Until(func(req *provider.Request, r *scripted.Reply) {
		if id, _ := CutAttempt(req.ID); strings.HasSuffix(id, call) {
			r.Err, r.AfterChunks = failure, 0
		}
	})
}

// Slow makes the replies of one participant take longer until the caller calls hurry.
func (c *Company) Slow(who string, by time.Duration) (hurry func()) {
	return c.Until(func(req *provider.Request, r *scripted.Reply) {
		if req.Self == who {
			r.Delay += by
		}
	})
}

// Until changes replies until the caller calls end.
func (c *Company) Until(change func(*provider.Request, *scripted.Reply)) (end func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	reply, on := c.Reply, new(atomic.Bool)
	on.Store(true)
	c.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if on.Load() {
			change(req, &r)
		}
		return r
	}
	return func() { on.Store(false) }
}

// Repeated returns the ids of the attempts that were made more than once.
func (c *Company) Repeated() []string {
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

// Calls returns how many attempts were made.
func (c *Company) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := 0
	for _, times := range c.asked {
		n += times
	}
	return n
}

// Owner returns the holder of a debate's lease, or "".
func (c *Company) Owner(id string) (owner string) {
	c.T.Helper()
	for info, err := range c.Store.List(c.T.Context(), debate.Filter{}) {
		require.NoError(c.T, err)
		if info.ID == id {
			owner = info.Owner
		}
	}
	return owner
}

// Leased checks that only the holder of the lease begins calls. It is for a company of one debate.
func (c *Company) Leased(m *Member, events []debate.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range events {
		if in := body.As[flow.Intent](events[i]); in != nil {
			assert.Same(c.T, m, c.holder, "%s is begun by somebody else", in.Call)
			for info, err := range c.Store.List(context.Background(), debate.Filter{}) {
				assert.NoError(c.T, err)
				assert.NotEmpty(c.T, info.Owner, "%s is begun without a lease", in.Call)
			}
		}
	}
}

// Log returns the stored events of a debate, none if it has not begun.
func (c *Company) Log(id string) (events []debate.Event) {
	c.T.Helper()
	for event, err := range c.Store.Read(c.T.Context(), id, 0) {
		if errors.Is(err, debate.ErrNotFound) {
			return nil // it has not begun
		}
		require.NoError(c.T, err)
		events = append(events, event)
	}
	return ReadBodies(events)
}

// Record returns the fold of the stored events.
func (c *Company) Record(id string) *debate.Record {
	c.T.Helper()
	record, err := c.Reader.Record(c.T.Context(), id)
	require.NoError(c.T, err)
	return record
}

// Finished checks that a debate has ended as it does undisturbed, that every result is recorded once, and that no attempt
// was made twice.
func (c *Company) Finished(id string) {
	c.T.Helper()
	record := c.Record(id)
	if c.Want == "" {
		c.Want = Undisturbed(c.T, c.Config)
	}
	assert.Equal(c.T, c.Want, Canonical(c.T, record))
	assert.Zero(c.T, record.InFlight())
	assert.Zero(c.T, record.Reserved())
	assert.Empty(c.T, c.Repeated(), "no attempt is made twice")
	assert.Empty(c.T, Doubles(c.Log(id)))
}

// Doubles returns the calls of a log that have more than one result, or none.
func Doubles(log []debate.Event) (odd []string) {
	open := make(map[string]bool)
	for i := range log {
		e := &log[i]
		if in := body.As[flow.Intent](*e); in != nil {
			open[in.Call] = true
		}
		if q := body.As[flow.Inquiry](*e); q != nil && len(q.Options) == 0 {
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
