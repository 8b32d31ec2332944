package debate

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	mathrand "math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/prompt"
)

// live is an engine as it was at its first use.
type live struct {
	providers map[string]Provider
	judges    map[string]Judge
	contexts  map[string]ContextManager
	formats   map[string]Format
	tools     map[string]Tool
	machines  map[string]*machine
	prompts   *prompt.Set
	models    map[string]Model
	store     Store
	logger    *slog.Logger
	places    chan struct{}
	interval  time.Duration
	seed      func() string
	lease     time.Duration
	owner     string       // who holds the leases
	writers   atomic.Int64 // counts the tokens for the store
	mu        sync.Mutex
	sessions  map[string]*Session
	opening   map[string]chan struct{} // debates that somebody is opening; closed when that has come to an end
	holders   map[*Session]struct{}    // who may have a lease
	shut      bool                     // no session is opened any more

	renderings renderings
	buffers    sync.Pool // of *eventBuffer
}

// breath is the least time between two chunks of one reader. To wake a reader costs a speaker more
// than a chunk does; nobody sees a fifth of a millisecond.
const breath = 200 * time.Microsecond

// freeze takes the engine's fields, once.
func (e *Engine) freeze() (*live, error) {
	e.once.Do(func() { e.frozen, e.err = e.build() })
	return e.frozen, e.err
}

func (e *Engine) build() (*live, error) {
	l := &live{
		providers: maps.Clone(e.Providers), judges: maps.Clone(e.Judges), models: maps.Clone(e.Models), tools: maps.Clone(e.Tools),
		contexts: map[string]ContextManager{
			ContextTruncate: window.Truncate{}, ContextSliding: window.Sliding{}, ContextSummarize: window.Summarize{},
			DefaultContext: window.Hybrid{},
		},
		formats: make(map[string]Format), machines: make(map[string]*machine),
		store: e.Store, logger: e.Logger, interval: max(e.ChunkInterval, breath), seed: e.Seed, lease: cmp.Or(e.Lease, defaultLease),
		opening: make(map[string]chan struct{}), sessions: make(map[string]*Session), holders: make(map[*Session]struct{}),
	}
	maps.Copy(l.contexts, e.Contexts)
	var problems []error
	for _, f := range BuiltinFormats() {
		l.formats[f.Name] = f
	}
	for name, f := range e.Formats {
		f = *f.clone()
		f.Name = name
		l.formats[name] = f
		var found findings
		found.format("Formats["+name+"]", &f)
		problems = append(problems, found...)
	}
	var err error
	if l.prompts, err = prompt.Parse(e.Prompts); err != nil {
		problems = append(problems, &Error{Kind: KindValidation, Op: "engine", Field: "Prompts", Err: err})
	}
	for name := range ordered(e.Providers) {
		if name == "" || strings.Contains(name, "/") {
			problems = append(problems, engineError("Providers["+oneLine(name, 80)+"]", "has a name that is empty or holds a slash"))
		}
	}
	flows := map[string]*Flow{DefaultFlow: DebateFlow()}
	maps.Copy(flows, e.Flows)
	for name, flow := range flows {
		if flow == nil || flow.Name != name {
			problems = append(problems, engineError("Flows", "the flow under %q has another name, or is nil", name))
			continue
		}
		if l.machines[name], err = newMachine(flow); err != nil {
			problems = append(problems, err)
		}
	}
	for name, tool := range ordered(e.Tools) {
		if err := checkTool(name, tool); err != nil {
			problems = append(problems, engineError("Tools["+oneLine(name, 80)+"]", "%w", err))
		}
	}
	if e.MaxCalls < 0 {
		problems = append(problems, engineError("MaxCalls", "is negative"))
	} else if e.MaxCalls > 0 {
		l.places = make(chan struct{}, e.MaxCalls)
	}
	if e.ChunkInterval < 0 {
		problems = append(problems, engineError("ChunkInterval", "is negative"))
	}
	if e.Lease < 0 {
		problems = append(problems, engineError("Lease", "is negative"))
	}
	if l.store == nil {
		l.store = &MemoryStore{}
	}
	l.owner = newID()
	return l, errors.Join(problems...)
}

func engineError(field, format string, args ...any) error {
	return &Error{Kind: KindValidation, Op: "engine", Field: field, Err: fmt.Errorf(format, args...)}
}

// newID yields a UUIDv7, whose order is that of time.
func newID() string {
	id, err := uuid.NewV7()
	if err != nil { // the system has no randomness: nothing that needs a secret may go on
		return ""
	}
	return id.String()
}

// newSeed yields a debate's secret.
func (l *live) newSeed() string {
	if l.seed != nil {
		if seed := l.seed(); seed != "" {
			return seed
		}
	}
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails: since Go 1.24 the program ends instead
	return hex.EncodeToString(seed[:])
}

// input adds the time and the random bits.
func (l *live) input(s Signal) Input {
	return Input{At: time.Now().Round(0).UTC(), Bits: mathrand.Uint64(), Signal: s} //nolint:gosec // jitter is no secret
}

// held yields the session of a debate that this engine has open; nil: it has not.
func (l *live) held(id string) *Session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.sessions[id]
}

func (l *live) core(id string, events []Event) (*Core, error) {
	name, version := DefaultFlow, 0
	if len(events) > 0 && events[0].Start != nil {
		name, version = events[0].Start.Flow, events[0].Start.FlowVersion
	}
	m := l.machines[name]
	if m == nil {
		return nil, &Error{Kind: KindValidation, Op: "open", Field: "flow", Err: fmt.Errorf("no flow %q is registered", oneLine(name, 40))}
	}
	if least := m.flow.accepts(); version != 0 && (version > m.flow.Version || version < least) {
		return nil, &Error{Kind: KindValidation, Op: "open", Field: "flowVersion", Err: fmt.Errorf(
			"the debate was started with version %d of flow %s; this program continues versions %d to %d", version, name, least, m.flow.Version)}
	}
	return l.newCore(m, id, events)
}

// load folds a stored log.
func (l *live) load(ctx context.Context, id string) (*Core, error) {
	events, err := l.read(ctx, id)
	if err != nil {
		return nil, err
	}
	return l.core(id, events)
}

// read yields a stored log.
func (l *live) read(ctx context.Context, id string) ([]Event, error) {
	var events []Event
	for event, err := range l.store.Read(ctx, id, 0) {
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
