package stage

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// Kinds are all kinds of failures.
var Kinds = []debate.Kind{
	provider.KindNetwork, provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout, provider.KindContextOverflow,
	provider.KindAuthentication, provider.KindContentFilter, provider.KindRefusal, provider.KindInvalidResponse, provider.KindValidation,
	provider.KindCanceled, provider.KindCostLimit, provider.KindToolLimit, provider.KindState, provider.KindConflict, provider.KindStore,
	provider.KindUnknown,
}

// DeafOnce is code that ignores its context: its first call returns only when it is told to.
type DeafOnce struct {
	called atomic.Bool
	Freed  chan struct{}
	goexit bool
}

// Call is what the code does before it answers.
func (d *DeafOnce) Call() {
	if d.called.Swap(true) {
		return
	}
	if d.goexit {
		runtime.Goexit()
	}
	<-d.Freed
}

// Unmoved does not hear that it is broken off.
type Unmoved struct{ *scripted.Provider }

// Generate implements [provider.Provider].
func (p Unmoved) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return p.Provider.Generate(context.WithoutCancel(ctx), req, emit)
}

// Outage makes the requests fail that it hits, until it is over.
type Outage struct{ Over atomic.Bool }

// ErrDeaf is what a store says that cannot write.
var ErrDeaf = errors.New("the disk is full")

// Spoilt is a store in which the log of one debate cannot be read while it is damaged.
type Spoilt struct {
	*store.Memory

	ID      string
	Damaged atomic.Bool
	Reads   atomic.Int64
	Before  atomic.Int64 // appends that succeed until one meets a conflict and the damage; 0: all do
}

func (s *Spoilt) Read(ctx context.Context, id string, after int64) iter.Seq2[debate.Event, error] {
	if id == s.ID && s.Damaged.Load() {
		s.Reads.Add(1)
		return func(yield func(debate.Event, error) bool) { yield(debate.Event{}, ErrSpoilt) }
	}
	return s.Memory.Read(ctx, id, after)
}

// Append implements [store.Store].
func (s *Spoilt) Append(ctx context.Context, id string, after int64, writer string, events []flow.Event) error {
	if id == s.ID && s.Before.Load() > 0 && s.Before.Add(-1) == 0 {
		s.Damaged.Store(true)
		return flow.ErrConflict
	}
	return s.Memory.Append(ctx, id, after, writer, events)
}

// ErrSpoilt is what a Spoilt store says of the log, with a secret in it.
var ErrSpoilt = fmt.Errorf("%w: see postgres://somebody:canary@host/db", store.ErrDamaged)

// Locked is a buffer for many writers.
type Locked struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *Locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// ErrFull is what a vendor says of a request that is larger than a window.
var ErrFull = &provider.Error{Kind: provider.KindContextOverflow, Status: 400, Message: "too many tokens"}

// NewDeaf makes a DeafOnce; goexit: it ends its goroutine instead.
func NewDeaf(goexit bool) *DeafOnce { return &DeafOnce{Freed: make(chan struct{}), goexit: goexit} }

// Befall lets an outage befall a provider.
func Befall(p *scripted.Provider, kind provider.Kind, hits func(req *provider.Request) bool) *Outage {
	o, reply := &Outage{}, p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		if !o.Over.Load() && hits(req) {
			return scripted.Reply{Err: &provider.Error{Kind: kind, Status: 400, Message: "no"}}
		}
		return reply(req)
	}
	return o
}

// Requested matches the requests of one model for calls whose id holds this.
func Requested(model, call string) func(*provider.Request) bool {
	return func(req *provider.Request) bool { return req.Model == model && strings.Contains(req.ID, "/"+call) }
}

// Said matches the requests of the debaters' model in somebody's name, from a round on.
func Said(who string, from int) func(*provider.Request) bool {
	return func(req *provider.Request) bool {
		round := 0
		if m := CallRound.FindStringSubmatch(req.ID); m != nil {
			_, _ = fmt.Sscan(m[1], &round)
		}
		return req.Model == "debater" && req.Self == who && round >= from
	}
}

// Flaky fails the first attempt at Ben's second turn, and spoils the judge's first answer of round two.
func Flaky(reply func(*provider.Request) scripted.Reply) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		r := reply(req)
		switch {
		case strings.Contains(req.ID, "/r2.") && strings.HasSuffix(req.ID, ".Ben/1"):
			r.Err = &provider.Error{Kind: provider.KindNetwork, Message: "cut off", NotSent: true}
		case strings.HasSuffix(req.ID, "/r2.assessment.judge/1"):
			r.Text = "Ada was better."
		}
		return r
	}
}

// Unreachable is a debate whose provider cannot be reached from round 2 on, for as long as it says. 0: for ever.
func Unreachable(
	t *testing.T, config debate.Config, kind provider.Kind, after, lasting time.Duration,
) (*debate.Engine, *scripted.Provider, *Outage) {
	t.Helper()
	engine, p := Engine(config)
	engine.Store = &store.Memory{}
	gone := &Outage{}
	var began time.Time
	reply := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if began.IsZero() && strings.Contains(req.ID, "/r2.") {
			began = time.Now()
		}
		if !gone.Over.Load() && !began.IsZero() && (lasting == 0 || time.Since(began) < lasting) {
			return scripted.Reply{Err: &provider.Error{Kind: kind, Message: "nobody is there", RetryAfter: after}}
		}
		return r
	}
	return engine, p, gone
}

// NoRetry lets every failed attempt be the last.
func NoRetry() *debate.RetryPolicy {
	return &debate.RetryPolicy{Max: map[debate.Kind]int{
		provider.KindNetwork: 0, provider.KindRateLimit: 0, provider.KindAPI: 0, provider.KindTimeout: 0, provider.KindInvalidResponse: 0,
	}}
}

// Rules is a config's policy of failures, from one rule.
func Rules(rule debate.FailureRule) []debate.FailureRule { return []debate.FailureRule{rule} }

// Dropping is the rule that drops whoever fails for good.
func Dropping() []debate.FailureRule { return Rules(debate.FailureRule{Do: flow.OptionDrop}) }
