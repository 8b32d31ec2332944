package limit

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/ended"
)

// Defaults of a Rate.
const (
	// DefaultRequests is the lowest limit of a large vendor for paying accounts: Anthropic's first tier,
	// in requests per minute. Set Requests if your account has more.
	DefaultRequests = 50
	// DefaultFloor still admits three calls a minute at DefaultRequests. When the vendor has capacity
	// again, that shows within half a minute.
	DefaultFloor = 1.0 / 16
	// DefaultMaxPause is how long the engine itself waits for a vendor before it gives up.
	DefaultMaxPause = time.Minute
)

// maxIdle is the number of models without calls whose state a Rate remembers.
const maxIdle = 256

// Rate admits calls as fast as a vendor allows, separately for each model of each provider. The zero Rate
// allows [DefaultRequests] a minute and does not count tokens.
//
// A failure of kind rate_limit changes the limits of its model:
//
//   - The limits are halved, down to Floor, and unused capacity is lost. Failures of calls that were in
//     flight together count as one.
//   - If the failure has a RetryAfter, no call of that model starts before that time is over.
//   - Each success of a call that started later raises the limits again by a part, see Recovery.
//
// Other failures change nothing.
//
// One Rate may serve any number of wrapped providers, engines and debates at once. Providers that are
// wrapped under the same name share the limits of their models. The fields must not change after the
// first request. From then on, a Rate is safe for concurrent use. It must not be copied.
//
// A Rate remembers the state of every model that has calls waiting or in flight, and of the 256 other
// models that were used last.
type Rate struct {
	// Requests is how many calls may start per minute; DefaultRequests if 0, unlimited if negative.
	Requests int
	// Tokens is how many tokens requests and replies may have per minute; unlimited if 0 or negative.
	//
	// A call reserves an estimate: one token for four bytes of the request, plus MaxTokens, or
	// DefaultOutput without it. OpenAI counts against its limit in the same way. When the reply has
	// arrived, the input and output that the vendor reports replace the estimate. A failure without usage
	// keeps its reservation, because vendors count failed requests too.
	//
	// Up to a minute's tokens can be saved up. A call that needs more than that starts when a minute's
	// tokens are there, and the calls behind it wait for the rest.
	Tokens int
	// Burst is how many calls may start at once after a silence. If it is less than 1, it is a second's
	// worth, at least one: vendors say that they may enforce a limit per minute by the second.
	Burst int
	// Models overrides the limits of some models. The key is the name that the provider is wrapped under,
	// a slash, and the model as the vendor names it: "openai/gpt-5". A field that is 0 means the limit
	// above.
	Models map[string]Allowance

	// Floor is the smallest share of the limits to which failures slow a model down; DefaultFloor if it
	// is not above 0 and at most 1.
	Floor float64
	// Recovery says how fast the limits rise again; 1 if it is not above 0. A success raises them by
	// Recovery times the share of a minute's requests or tokens that the call has used, whichever is
	// more. At 1, each success allows one more request per minute. A halved limit that is fully used is
	// then restored after 42 seconds, however high it is: a minute times the natural logarithm of 2.
	Recovery float64
	// MaxPause is the longest RetryAfter that a Rate waits for; DefaultMaxPause if it is not above 0. A
	// vendor that asks for more has run out of something that a slower pace does not restore. Calls then
	// neither wait nor slow down: they fail with the vendor's words, so that their callers can switch to
	// another model.
	MaxPause time.Duration

	// Ledger makes this Rate one of several with the same limits, on any number of machines, see [Ledger]. Their
	// limits should be equal. Together they hand out 15/16 of them, so that their total stays within the limit in
	// any minute. They also share pauses and lowered limits: a machine learns of them within a second. Up to
	// two seconds' tokens are saved up, not a minute's.
	//
	// If the ledger fails, calls start as far as what it handed out before lasts; others wait. When the ledger has failed
	// for 10 seconds, waiting calls fail with kind network and NotSent set. After that, calls fail at the next try of the
	// ledger.
	Ledger Ledger

	mu      sync.Mutex
	lanes   map[laneKey]*lane
	idle    list.List // of lanes without calls, the one used last at the end
	brokers sync.WaitGroup
	closed  bool
}

// Allowance is what a vendor allows for one model, in the terms of [Rate].
type Allowance struct {
	Requests int // per minute
	Tokens   int // per minute
	Burst    int
}

// Wrap returns p with these limits. The name stands for the account: providers that are wrapped under the
// same name share their limits. Wrap may be called at any time.
func (r *Rate) Wrap(name string, p provider.Provider) *Paced {
	return &Paced{Name: name, Provider: p, Rate: r}
}

// pass is what a call gets at its start and accounts for at its end.
type pass struct {
	lane   *lane
	tokens int // reserved
	window int // the lane's window when it started
}

// enter waits for the turn of a call.
func (r *Rate) enter(ctx context.Context, name string, req *provider.Request) (pass, error) {
	if err := ctx.Err(); err != nil {
		return pass{}, ended.Unsent(err)
	}
	key := laneKey{name, req.Model}
	allowance := r.allowance(key)
	tokens := 0
	if allowance.Tokens > 0 {
		tokens = size(req) // reads every message, so not under the lock
	}
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return pass{}, unreachable(name, errClosed)
	}
	l := r.lane(key, allowance)
	p := pass{lane: l, tokens: tokens, window: l.quota.window()}
	now := time.Now()
	if l.line.len() == 0 && l.quota.wait(now, p.tokens) <= 0 {
		l.start(now, p.tokens)
		r.mu.Unlock()
		return p, nil
	}
	w := l.line.join(p.tokens)
	l.advance(now)
	l.broker.wake()
	r.mu.Unlock()

	err := w.wait(ctx)

	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case w.failed != nil:
		r.markIdle(l)
		return pass{}, w.failed
	case err == nil:
		p.window = l.quota.window()
		return p, nil
	}
	now = time.Now()
	if !l.line.leave(w) {
		l.inFlight--
		l.quota.refund(now, p.tokens)
	}
	l.advance(now)
	l.broker.wake()
	r.markIdle(l)
	return pass{}, ended.Unsent(err)
}

// try is enter for a call that does not wait for other calls.
func (r *Rate) try(ctx context.Context, name, model string) (p pass, err error) {
	r.mu.Lock()
	l := r.lanes[laneKey{name, model}]
	full := l != nil && (l.line.len() > 0 || l.broker == nil && l.quota.wait(time.Now(), 0) > 0)
	r.mu.Unlock()
	err = soon(ctx, full, func(ctx context.Context) (err error) {
		p, err = r.enter(ctx, name, &provider.Request{Model: model})
		return err
	})
	return p, err
}

// Close returns the unused part of what the Ledger has handed out, and ends the goroutines that speak to the
// Ledger. Call it after the last call has ended; calls that wait fail. It takes three seconds at most. Later calls
// fail with kind network. Without a Ledger, Close does nothing.
func (r *Rate) Close() {
	if r.Ledger == nil {
		return
	}
	r.mu.Lock()
	r.closed = true
	for _, l := range r.lanes {
		l.line.fail(unreachable(l.key.name, errClosed))
		l.broker.close()
	}
	r.mu.Unlock()
	r.brokers.Wait()
}

var errClosed = errors.New("the limit is closed")

// leave accounts for a call that has ended. After a panic, both response and err are nil.
func (r *Rate) leave(p pass, response *provider.Response, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, l := time.Now(), p.lane
	l.inFlight--
	failure, _ := errors.AsType[*provider.Error](err)
	unsent := failure != nil && failure.NotSent || response != nil && response.Cached
	if unsent {
		l.quota.refund(now, p.tokens)
	} else if response != nil && !response.Partial {
		if n, ok := used(response.Usage); ok {
			if l.allowance.Tokens > 0 {
				l.quota.settle(now, n-p.tokens)
			}
			p.tokens = n
		}
	}
	// A call that started before the limits changed says nothing about the present limits.
	current := p.window == l.quota.window()
	switch {
	case failure != nil && failure.Kind == provider.KindRateLimit && !errors.Is(err, errFull):
		if failure.RetryAfter <= r.maxPause() {
			l.quota.pause(now, failure.RetryAfter)
			if current {
				l.quota.slow(now, r.floor())
			}
		}
	case err == nil && response != nil && !unsent && current:
		l.quota.recover(now, r.recovery()*l.part(p.tokens))
	}
	l.advance(now)
	l.broker.wake()
	r.markIdle(l)
}

// lane returns the state of a model, for a call that is about to use it. The lock is held.
func (r *Rate) lane(key laneKey, a Allowance) *lane {
	l := r.lanes[key]
	if l == nil {
		l = &lane{key: key, allowance: a}
		if r.Ledger == nil {
			l.quota = newOwn(a)
		} else {
			d := newDrawn(l, r.floor())
			l.quota = d
			l.broker = newBroker(r.Ledger, key.entry(), &r.mu, &r.brokers)
			l.broker.customer = d
		}
		l.timer = time.AfterFunc(time.Hour, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			l.advance(time.Now())
			l.broker.wake()
		})
		l.timer.Stop()
		if r.lanes == nil {
			r.lanes = map[laneKey]*lane{}
		}
		r.lanes[key] = l
	}
	if l.idle != nil {
		r.idle.Remove(l.idle)
		l.idle = nil
	}
	return l
}

// markIdle marks a lane without calls as idle. If too many lanes are idle, it forgets the one that has been
// idle longest. The lock is held.
func (r *Rate) markIdle(l *lane) {
	if l.inFlight > 0 || l.line.len() > 0 || l.idle != nil {
		return
	}
	l.idle = r.idle.PushBack(l)
	if r.idle.Len() > maxIdle {
		if oldest, ok := r.idle.Remove(r.idle.Front()).(*lane); ok {
			delete(r.lanes, oldest.key)
		}
	}
}

// allowance returns the limits of a model. A limit that is not above 0 is none.
func (r *Rate) allowance(key laneKey) Allowance {
	a := r.Models[key.name+"/"+key.model]
	a.Requests = cmp.Or(a.Requests, r.Requests, DefaultRequests)
	a.Tokens = cmp.Or(a.Tokens, r.Tokens)
	a.Burst = cmp.Or(a.Burst, r.Burst)
	if a.Burst < 1 {
		a.Burst = max(1, (a.Requests-1)/60+1)
	}
	return a
}

func (r *Rate) floor() float64 {
	if r.Floor > 0 && r.Floor <= 1 {
		return r.Floor
	}
	return DefaultFloor
}

func (r *Rate) recovery() float64 {
	if r.Recovery > 0 {
		return r.Recovery
	}
	return 1
}

func (r *Rate) maxPause() time.Duration {
	if r.MaxPause > 0 {
		return r.MaxPause
	}
	return DefaultMaxPause
}
