package debate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// minChunkInterval is the least time between two chunks of one reader. Waking a reader costs the speaker more
// than a chunk does, and nobody sees a fifth of a millisecond.
const minChunkInterval = 200 * time.Microsecond

// hostConfig is what an engine gives its host. The functions may be called concurrently.
type hostConfig struct {
	store    Store
	lease    time.Duration // how long a lease lasts, and how long a store may fail; 0: defaultLease
	interval time.Duration // the least time between two chunks of one reader; minChunkInterval if less
	owner    string        // the name under which leases are held; no other host has it

	// newCore makes the core of a stored debate from its events.
	newCore func(id string, events []Event) (*Core, error)
	// bound sets the deadline of a call's context, before the context is used.
	bound func(call *callContext, c *Command)
	// perform makes a call in a context that bound has set. emit gets the text as it arrives. The error means
	// that the engine lacks what the command names; any other failure is a signal.
	perform func(call *callContext, c *Command, emit func(provider.Chunk)) (Signal, error)
	// same reports how the config of a stored debate differs from a given one: an error of kind conflict.
	same func(stored, given *Record) error
	// log writes lines about events that are saved.
	log func(id string, events []Event)
	// facade makes what the engine hands out for a session. It is called once for each session.
	facade func(s *session) any
}

// host is what the sessions of one engine share: the store, the leases, and the list of open debates. It is safe
// for concurrent use.
type host struct {
	hostConfig

	writers atomic.Int64 // counts the tokens for the store

	mu       sync.Mutex
	sessions map[string]*session      // the open debates, by id
	opening  map[string]chan struct{} // debates that are being opened; closed when that has ended
	holders  map[*session]struct{}    // sessions that may have a lease
	shut     bool                     // no session is opened any more
}

func newHost(c hostConfig) *host {
	c.lease = cmp.Or(c.lease, defaultLease)
	c.interval = max(c.interval, minChunkInterval)
	return &host{
		hostConfig: c, sessions: make(map[string]*session), opening: make(map[string]chan struct{}), holders: make(map[*session]struct{}),
	}
}

// session returns the session of a debate that is open in this host; nil: it is not open.
func (h *host) session(id string) *session {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sessions[id]
}

// unregister removes a session from the open debates.
func (h *host) unregister(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.sessions[s.id] == s {
		delete(h.sessions, s.id)
	}
}

// newWriter makes a token for the store that nobody else uses.
func (h *host) newWriter() string {
	return h.owner + "/" + strconv.FormatInt(h.writers.Add(1), 10)
}

// newInput adds the time and the random bits to a signal.
func newInput(signal Signal) Input {
	return Input{At: time.Now().Round(0).UTC(), Bits: rand.Uint64(), Signal: signal} //nolint:gosec // jitter is no secret
}

// load folds a stored log.
func (h *host) load(ctx context.Context, id string) (*Core, error) {
	events, err := h.read(ctx, id)
	if err != nil {
		return nil, err
	}
	return h.newCore(id, events)
}

// read returns a stored log.
func (h *host) read(ctx context.Context, id string) ([]Event, error) {
	var events []Event
	for event, err := range h.store.Read(ctx, id, 0) {
		if err != nil {
			return nil, storeError("open", err)
		}
		events = append(events, event)
	}
	if len(events) == 0 {
		return nil, storeError("open", ErrNotFound)
	}
	return events, nil
}

// shutdown closes all sessions, and returns when nothing of them runs any more, or ctx is done. No session is
// opened from then on.
func (h *host) shutdown(ctx context.Context) error {
	h.mu.Lock()
	h.shut = true
	opening := slices.Collect(maps.Values(h.opening))
	h.mu.Unlock()
	for _, end := range opening { // endOpening refuses these debates, and they are closed again
		select {
		case <-end:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	h.mu.Lock()
	sessions := slices.AppendSeq(slices.Collect(maps.Values(h.sessions)), maps.Keys(h.holders)) // some twice
	h.mu.Unlock()
	var all sync.WaitGroup
	errs := make([]error, len(sessions))
	for i, s := range sessions {
		all.Go(func() { errs[i] = s.closeWithin(ctx) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// isShut reports whether shutdown was called.
func (h *host) isShut() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.shut
}

// storeError adds to a store's error what was being done, and its kind.
func storeError(op string, err error) error {
	switch {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrLeased):
		return &Error{Kind: KindConflict, Op: op, Err: err}
	case errors.Is(err, ErrNotFound):
		return &Error{Kind: KindValidation, Op: op, Field: "id", Err: err}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.As(err, new(*Error)):
		return fmt.Errorf("debate: %s: %w", op, err)
	default:
		return &Error{Kind: KindStore, Op: op, Err: err}
	}
}
