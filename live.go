package debate

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"

	"github.com/google/uuid"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/prompt"
)

// live is an engine as it was at its first use: what configs refer to by name, and the host of its sessions.
type live struct {
	providers map[string]Provider
	judges    map[string]Judge
	contexts  map[string]ContextManager
	tools     map[string]Tool
	machines  map[string]*machine
	prompts   *prompt.Set
	models    map[string]Model
	logger    *slog.Logger
	slots     chan struct{} // for calls; nil: MaxCalls is not set
	seed      func() string
	absent    bool // it has every judge that somebody names

	renderings renderings
	host       *host
}

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
		machines: make(map[string]*machine),
		logger:   e.Logger, seed: e.Seed,
	}
	maps.Copy(l.contexts, e.Contexts)
	var problems []error
	formats := builtinFormats()
	for name, f := range e.Formats {
		f = *f.clone()
		f.Name = name
		formats[name] = f
		problems = append(problems, f.Check("Formats["+name+"]")...)
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
	flows := map[string]*Flow{FlowName: debateFlow(formats)}
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
		l.slots = make(chan struct{}, e.MaxCalls)
	}
	if e.ChunkInterval < 0 {
		problems = append(problems, engineError("ChunkInterval", "is negative"))
	}
	if e.Lease < 0 {
		problems = append(problems, engineError("Lease", "is negative"))
	}
	store := e.Store
	if store == nil {
		store = &MemoryStore{}
	}
	l.host = newHost(hostConfig{
		store: store, lease: e.Lease, interval: e.ChunkInterval, owner: newID(),
		newCore: l.core, bound: l.bound, perform: l.perform, log: l.log,
		same:   sameConfig,
		facade: func(s *session) any { return &Session{live: l, runtime: s} },
	})
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

// core makes the core of a stored debate, by its flow; without events, that of a debate which is still to be configured.
func (l *live) core(id string, events []Event) (*Core, error) {
	name, version := FlowName, 0
	if len(events) > 0 {
		if start, ok := events[0].Body.(*Start); ok {
			name, version = start.Flow, start.FlowVersion
		}
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
