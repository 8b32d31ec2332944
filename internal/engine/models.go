package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agonist-dev/debate/flow"
	orderpkg "github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// The times of the checks of models.
const (
	checkTimeout   = 10 * time.Second // for all providers together, queues included
	checkLifetime  = 10 * time.Minute // how long an engine remembers which models a provider has
	silentLifetime = time.Minute      // how long an engine does not ask a provider again that it could not ask
)

// checkModels asks the providers that can tell about the models of a config. It asks them all at the same time, and each
// for its list once. found says which models cannot be used, in the order of their fields. unchecked has a warning for
// each provider that could not be asked: whether its models can be used is seen when they are.
func (l *Engine) checkModels(ctx context.Context, p *plan) (found flow.Findings, unchecked []flow.Warning) {
	if l.skipCheck {
		return nil, nil
	}
	asked := make(map[string]*inquest) // by the provider's name
	for _, one := range p.roster().models {
		host, model, named := flow.SplitModel(one.name)
		if _, checks := provider.As[provider.Checker](l.providers[host]); !named || !checks || !flow.Registrable(one.name) {
			continue
		}
		q := l.ask(asked, host)
		q.models = append(q.models, model)
	}
	l.inquire(ctx, asked)
	if err := ctx.Err(); err != nil {
		failure := explain(ctx, err)
		failure.Op = "config"
		return flow.Findings{failure}, nil
	}
	for _, one := range p.roster().models {
		host, model, _ := flow.SplitModel(one.name)
		if q := asked[host]; q != nil && q.wrong[model] != nil {
			failure := *q.wrong[model]
			failure.Op, failure.Field = "config", one.field
			found = append(found, &failure)
		}
	}
	for host, q := range orderpkg.ByKey(asked) {
		if q.silent != nil {
			unchecked = append(unchecked, l.unchecked(host, q.silent))
		}
	}
	return found, unchecked
}

// ask returns the questions to a provider, which it begins if there are none.
func (l *Engine) ask(asked map[string]*inquest, host string) *inquest {
	if asked[host] == nil {
		asked[host] = &inquest{provider: l.providers[host], memory: l.memories.of(host), host: host, public: l.public}
	}
	return asked[host]
}

// public reports whether everybody may know the name of a model: the table has it, or the host program has given its row.
func (l *Engine) public(name string) bool {
	_, known := l.described(name, l.told(name).vendor)
	return known
}

// inquire asks all the providers. One that ignores the end of its context is given up after Engine.Grace: its goroutine
// then belongs to its code, and ends when that returns.
func (l *Engine) inquire(ctx context.Context, asked map[string]*inquest) {
	if len(asked) == 0 {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	ends := make(map[string]chan struct{}, len(asked))
	for host, q := range asked {
		end := make(chan struct{})
		ends[host] = end
		go func() {
			defer func() { // also if the code ends the goroutine
				if !q.ended.CompareAndSwap(false, true) {
					l.stuck.Add(-1)
				}
				close(end)
			}()
			q.run(bounded)
		}()
	}
	var last time.Time // when those are given up that have not returned
	for host, end := range ends {
		select {
		case <-end:
		case <-bounded.Done():
			if last.IsZero() {
				last = time.Now().Add(l.host.Grace)
			}
			grace := time.NewTimer(time.Until(last))
			select {
			case <-end:
			case <-grace.C:
			}
			grace.Stop()
		}
		if q := asked[host]; q.ended.CompareAndSwap(false, true) {
			l.givenUp.Add(1)
			l.stuck.Add(1)
			l.logger.Error("check of models given up", name("provider", host))
			asked[host] = &inquest{silent: &silence{provider.KindTimeout, 0, time.Now()}} // q may still be written to
			l.memories.replace(host, asked[host].silent)
		} else if !q.ran {
			q.silent = &silence{kind: provider.KindAPI}
		}
	}
}

// unchecked makes the warning about a provider that could not be asked. It quotes nothing that the provider wrote.
func (l *Engine) unchecked(host string, silent *silence) flow.Warning {
	why := string(silent.kind)
	if silent.status > 0 {
		why += fmt.Sprintf(", status %d", silent.status)
	}
	l.logger.Warn("models not checked", name("provider", host), slog.String("why", why))
	return flow.Warning{
		Kind:     flow.WarnUnchecked,
		Evidence: fmt.Sprintf("provider %s could not be asked about its models: %s", text.OneLine(host, 40), why),
	}
}

// inquest asks one provider about models of a config.
type inquest struct {
	host     string
	provider provider.Provider
	public   func(name string) bool // whether everybody may know that name of a model
	memory   *memory
	models   []string
	wrong    map[string]*flow.Error // by model: why it cannot be used
	silent   *silence               // why the provider could not be asked; nil: it answered
	ran      bool                   // run has returned
	ended    atomic.Bool            // its goroutine has ended, or was given up
}

// silence is why a provider could not be asked.
type silence struct {
	kind   flow.Kind
	status int // of HTTP; 0: none
	at     time.Time
}

// run asks what the memory does not hold. Others who want to ask the same provider wait for the answers.
func (q *inquest) run(ctx context.Context) {
	q.ask(ctx)
	q.ran = true
}

func (q *inquest) ask(ctx context.Context) {
	q.wrong = make(map[string]*flow.Error)
	m := q.memory
	select {
	case m.asking <- struct{}{}:
		defer func() { <-m.asking }()
	case <-ctx.Done():
		q.silent = &silence{kind: explain(ctx, ctx.Err()).Kind}
		return
	}
	if m.silent != nil && time.Since(m.silent.at) < silentLifetime {
		q.silent = m.silent
		return
	}
	m.silent = nil
	if time.Since(m.listedAt) >= checkLifetime {
		if err := m.list(ctx, q.provider); err != nil {
			q.judge(ctx, err, q.models...)
			return
		}
	}
	for _, model := range q.models {
		if m.accepts || slices.Contains(m.listed, model) || time.Since(m.checked[model]) < checkLifetime {
			continue
		}
		_, err := provider.Through(ctx, q.provider, model, func(ctx context.Context, c provider.Checker) error { return c.Check(ctx, model) })
		if err == nil {
			m.checked[model] = time.Now()
			continue
		}
		if q.judge(ctx, err, model); q.silent != nil {
			return
		}
		if failure := q.wrong[model]; failure.Kind == provider.KindValidation && len(m.listed) > 0 {
			failure.Err = fmt.Errorf("%w; %w", failure.Err, q.unlisted(model))
		}
	}
}

// unlisted is the error about a model that the provider does not have. The account of the host program may have models that were made or
// deployed for its customers, under any name. Only public names are told.
func (q *inquest) unlisted(model string) error {
	var known []string
	for _, each := range q.memory.listed {
		if name := q.host + "/" + each; q.public(name) {
			known = append(known, name)
		}
	}
	if len(known) == 0 {
		return fmt.Errorf("%q is none of the %d models of the account", text.OneLine(q.host+"/"+model, 80), len(q.memory.listed))
	}
	return text.Unknown("model", q.host+"/"+model, known...)
}

// judge decides what a failure says of models: they cannot be used, or the provider could not be asked.
func (q *inquest) judge(ctx context.Context, err error, models ...string) {
	failure, cause := explain(ctx, err), &provider.Error{}
	errors.As(err, &cause)
	if !tells(failure.Kind, cause) {
		q.silent = &silence{failure.Kind, cause.Status, time.Now()}
		if cause.Kind != provider.KindRateLimit || !cause.NotSent { // else only a limit of the host program was full at this moment
			q.memory.silent = q.silent
		}
		return
	}
	for _, model := range models {
		q.wrong[model] = failure
	}
}

// tells reports whether a failure says that a model cannot be used. A key may be good for replies, and have no right to
// look at models: vendors then answer with status 403, and name the scope or permission that is missing.
func tells(kind flow.Kind, cause *provider.Error) bool {
	words := strings.ToLower(cause.Code + " " + cause.Message)
	scoped := cause.Status == http.StatusForbidden && (strings.Contains(words, "scope") || strings.Contains(words, "permission"))
	return kind == provider.KindValidation || kind == provider.KindAuthentication && !scoped
}

// memory is what an engine remembers of the models of one provider. The other fields are guarded by asking (a semaphore of
// one).
type memory struct {
	asking   chan struct{}
	listedAt time.Time
	listed   []string
	accepts  bool                 // the provider has no list, and counts as having every model
	checked  map[string]time.Time // the models that are not on the list and can be used
	silent   *silence             // why the provider could not be asked last time; nil: it answered
}

// list asks a provider for its list of models, if it has that ability.
func (m *memory) list(ctx context.Context, p provider.Provider) error {
	checker, _ := provider.As[provider.Checker](p)
	lister, ok := checker.(provider.Lister)
	if !ok {
		return nil
	}
	_, err := provider.Through(ctx, p, "", func(ctx context.Context, _ provider.Checker) (err error) {
		m.listed, err = lister.Models(ctx)
		return err
	})
	if err == nil {
		m.listedAt, m.accepts = time.Now(), len(m.listed) == 0
	}
	return err
}

// memories holds the memory of each provider.
type memories struct {
	mu  sync.Mutex
	all map[string]*memory
}

// of returns the memory of a registered provider.
func (m *memories) of(host string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all[host] == nil {
		m.put(host, nil)
	}
	return m.all[host]
}

// replace forgets a memory that code holds which has been given up.
func (m *memories) replace(host string, silent *silence) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.put(host, silent)
}

func (m *memories) put(host string, silent *silence) {
	if m.all == nil {
		m.all = make(map[string]*memory)
	}
	m.all[host] = &memory{asking: make(chan struct{}, 1), checked: make(map[string]time.Time), silent: silent}
}

// Bounds of what is checked of one config. One that has more is refused for other reasons.
const (
	mostModels = 4096             // models, and seats that are asked
	mostFields = 100 * mostModels // mentions of models
)

// modelField is a field of a config that names a model.
type modelField struct{ field, name string }

// roster lists the models that a config may ask.
type roster struct {
	mentions []modelField // in the order of their fields
	models   []modelField // each model once, with the field that names it first
}

// rosterOf reads the models of a config.
func rosterOf(config flow.Config) *roster {
	r, seen := &roster{}, map[string]bool{"": true}
	for field, name := range flow.Models(config) {
		if len(r.models) == mostModels || len(r.mentions) == mostFields {
			break
		}
		one := modelField{field, name}
		r.mentions = append(r.mentions, one)
		if !seen[name] {
			seen[name] = true
			r.models = append(r.models, one)
		}
	}
	return r
}
