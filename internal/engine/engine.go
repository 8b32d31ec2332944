// Package engine is the engine of package debate: it checks configs, freezes what a conversation needs, makes calls, and opens, forks,
// exports and redacts what is stored. It knows no kind of conversation: each comes with its flow. The sessions of a process are those
// of internal/session.
//
// A config becomes a plan, which is normalized and has its files taken out; a plan that the checks accept becomes a start, in
// which everything is frozen that must not change while the conversation runs. From then on the log alone says what it is.
package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"reflect"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"github.com/agonist-dev/debate/bus"
	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/flow"
	orderpkg "github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/session"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/prompt"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// Parts are what an engine is made of. debate.Engine describes the fields of the same names.
type Parts struct {
	Providers      map[string]provider.Provider
	Functions      map[string]flow.Function
	Contexts       map[string]window.Manager
	Flows          map[string]*flow.Flow
	Tools          map[string]flow.Tool
	Prompts        map[string]string
	Models         map[string]flow.Model
	SkipModelCheck bool
	Store          store.Store
	Lease          time.Duration
	Fetch          func(ctx context.Context, url string) (Fetched, error)
	Grace          time.Duration
	Logger         *slog.Logger
	MaxCalls       int
	ChunkInterval  time.Duration
	CacheBytes     int64
	Bus            bus.Bus
	Seed           func() string
	// First is the flow of a config that names none.
	First string
	// Face makes what the host program gets for a session. It is called once for each.
	Face func(*Session) any
}

// Engine is an engine: the values that configs refer to by name, and the host of its sessions. It is safe for concurrent use.
type Engine struct {
	providers map[string]provider.Provider
	functions map[string]flow.Function
	contexts  map[string]window.Manager
	tools     map[string]flow.Tool
	machines  map[string]*flow.Machine
	first     string // the flow of a config that names none
	prompts   *prompt.Set
	models    map[string]flow.Model
	logger    *slog.Logger
	slots     chan struct{} // one for each call in flight; nil if MaxCalls is not set
	seed      func() string
	fetch     func(ctx context.Context, url string) (Fetched, error)
	skipCheck bool // no provider is asked about models
	absent    bool // any registrable name of a function counts as registered

	remembered fetchedFiles
	setups     latest[setup]
	renderings latest[rendering]
	memories   memories
	givenUp    atomic.Int64 // see Stats
	calls      atomic.Int64 // likewise
	queued     atomic.Int64 // likewise
	stuck      atomic.Int64
	host       *session.Host
}

// New makes an engine of its parts, which it copies. It returns an error of kind validation for each part that is wrong.
func New(p Parts) (*Engine, []error) {
	p.Providers, p.Functions, p.Tools, p.Contexts = Present(p.Providers), Present(p.Functions), Present(p.Tools), Present(p.Contexts)
	l := &Engine{
		providers: p.Providers, functions: p.Functions, models: maps.Clone(p.Models), tools: p.Tools,
		contexts: map[string]window.Manager{
			flow.ContextTruncate: window.Truncate{}, flow.ContextSliding: window.Sliding{}, flow.ContextSummarize: window.Summarize{},
			flow.DefaultContext: window.Hybrid{},
		},
		machines: make(map[string]*flow.Machine), first: p.First,
		logger: p.Logger, seed: p.Seed, skipCheck: p.SkipModelCheck, fetch: p.Fetch,
	}
	if l.logger == nil {
		l.logger = slog.New(standard{})
	}
	maps.Copy(l.contexts, p.Contexts)
	problems := p.check()
	var err error
	var templates []map[string]prompt.Template
	for name, f := range orderpkg.ByKey(p.Flows) {
		if f == nil {
			problems = append(problems, Wrong("Flows", "the flow under %q is nil: set Engine.Flows[%[1]q] to one", name))
			continue
		}
		if f.Name != name {
			problems = append(problems, Wrong("Flows", "the flow under %q has the name %q: set Engine.Flows[%[2]q], or its Name", name, f.Name))
			continue
		}
		if l.machines[name], err = flow.Compile(f); err != nil {
			problems = append(problems, err)
		}
		templates = append(templates, f.Prompts)
	}
	if l.prompts, err = prompt.Parse(p.Prompts, templates...); err != nil {
		problems = append(problems, &flow.Error{Kind: provider.KindValidation, Op: "engine", Field: "Prompts", Err: err})
	}
	if p.MaxCalls > 0 {
		l.slots = make(chan struct{}, p.MaxCalls)
	}
	kept := p.Store
	if isNil(kept) {
		kept = &store.Memory{}
	}
	l.host = session.NewHost(session.HostConfig{
		Store: kept, Lease: p.Lease, Interval: p.ChunkInterval, CacheBytes: p.CacheBytes, Bus: p.Bus, Owner: newOwner(),
		NewCore: l.NewCore, Bound: l.bound, Perform: l.perform, Log: l.log,
		Grace: p.Grace, GaveUp: l.gaveUp, Returned: l.returned, GaveUpStore: l.gaveUpStore, StoreReturned: l.storeReturned,
		Same: sameConfig, Quarantined: l.quarantined,
		Facade: func(s *session.Session) any {
			own := &Session{Session: s, engine: l}
			own.Face = p.Face(own)
			return own
		},
	})
	return l, problems
}

// check reports the names and numbers that are wrong.
func (p *Parts) check() (problems []error) {
	for name := range orderpkg.ByKey(p.Providers) {
		if name == "" || strings.Contains(name, "/") {
			problems = append(problems, Wrong(Entry("Providers", name), "has a name that is empty or holds a slash"))
		}
	}
	for name, tool := range orderpkg.ByKey(p.Tools) {
		if err := checkTool(name, tool); err != nil {
			problems = append(problems, Wrong(Entry("Tools", name), "%w", err))
		}
	}
	for field, v := range orderpkg.ByKey(map[string]any{"Bus": p.Bus, "Store": p.Store}) {
		if v != nil && isNil(v) {
			problems = append(problems, Wrong(field, "is a nil %T: open it before, and check the error", v))
		}
	}
	for field, n := range orderpkg.ByKey(map[string]int64{
		"MaxCalls": int64(p.MaxCalls), "ChunkInterval": int64(p.ChunkInterval), "Grace": int64(p.Grace), "Lease": int64(p.Lease),
	}) {
		if n < 0 {
			problems = append(problems, Wrong(field, "is negative"))
		}
	}
	return problems
}

// Present returns a copy of what is registered, in which a nil pointer or function is just nil: to call it would panic.
func Present[V any](all map[string]V) map[string]V {
	all = maps.Clone(all)
	for name, v := range all {
		if isNil(v) {
			var none V
			all[name] = none
		}
	}
	return all
}

// isNil reports whether a value, or what an interface holds, is nil.
func isNil(v any) bool {
	r := reflect.ValueOf(v)
	return !r.IsValid() || (r.Kind() == reflect.Pointer || r.Kind() == reflect.Func) && r.IsNil()
}

// Entry names an entry of a field of an engine.
func Entry(field, name string) string { return field + "[" + text.OneLine(name, 80) + "]" }

// Wrong returns the error about a field of an engine.
func Wrong(field, format string, args ...any) error {
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

// newOwner returns a name for the leases of an engine: which machine has it, which process, and a random part that no other engine has.
func newOwner() string {
	host, _ := os.Hostname() // without one, the others tell
	host = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' {
			return r
		}
		return '-'
	}, host)
	return fmt.Sprintf("%.40s-%d-%s", host, os.Getpid(), strings.ToLower(rand.Text()))
}

// newSeed returns a debate's secret seed.
func (l *Engine) newSeed() string {
	if l.seed != nil {
		if seed := l.seed(); seed != "" {
			return seed
		}
	}
	var seed [16]byte
	_, _ = rand.Read(seed[:]) // never fails: since Go 1.24 the program ends instead
	return hex.EncodeToString(seed[:])
}

// NewCore makes the core of a stored debate, by its flow. Without events it makes the core of a debate that is still
// to be configured.
func (l *Engine) NewCore(id string, events []flow.Event) (*flow.Core, error) {
	return flow.NewCore(flow.Flows{Machines: l.machines, First: l.first, Missing: l.lacks}, l.contexts, id, events)
}
