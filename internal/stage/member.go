package stage

import (
	"context"
	"maps"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Member is one engine of a company, with its own way to the store.
type Member struct {
	*debate.Engine

	Company *Company
	way     atomic.Pointer[Way]
	// Heard changes the signals that a log has grown; may be nil.
	Heard func(ctx context.Context, grown <-chan struct{}) <-chan struct{}
	// Half returns after how many events a read breaks off, or -1; may be nil.
	Half func() int
	dead atomic.Bool
}

// Way decides what happens to an operation of a store: "append", "read", "delete", "lease" or "release". The function do
// performs it.
type Way func(ctx context.Context, op string, do func() error) error

// Goes sets the way of the engine's operations from now on.
func (m *Member) Goes(w Way) { m.way.Store(&w) }

// Member adds an engine to the company. Its store can be watched unless it is blind.
func (c *Company) Member(blind ...bool) *Member {
	engine, _ := Engine(c.Config)
	m := &Member{Engine: engine, Company: c}
	m.Providers = maps.Clone(engine.Providers)
	m.Providers["test"] = m
	m.Store = watching{path{m}}
	if len(blind) > 0 && blind[0] {
		m.Store = path{m}
	}
	return m
}

// Begun starts the company's debate and returns its session, which is closed after the test.
func (m *Member) Begun() *debate.Session {
	m.Company.T.Helper()
	session, err := m.Start(m.Company.T.Context(), InFlow(m.Engine, m.Company.Config))
	require.NoError(m.Company.T, err)
	m.Company.T.Cleanup(func() { _ = session.Close() })
	return session
}

// Opened opens a debate and returns its session, which is closed after the test.
func (m *Member) Opened(id string) *debate.Session {
	m.Company.T.Helper()
	session, err := m.Open(m.Company.T.Context(), id)
	require.NoError(m.Company.T, err)
	m.Company.T.Cleanup(func() { _ = session.Close() })
	return session
}

// Die ends the process as others see it: nothing that it does has an effect any more.
func (m *Member) Die() { m.dead.Store(true) }

// Generate implements [provider.Provider].
func (m *Member) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	c := m.Company
	c.mu.Lock()
	reply := c.Reply
	if !m.dead.Load() {
		c.asked[req.ID]++
	}
	c.mu.Unlock()
	if c.Asks != nil && !m.dead.Load() {
		c.Asks(req.ID)
	}
	p := scripted.Provider{Reply: reply}
	return p.Generate(ctx, req, emit)
}
