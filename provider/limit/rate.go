package limit

import (
	"cmp"
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Defaults of a Rate.
const (
	// DefaultRequests is the lowest limit that a large vendor has for paying accounts (Anthropic's first
	// tier, in requests per minute). Who has more says so.
	DefaultRequests = 50
	// DefaultFloor still lets three calls a minute through at DefaultRequests: that the vendor has room
	// again shows within half a minute.
	DefaultFloor = 1.0 / 16
	// DefaultMaxPause is as long as the engine itself waits for a vendor before it gives up.
	DefaultMaxPause = time.Minute
)

// maxIdle is of how many models without calls a Rate remembers the state.
const maxIdle = 256

// Rate lets calls through as fast as a vendor allows, each model of each provider by itself. The zero Rate
// allows [DefaultRequests] a minute and does not count tokens.
//
// A failure of kind rate_limit halves the limits, down to Floor; those of several calls that were under
// way together count as one. What had been saved up is lost with it. Each success of a call that started
// later gives back a part, see Recovery. If the failure has a RetryAfter, no call of that model starts before that time is over.
// Other failures change nothing.
//
// One Rate may serve any number of wrapped providers, engines and debates at once; those that are wrapped
// under the same name share their models' limits. The fields must not change once the first request is made;
// after that, a Rate is safe for concurrent use. It must not be copied.
//
// It remembers the state of every model that has calls waiting or under way, and of the 256 others that were
// used last.
type Rate struct {
	// Requests is how many calls may start per minute; DefaultRequests if 0, any number if negative.
	Requests int
	// Tokens is how many tokens requests and replies may have per minute; any number if 0 or negative. A call
	// reserves an estimate: a token for four bytes of the request, and MaxTokens, or DefaultOutput without
	// it, as OpenAI does when it counts against its limit. When the reply has come, what the vendor
	// reports as input and output counts in its place. A failure without a usage keeps its reservation:
	// vendors count failed requests too. A minute's tokens can be saved up; a call that needs
	// more than that starts when as many are there, and who comes after it waits for the rest.
	Tokens int
	// Burst is how many calls may start at once after a silence; if less than 1, a second's worth, at least
	// one: vendors say that they may enforce a limit per minute by the second.
	Burst int
	// Models has limits of their own for some models, by the name that the provider is wrapped under and the
	// model as the vendor names it: "openai/gpt-5". What is 0 in one is as above.
	Models map[string]Allowance

	// Floor is the share of the limits that slowing down leaves; DefaultFloor if it is not above 0 and at
	// most 1.
	Floor float64
	// Recovery is how much of the limits a success gives back: so many times the share of a minute's requests
	// or tokens, whichever is more, that the call has used. 1 if it is not above 0: each success allows
	// one request per minute more, and a halved limit that is fully used is whole again after 42 seconds
	// (a minute times the natural logarithm of 2), however high it is.
	Recovery float64
	// MaxPause is the longest RetryAfter that is kept; DefaultMaxPause if it is not above 0. A vendor
	// that asks for more has run out of something that a slower pace does not bring back: calls
	// neither wait nor slow down for it, but go on to fail with the vendor's words, so that their
	// callers can turn to another model.
	MaxPause time.Duration

	mu    sync.Mutex
	lanes map[laneKey]*lane
	idle  list.List // of lanes without calls, the one used last at the end
}

// Allowance is what a vendor allows of one model, in the terms of [Rate].
type Allowance struct {
	Requests int // per minute
	Tokens   int // per minute
	Burst    int
}

// Wrap yields p, limited. The name stands for the account: what is wrapped under the same name has the same
// limits. It may be called at any time.
func (r *Rate) Wrap(name string, p provider.Provider) *Paced {
	return &Paced{Name: name, Provider: p, Rate: r}
}

// pass is what a call got at the start and accounts for at its end.
type pass struct {
	lane   *lane
	tokens int // reserved
	window int // in which it started
}

// enter waits for the turn of a call.
func (r *Rate) enter(ctx context.Context, name string, req *provider.Request) (pass, error) {
	if err := ctx.Err(); err != nil {
		return pass{}, ended(err)
	}
	key := laneKey{name, req.Model}
	allowance := r.allowance(key)
	tokens := 0
	if allowance.Tokens > 0 {
		tokens = size(req) // reads every message: not under the lock
	}
	r.mu.Lock()
	l := r.lane(key, allowance)
	p := pass{lane: l, tokens: tokens, window: l.window}
	now := time.Now()
	if l.line.len() == 0 && l.wait(now, p.tokens) <= 0 {
		l.start(now, p.tokens)
		r.mu.Unlock()
		return p, nil
	}
	w := l.line.join(p.tokens)
	l.advance(now)
	r.mu.Unlock()

	err := w.wait(ctx)

	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil {
		p.window = l.window
		return p, nil
	}
	now = time.Now()
	if !l.line.leave(w) {
		l.flying--
		l.giveBack(now, p.tokens)
	}
	l.advance(now)
	r.rest(l)
	return pass{}, ended(err)
}

// leave accounts for a call that has ended. Both are nil if a panic passes through.
func (r *Rate) leave(p pass, response *provider.Response, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now, l := time.Now(), p.lane
	l.flying--
	failure, _ := errors.AsType[*provider.Error](err)
	unsent := failure != nil && failure.NotSent || response != nil && response.Cached
	if unsent {
		l.giveBack(now, p.tokens)
	} else if response != nil {
		if n, ok := used(response.Usage); ok {
			l.tokens.take(now, n-p.tokens)
			p.tokens = n
		}
	}
	// What started before the limits were changed says nothing about those that hold now.
	current := p.window == l.window
	switch {
	case failure != nil && failure.Kind == provider.KindRateLimit:
		if failure.RetryAfter <= r.maxPause() {
			l.pause(now.Add(failure.RetryAfter))
			if current {
				l.slow(now, r.floor())
			}
		}
	case err == nil && response != nil && !unsent && current:
		l.recover(now, r.recovery(), p.tokens)
	}
	l.advance(now)
	r.rest(l)
}

// lane yields the state of a model, for a call that is about to use it. The lock is held.
func (r *Rate) lane(key laneKey, a Allowance) *lane {
	l := r.lanes[key]
	if l == nil {
		l = newLane(key, a)
		l.timer = time.AfterFunc(time.Hour, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			l.advance(time.Now())
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

// rest notes that a model may have no calls any more, and forgets the one that has had none for longest if
// there are too many of them. The lock is held.
func (r *Rate) rest(l *lane) {
	if l.flying > 0 || l.line.len() > 0 {
		return
	}
	l.idle = r.idle.PushBack(l)
	if r.idle.Len() > maxIdle {
		if oldest, ok := r.idle.Remove(r.idle.Front()).(*lane); ok {
			delete(r.lanes, oldest.key)
		}
	}
}

// allowance yields the limits of a model. What is not above 0 in it has no limit.
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
