package debate

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	orderpkg "github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// engine is an engine as it was at its first use: the values that configs refer to by name, and the host of its
// sessions.
type engine struct {
	providers map[string]Provider
	judges    map[string]Judge
	detectors map[string]Detector
	contexts  map[string]ContextManager
	tools     map[string]flow.Tool
	machines  map[string]*flow.Machine
	prompts   *prompt.Set
	models    map[string]flow.Model
	logger    *slog.Logger
	slots     chan struct{} // one for each call in flight; nil if MaxCalls is not set
	seed      func() string
	fetch     func(ctx context.Context, url string) (Fetched, error)
	trust     bool // no provider is asked about models
	absent    bool // any registrable name of a judge counts as registered

	remembered fetchedFiles
	renderings renderings
	memories   memories
	givenUp    atomic.Int64 // see Stats
	calls      atomic.Int64 // likewise
	queued     atomic.Int64 // likewise
	stuck      atomic.Int64
	host       *session.Host
}

// freeze copies the engine's fields at the first use, and returns the same copy from then on.
func (e *Engine) freeze() (*engine, error) {
	e.once.Do(func() { e.frozen, e.err = e.build() })
	return e.frozen, e.err
}

func (e *Engine) build() (*engine, error) {
	l := &engine{
		providers: maps.Clone(e.Providers), judges: maps.Clone(e.Judges), detectors: maps.Clone(e.Detectors),
		models: maps.Clone(e.Models), tools: maps.Clone(e.Tools),
		contexts: map[string]ContextManager{
			flow.ContextTruncate: window.Truncate{}, flow.ContextSliding: window.Sliding{}, flow.ContextSummarize: window.Summarize{},
			flow.DefaultContext: window.Hybrid{},
		},
		machines: make(map[string]*flow.Machine),
		logger:   e.Logger, seed: e.Seed, trust: e.TrustModels, fetch: e.Fetch,
	}
	maps.Copy(l.contexts, e.Contexts)
	var problems []error
	formats := make(map[string]Format, len(e.Formats))
	for name, f := range e.Formats {
		f = *f.Clone()
		f.Name = name
		formats[name] = f
		problems = append(problems, f.Check("Formats["+name+"]")...)
	}
	var err error
	for name := range orderpkg.ByKey(e.Providers) {
		if name == "" || strings.Contains(name, "/") {
			problems = append(problems, engineError("Providers["+text.OneLine(name, 80)+"]", "has a name that is empty or holds a slash"))
		}
	}
	flows := map[string]*flow.Flow{FlowName: debateFlow(formats, l.detectors)}
	maps.Copy(flows, e.Flows)
	var templates []map[string]prompt.Template
	for name, f := range flows {
		if f == nil || f.Name != name {
			problems = append(problems, engineError("Flows", "the flow under %q has another name, or is nil", name))
			continue
		}
		if l.machines[name], err = flow.Compile(f); err != nil {
			problems = append(problems, err)
		}
		templates = append(templates, f.Prompts)
	}
	if l.prompts, err = prompt.Parse(e.Prompts, templates...); err != nil {
		problems = append(problems, &flow.Error{Kind: provider.KindValidation, Op: "engine", Field: "Prompts", Err: err})
	}
	problems = append(problems, checkDetectors(e.Detectors)...)
	for name, tool := range orderpkg.ByKey(e.Tools) {
		if err := checkTool(name, tool); err != nil {
			problems = append(problems, engineError("Tools["+text.OneLine(name, 80)+"]", "%w", err))
		}
	}
	if e.MaxCalls < 0 {
		problems = append(problems, engineError("MaxCalls", "is negative"))
	} else if e.MaxCalls > 0 {
		l.slots = make(chan struct{}, e.MaxCalls)
	}
	if e.ChunkInterval < 0 {
		problems = append(problems, engineError("ChunkInterval", "is negative"))
	}
	if e.Grace < 0 {
		problems = append(problems, engineError("Grace", "is negative"))
	}
	if e.Lease < 0 {
		problems = append(problems, engineError("Lease", "is negative"))
	}
	kept := e.Store
	if kept == nil {
		kept = &store.Memory{}
	}
	l.host = session.NewHost(session.HostConfig{
		Store: kept, Lease: e.Lease, Interval: e.ChunkInterval, Folded: e.Folded, Bus: e.Bus, Owner: newID(),
		NewCore: l.core, Bound: l.bound, Perform: l.perform, Log: l.log,
		Grace: e.Grace, GaveUp: l.gaveUp, Returned: l.returned, GaveUpStore: l.gaveUpStore, StoreReturned: l.storeReturned,
		Same: sameConfig, Quarantined: l.quarantined,
		Facade: func(s *session.Session) any { return &Session{engine: l, runtime: s} },
	})
	return l, errors.Join(problems...)
}

// checkDetectors reports the detectors of the host program that cannot be registered.
func checkDetectors(all map[string]Detector) (problems []error) {
	for name, detector := range orderpkg.ByKey(all) {
		if detector == nil || !flow.Registrable(name) || builtin(format.Detector(name)) {
			problems = append(problems, engineError("Detectors["+text.OneLine(name, 80)+"]", "is nil, or its name is empty or taken"))
		}
	}
	return problems
}

func engineError(field, format string, args ...any) error {
	return &flow.Error{Kind: provider.KindValidation, Op: "engine", Field: field, Err: fmt.Errorf(format, args...)}
}

// newID returns a UUIDv7. UUIDv7s sort by time.
func newID() string {
	id, err := uuid.NewV7()
	if err != nil { // the system has no randomness, so nothing that needs a secret may start
		return ""
	}
	return id.String()
}

// newSeed returns a debate's secret seed.
func (l *engine) newSeed() string {
	if l.seed != nil {
		if seed := l.seed(); seed != "" {
			return seed
		}
	}
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails: since Go 1.24 the program ends instead
	return hex.EncodeToString(seed[:])
}

// core makes the core of a stored debate, by its flow. Without events it makes the core of a debate that is still
// to be configured.
func (l *engine) core(id string, events []flow.Event) (*flow.Core, error) {
	return flow.NewCore(flow.Flows{Machines: l.machines, First: FlowName, Lacks: l.lacks, Unable: l.cannot}, l.contexts, id, events)
}
