package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/callctx"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// minChunkInterval is the least time between two chunks of one reader. Waking a reader costs the speaker more
// than a chunk does, and nobody sees a fifth of a millisecond.
const minChunkInterval = 200 * time.Microsecond

// DefaultGrace is how long a call may run after its context has ended, unless the engine sets another time. A request
// over a network is broken off within milliseconds.
const DefaultGrace = 5 * time.Second

// HostConfig is what an engine gives its host. The functions may be called concurrently.
type HostConfig struct {
	Store      store.Store
	Lease      time.Duration // how long a lease lasts, and how long a store may fail; 0: defaultLease
	Grace      time.Duration // how long a call may run after its context has ended; 0: DefaultGrace
	Interval   time.Duration // the least time between two chunks of one reader; minChunkInterval if less
	CacheBytes int64         // how many bytes of folded logs Advance keeps; 0: defaultFolded
	Bus        bus.Bus       // carries chunks between processes; nil: they stay in this one
	Owner      string        // the name under which leases are held; no other host has it, nor what stands behind its last '-'

	// NewCore makes the core of a stored conversation from its events.
	NewCore func(id string, events []flow.Event) (*flow.Core, error)
	// Bound sets the deadline of a call's context, before the context is used.
	Bound func(call *callctx.Context, c *flow.Command)
	// Perform makes a call in a context that bound has set. Right before the call is made, launch returns whether it
	// still may be. emit gets the text as it arrives. The error means that the engine lacks what the command names; any
	// other failure is a signal.
	Perform func(call *callctx.Context, c *flow.Command, launch func() error, emit func(provider.Chunk)) (flow.Signal, error)
	// GaveUp is called when a call is given up that has ignored the end of its context, Returned if it returns later.
	GaveUp, Returned func(c *flow.Command)
	// GaveUpStore is called when a session is closed without the store, which has ignored the end of its context,
	// StoreReturned if it returns later.
	GaveUpStore, StoreReturned func(id string)
	// Same reports how the config of a stored conversation differs from a given one: an error of kind conflict.
	Same func(stored, given *flow.Record) error
	// Quarantined is called when a conversation could not be opened and is left alone for a while.
	Quarantined func(id string, q store.Quarantine)
	// Log writes lines about events that are saved.
	Log func(id string, events []flow.Event)
	// Facade makes what the engine hands out for a session. It is called once for each session.
	Facade func(s *Session) any
}

// Host is what the sessions of one engine share: the store, the leases, and the list of open conversations. It is safe
// for concurrent use.
type Host struct {
	HostConfig

	Counts Counts

	writers atomic.Int64 // counts the tokens for the store
	crew    crew
	clock   clock
	shunned shunned
	cores   *cores
	looks   looks
	relay   *relay // nil: there is no bus
	checks  gate   // of quotations in answers to conversations that are not open here

	mu       sync.Mutex
	sessions map[string]*Session        // the open conversations, by id
	opening  map[string]chan struct{}   // conversations that are being opened; closed when that has ended
	holders  map[*Session]struct{}      // sessions that may have a lease
	awaiting map[string][]chan struct{} // readers that get a value when a session of that conversation is open
	shut     bool                       // no session is opened any more
	aborts   bool                       // nor is one kept that is being opened, to finish the calls that it has begun
}

// NewHost makes a host that holds no conversation.
func NewHost(c HostConfig) *Host {
	c.Lease = cmp.Or(c.Lease, defaultLease)
	c.Grace = cmp.Or(c.Grace, DefaultGrace)
	c.Interval = max(c.Interval, minChunkInterval)
	watcher, _ := c.Store.(store.Watcher)
	return &Host{
		HostConfig: c, cores: newCores(cmp.Or(c.CacheBytes, defaultFolded)), relay: newRelay(c.Bus), checks: newGate(),
		looks:    looks{grace: c.Grace, watcher: watcher},
		sessions: make(map[string]*Session), opening: make(map[string]chan struct{}), holders: make(map[*Session]struct{}),
		awaiting: make(map[string][]chan struct{}),
	}
}

// Session returns the session of a conversation that is open in this host; nil: it is not open.
func (h *Host) Session(id string) *Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// unregister removes a session from the open conversations.
func (h *Host) unregister(s *Session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.ID] == s {
		delete(h.sessions, s.ID)
	}
}

// newWriter makes a token for the store that nobody else uses.
func (h *Host) newWriter() string {
	return h.Owner + "/" + strconv.FormatInt(h.writers.Add(1), 10)
}

// Load folds a stored log.
func (h *Host) Load(ctx context.Context, id string) (*flow.Core, error) {
	events, err := h.Read(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.NewCore(id, events)
}

// Record folds a stored log. If the conversation is open in this host, the record tells which calls wait for their turn.
func (h *Host) Record(ctx context.Context, id string) (*flow.Record, error) {
	if s := h.Session(id); s != nil {
		return s.fold(ctx)
	}
	core, err := h.Load(ctx, id)
	if err != nil {
		return nil, err
	}
	return core.Record(), nil
}

// Read returns a stored log. If the context expects another conversation under this id (flow.Expecting), there is none.
func (h *Host) Read(ctx context.Context, id string) ([]flow.Event, error) {
	var events []flow.Event
	for event, err := range h.Store.Read(ctx, id, 0) {
		if err != nil {
			return nil, StoreError("open", named(err, id))
		}
		if len(events) == 0 {
			if err := another("open", id, flow.ExpectedOf(ctx, id).StartedAt, event.At); err != nil {
				return nil, err
			}
		}
		events = append(events, event)
	}
	if len(events) == 0 {
		return nil, StoreError("open", named(flow.ErrNotFound, id))
	}
	return events, nil
}

// foldOn folds what a stored log has grown by since the core, and returns that. After an error of Fold the core is unusable.
func (h *Host) foldOn(ctx context.Context, id string, core *flow.Core) (grown []flow.Event, err error) {
	err = h.foldEach(ctx, id, core, func(_ *flow.Core, event flow.Event) error {
		grown = append(grown, event)
		return nil
	})
	return grown, err
}

// foldEach folds what a stored log has grown by since the core, and calls then with each event once that is folded. A nil core is
// made from the first event. If the log does not have the event that the core has folded last, the error is flow.ErrRewritten: the
// conversation was deleted, and another one has its id.
func (h *Host) foldEach(ctx context.Context, id string, core *flow.Core, then func(*flow.Core, flow.Event) error) error {
	var known flow.Event
	if core != nil {
		known.Seq, known.At = core.Record().Seq, core.Record().LastAt
	}
	found := core == nil
	for event, err := range h.Store.Read(ctx, id, max(known.Seq-1, 0)) {
		switch {
		case err != nil:
			return StoreError("read", named(err, id))
		case !found:
			if found = event.Seq == known.Seq && event.At.Equal(known.At); !found {
				return flow.ErrRewritten
			}
			continue
		case core == nil:
			core, err = h.NewCore(id, []flow.Event{event})
		default:
			err = core.Fold(event)
		}
		if err == nil {
			err = then(core, event)
		}
		if err != nil {
			return err
		}
	}
	if !found {
		return flow.ErrRewritten
	}
	return nil
}

// named adds the id to the error that there is no such conversation.
func named(err error, id string) error {
	if errors.Is(err, flow.ErrNotFound) {
		return fmt.Errorf("%w: %.64q", err, id)
	}
	return err
}

// Shutdown drains all sessions: their calls in flight finish, and no other call starts. It returns when nothing of them runs any
// more. Once ctx is done, it aborts the calls that are left, and waits for at most twice Grace. The error wraps that of ctx, and counts the
// conversations whose calls it has aborted, and those that are not closed yet. No session is opened from then on.
func (h *Host) Shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.shut = true
	h.mu.Unlock()
	h.endAll(ctx, func(s *Session) { _ = s.drainWithin(ctx, errShut) })
	late := ctx.Err()
	if late != nil {
		late = h.abortAll(late)
	}
	if h.relay != nil {
		h.relay.close(h.Grace)
	}
	return late
}

// endAll ends the open sessions, and waits for those that are being opened. It returns how many there were, or -1 if ctx was done
// while a session was being opened.
func (h *Host) endAll(ctx context.Context, end func(s *Session)) int {
	h.mu.Lock()
	opening := slices.Collect(maps.Values(h.opening))
	h.mu.Unlock()
	for _, opened := range opening {
		select {
		case <-opened:
		case <-ctx.Done():
			return -1
		}
	}
	h.mu.Lock()
	open := maps.Clone(h.holders)
	for _, s := range h.sessions {
		open[s] = struct{}{}
	}
	h.mu.Unlock()
	var all sync.WaitGroup
	for s := range open {
		all.Go(func() { end(s) })
	}
	all.Wait()
	return len(open)
}

// abortAll closes the sessions that a shutdown has not drained in time, for which late is the reason. Calls get Grace to end, and then
// so does the store.
func (h *Host) abortAll(late error) error {
	h.mu.Lock()
	h.aborts = true // endOpening refuses those that are being opened
	h.mu.Unlock()
	most := saturated(h.Grace, h.Grace)
	ctx, cancel := context.WithTimeout(context.Background(), most) // for those that are being opened
	defer cancel()
	var aborted, left atomic.Int64
	all := h.endAll(ctx, func(s *Session) {
		calls, closed := s.closeWithin(most, errShut)
		switch {
		case !closed:
			left.Add(1)
		case calls > 0:
			aborted.Add(1)
		}
	})
	switch {
	case all < 0:
		return fmt.Errorf("debate: shutdown: a conversation is still being opened: %w", late)
	case left.Load() > 0:
		return fmt.Errorf("debate: shutdown: %d of %d open conversations are not closed yet: %w", left.Load(), all, late)
	case aborted.Load() > 0:
		return fmt.Errorf("debate: shutdown: the calls of %d of %d open conversations were aborted: %w", aborted.Load(), all, late)
	default:
		return nil
	}
}

var (
	// errShut is the [flow.ErrClosed] of a host that was shut down.
	errShut error = shutError{"the engine is shut down: use another one"}
	// errLeft is that of a session whose worker ends.
	errLeft error = shutError{"the worker that has opened the conversation ends: open it again"}
)

type shutError struct{ says string }

func (e shutError) Error() string { return e.says }

func (shutError) Unwrap() error { return flow.ErrClosed }

// Refusal returns an error once Shutdown was called: this host neither opens nor starts a conversation any more.
func (h *Host) Refusal() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shut {
		return errShut
	}
	return nil
}

// StoreError adds to a store's error what was being done, and its kind.
func StoreError(op string, err error) error {
	switch {
	case errors.Is(err, flow.ErrConflict), errors.Is(err, flow.ErrLeased):
		return &flow.Error{Kind: provider.KindConflict, Op: op, Err: err}
	case errors.Is(err, flow.ErrNotFound):
		return &flow.Error{Kind: provider.KindValidation, Op: op, Field: "id", Err: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, new(*flow.Error)):
		return fmt.Errorf("debate: %s: %w", op, err)
	default:
		return &flow.Error{Kind: provider.KindStore, Op: op, Err: err}
	}
}
