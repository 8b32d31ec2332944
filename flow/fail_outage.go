package flow

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// A failure that passes by itself is waited for. The calls to one provider share an outage: it begins with the first
// such failure, of whatever kind, and ends with the first reply. While it lasts, each call is tried again and again, at
// growing intervals, until Settings.Patience is over. Then the call has failed for good. The time in which the conversation
// is paused, or in which no process holds it, does not count.
//
// Patience is for a provider that has answered before. One that nobody has ever reached in this conversation probably has a wrong
// address, so it is tried for 15 s at most, for all calls together; see Core.unproven and Core.outOfReach.

// DefaultPatience is how long a conversation waits for an outage to pass.
const DefaultPatience = 10 * time.Minute

// patienceUnproven bounds how long a provider is tried that nobody has reached in the conversation.
const patienceUnproven = 15 * time.Second

// outage is a provider's failure that may pass by itself.
type outage struct {
	host  string // the registered name of the provider; the actor's name, if no model is asked
	since time.Time
	from  time.Time     // when the first attempt was begun that could not connect; zero: there was none
	took  time.Duration // the longest of those that could not connect
	cause *Error        // of the latest of them
	told  bool          // whether the warning was given
	seen  int           // its place in Record.outlasted, from 1; 0: it is not there
}

// toldOutage is an outage of which a warning was given: the conversation waits for it to pass.
type toldOutage struct {
	host     string        // as in outage
	kind     Kind          // of the failure of which the warning was given
	evidence string        // that of the warning: until when it is waited for
	over     bool          // it is no longer waited for
	passed   bool          // it is over because the provider has answered
	waited   time.Duration // until the answer, without the time in which no call could run; 0 unless passed
}

// over ends outages, in the record of them. passed: the provider has answered at this time.
func (r *Record) over(in *Intent, passed bool, at time.Time) {
	for i := range r.outages {
		if o := &r.outages[i]; o.seen > 0 && (in == nil || o.host == r.hostOf(in)) {
			told := &r.outlasted[o.seen-1]
			if told.over, told.passed = true, passed; passed {
				told.waited = at.Sub(o.since)
			}
			o.seen = 0
		}
	}
}

// passes reports whether failures of this kind pass by themselves.
func passes(kind Kind) bool {
	switch kind {
	case provider.KindNetwork, provider.KindRateLimit, provider.KindAPI, provider.KindTimeout:
		return true
	default:
		return false
	}
}

// hostOf returns who answers a call: the registered provider of its model, or the actor.
func (r *Record) hostOf(in *Intent) string {
	if host, _, ok := SplitModel(in.Model); ok {
		return host
	}
	return in.By
}

// outage returns the outage of a provider, whatever kinds of failures it shows. nil: there is none.
func (r *Record) outage(host string) *outage {
	for i := range r.outages {
		if r.outages[i].host == host {
			return &r.outages[i]
		}
	}
	return nil
}

// foldOutage records that a provider has failed in a way that may pass.
func (r *Record) foldOutage(in *Intent, f *Failure, at time.Time) {
	host := r.hostOf(in)
	if r.outage(host) == nil && len(r.outages) < maxTracked {
		r.outages = append(r.outages, outage{host: host, since: at})
	}
	o := r.outage(host)
	if o == nil || !f.Unreached {
		return
	}
	if o.from.IsZero() {
		o.from = began(f, at)
	}
	o.took, o.cause = max(o.took, f.Took), f.Error
}

// began returns when an attempt was begun that has failed now, without the time in queues.
func began(f *Failure, at time.Time) time.Time { return at.Add(-max(0, f.Took)) }

// foldAnswered records that a provider has answered.
func (r *Record) foldAnswered(in *Intent) {
	host := r.hostOf(in)
	if in.Model == "" || r.replied[host] || len(r.replied) >= maxTracked {
		return
	}
	if r.replied == nil {
		r.replied = make(map[string]bool)
	}
	r.replied[host] = true
}

// answers reports whether the end of an attempt shows that the provider was reached, if only with an error. A timeout that cost
// nothing does not: the request has waited in a queue, or for a connection.
func answers(spend *Spend, failure *Failure) bool {
	switch {
	case failure == nil:
		return !spend.Cached
	case failure.Void, failure.Unsent, failure.Unreached:
		return false
	default:
		return failure.Error.Kind != provider.KindTimeout || spend.BrokenOff || spend.Unreported || !spend.Usage.IsZero()
	}
}

// recovered ends the outages of a provider, because it has answered.
func (r *Record) recovered(in *Intent) {
	if len(r.outages) == 0 {
		return
	}
	r.over(in, false, time.Time{}) // unless the answer has ended it
	host := r.hostOf(in)
	r.outages = slices.DeleteFunc(r.outages, func(o outage) bool { return o.host == host })
}

// shift moves what counts time within the conversation, because no call could run for this long.
func (r *Record) shift(d time.Duration) {
	r.roundAt = r.roundAt.Add(d)
	for i := range r.outages {
		o := &r.outages[i]
		if o.since = o.since.Add(d); !o.from.IsZero() {
			o.from = o.from.Add(d)
		}
	}
}

// unproven reports whether a failure is one to reach a provider that nobody has ever reached in this conversation. Then no attempt
// begins after until, retries and other calls included: it would take as long as the longest so far. A person who chooses to wait decides
// otherwise.
func (c *Core) unproven(state *callState, f *Failure) (until time.Time, yes bool) {
	host := c.record.hostOf(state.intent)
	if !f.Unreached || c.record.replied[host] || state.patient {
		return time.Time{}, false
	}
	took := max(0, f.Took)
	if o := c.record.outage(host); o != nil {
		took = max(took, o.took)
	}
	return c.tried(host, f).Add(patienceUnproven - took), true
}

// outOfReach returns why a call is not sent: its provider was tried for as long as one that was never reached is. nil: it is sent.
func (c *Core) outOfReach(in *Intent) *Error {
	o := c.record.outage(c.record.hostOf(in))
	if in.Model == "" || in.Tool != "" || o == nil || o.cause == nil {
		return nil
	}
	asked := newCall(in)
	if state := c.record.calls[in.Call]; state != nil {
		asked.patient = state.patient
	}
	if until, yes := c.unproven(asked, &Failure{Unreached: true}); !yes || !c.in.At.After(until) {
		return nil
	}
	return &Error{Kind: o.cause.Kind, Err: o.cause.Err}
}

// unreached records a call that is not sent because its provider cannot be reached. Another model may be asked instead.
func (c *Core) unreached(in *Intent, failure *Error) error {
	if err := c.emit(Event{Body: in}); err != nil {
		return err
	}
	spend := Spend{Call: in.Call, Attempt: in.Attempt, Model: in.Model}
	return c.unused(c.record.calls[in.Call], failure, &Failure{Spend: spend, Unsent: true, Unreached: true}, "")
}

// tried returns since when a provider is tried that fails now.
func (c *Core) tried(host string, f *Failure) time.Time {
	if o := c.record.outage(host); o != nil && !o.from.IsZero() {
		return o.from
	}
	return began(f, c.in.At)
}

// patience returns for how long, and until when, an outage that shows in a failure is waited for.
func (c *Core) patience(state *callState, f *Failure) (most time.Duration, until time.Time) {
	since := c.in.At
	if o := c.record.outage(c.record.hostOf(state.intent)); o != nil {
		since = o.since
	}
	most = c.record.settings.Patience
	until = since.Add(most)
	if last, yes := c.unproven(state, f); yes && last.Before(until) {
		return patienceUnproven, last
	}
	return most, until
}

// await returns how long to wait for an outage to pass before the next attempt. false: it is not waited for any longer.
func (c *Core) await(state *callState, f *Failure) (time.Duration, bool) {
	r, failure := c.record, f.Error
	if !passes(failure.Kind) && !state.patient {
		return 0, false
	}
	_, until := c.patience(state, f)
	left := until.Sub(c.in.At)
	policy := retryDefaults(r.settings.Retry)
	wait := backoff(&policy, failure.Kind, mostRetries(r.settings.Retry, failure.Kind)+1+state.waits(), failure.RetryAfter)
	if failure.RetryAfter <= 0 {
		return wait, wait <= left
	}
	chosen := state.patient && state.waits() == 0 // once, a call that was chosen to be waited for waits as long as it takes
	return wait + jitterOf(&policy, c.in.Bits), wait <= left || chosen
}

// outlast warns, once per outage, that it is waited for.
func (c *Core) outlast(state *callState, f *Failure) error {
	r, in := c.record, state.intent
	o := r.outage(r.hostOf(in))
	if o == nil || o.told {
		return nil
	}
	most, until := c.patience(state, f)
	return c.warn(&Warning{
		Kind: WarnOutage, Call: in.Call, By: in.By, Evidence: fmt.Sprintf("%s: %s is waited for, for up to %s, until %s",
			f.Error.Kind, r.hostOf(in), most, until.UTC().Format(time.RFC3339)),
	})
}

// sayUnreached says of a failure for good that nobody has ever reached the provider. What helps stands in the failure itself: its adapter
// knows what it could not connect to.
func (c *Core) sayUnreached(state *callState, f *Failure) {
	host, why := c.record.hostOf(state.intent), cmp.Or(f.Error.Err, errors.New("no reason is known"))
	said := fmt.Sprintf("the provider %s was not reached in ", text.OneLine(host, 80))
	if strings.HasPrefix(why.Error(), said) { // by the failure of another call, for which this one is not sent
		return
	}
	f.Error.Err = fmt.Errorf("%s%s: %w", said, c.in.At.Sub(c.tried(host, f)).Round(time.Second), why)
}

// foldTold records that the warning of an outage was given.
func (r *Record) foldTold(w *Warning) {
	state := r.calls[w.Call]
	if state == nil || state.trouble == nil {
		return
	}
	host, tries := r.hostOf(state.intent), state.tries()
	o := r.outage(host)
	if o == nil {
		return
	}
	o.told = true
	if len(tries) > 0 && o.seen == 0 && len(r.outlasted) < maxTracked {
		r.outlasted = append(r.outlasted, toldOutage{host: host, kind: tries[len(tries)-1], evidence: w.Evidence})
		o.seen = len(r.outlasted)
	}
}

// RetriedNow records that a person has cut the waiting short: the calls that wait are made now.
type RetriedNow struct {
	Reason string `json:"reason,omitempty"` // those of the Retry
	Person string `json:"person,omitempty"`
}

// waiting reports whether a call waits before it is made again.
func (r *Record) waiting() bool {
	for _, call := range r.calls {
		if call.status == callIdle && !call.retryAt().IsZero() && call.ending == (r.work == StateCompleting) {
			return true
		}
	}
	return false
}

// foldRetriedNow folds that no call waits any longer.
func (r *Record) foldRetriedNow() {
	r.limits = nil
	for _, call := range r.calls {
		if call.status == callIdle && call.trouble != nil {
			call.trouble.retryAt = time.Time{}
		}
	}
}
