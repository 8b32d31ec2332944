package flow

import (
	"fmt"
	"slices"
	"time"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

func (r *Record) foldIntent(in *Intent, at time.Time) error {
	call := r.calls[in.Call]
	if call == nil {
		call = newCall(nil)
		r.calls[in.Call] = call
	}
	if err := r.checkIntent(call, in); err != nil {
		return err
	}
	if len(r.inFlight) >= maxTracked || len(r.current) >= maxTracked {
		return invalid("intent", "exceeds the limit of %d calls in flight or actors", maxTracked)
	}
	if call.intent != nil && call.intent.Model != in.Model { // another model begins anew
		call.whole()
		call.forgive()
	}
	call.setBack, call.withdrawn = false, false
	call.intent, call.status, call.aborted, call.drains, call.person, call.unbegun = in, callInFlight, false, false, false, false
	if call.began.IsZero() {
		call.began = at
	}
	if call.first == 0 {
		call.first = r.Seq + 1
	}
	call.vain++
	call.ending = r.work == StateCompleting
	if r.firstTimed == "" && slices.Contains(r.timed, r.work) {
		r.firstTimed = r.work
	}
	if in.Share > 0 && len(r.sharing) < maxTracked && !slices.Contains(r.sharing, call) {
		call.own().share = in.Share
		r.sharing = append(r.sharing, call)
	}
	if in.ModelIndex > call.special.model { // another model, with tries of its own
		call.own().model = in.ModelIndex
		if call.trouble != nil {
			call.trouble.tries = nil
		}
	}
	if call.trouble != nil {
		call.trouble.retryAt = time.Time{}
	}
	if err := r.mayUse(in); err != nil {
		return err
	}
	for _, ability := range in.Left {
		r.leave(in.Model, string(ability))
	}
	call.usedUp = call.usedUp || offeredTools(in).Last && len(call.special.talk) > 0
	r.inFlight = append(r.inFlight, call)
	if in.Tool == "" {
		r.setLatest(call)
	}
	r.reserve(in)
	r.opened.begin(call)
	return nil
}

// checkIntent refuses an attempt that cannot follow on what has happened to the call.
func (r *Record) checkIntent(call *callState, in *Intent) error {
	last := 0
	if call.intent != nil {
		last = call.intent.Attempt
	}
	switch {
	case call.status == callInFlight || call.status == callDone:
		return invalid("intent.call", "%q is in flight or done already", text.OneLine(in.Call, 80))
	case call.status == callSkipped:
		return invalid("intent.call", "%q was left out", text.OneLine(in.Call, 80))
	case in.Attempt != last+1:
		return invalid("intent.attempt", "is %d after %d", in.Attempt, last)
	case in.Reask != call.reasks(in.Model):
		return invalid("intent.reask", "is %t, although the last answer of this model says otherwise", in.Reask)
	case min(in.Reserve, Money(in.Tokens), Money(in.Lowered), Money(in.Thinking)) < 0 || in.Thinking > in.Tokens:
		return invalid("intent.reserve", "is negative, or the number of tokens is invalid")
	case in.Model != "" && r.model(in.Model) == nil:
		return invalid("intent.model", "%q is no model of this conversation", text.OneLine(in.Model, 80))
	case in.StandIn && in.Model == "":
		return invalid("intent.standIn", "is true, although no model is asked")
	case in.Round < 0 || in.Slot < 0 || in.ModelIndex < 0 || in.ModelIndex > maxTracked:
		return invalid("intent.round", "is negative, or the slot or the index of the model is invalid")
	}
	return nil
}

// maxTracked bounds the calls in flight, the inquiries and the actors. Their lists are searched. Without a bound, a
// hostile log would take time quadratic in its length.
const maxTracked = 4096

// setLatest makes the call the latest one of its actor.
func (r *Record) setLatest(call *callState) {
	for i := range r.current {
		if r.current[i].intent.By == call.intent.By {
			r.current[i] = call
			return
		}
	}
	r.current = append(r.current, call)
}

// foldInquiry turns a call in flight into an inquiry to a person. The call then has no cost, and a crash cannot
// lose it. An inquiry about a failed call goes to foldQuestion, and one about the use of
// a tool to foldUseQuestion.
func (r *Record) foldInquiry(q *Inquiry) error {
	call := r.calls[q.ID]
	if len(r.Inquiries) >= maxTracked {
		return invalid("inquiry", "exceeds the limit of %d", maxTracked)
	}
	if q.Use != nil {
		return r.foldUseQuestion(q)
	}
	if len(q.Options) > 0 {
		return r.foldQuestion(q)
	}
	if call == nil || call.status != callInFlight {
		return invalid("inquiry.id", "%q is no call in flight", text.OneLine(q.ID, 80))
	}
	if q.Within < 0 || q.Max < 0 || !q.Until.IsZero() && q.Within == 0 {
		return invalid("inquiry.within", "is negative or missing, or the bound of the answer is negative")
	}
	if open := r.inquiry(q.ID); open != nil && open.performed() { // it has more time
		*open = *q
		return nil
	}
	r.close(call)
	call.person = true
	r.addInquiry(q)
	return nil
}

func (r *Record) inquiry(id string) *Inquiry {
	for i := range r.Inquiries {
		if r.Inquiries[i].ID == id {
			return &r.Inquiries[i]
		}
	}
	return nil
}

// foldOutcome folds the end of an attempt.
func (r *Record) foldOutcome(body AttemptEnd, at time.Time) error {
	spend := SpendOf(body)
	call := r.callByID(spend.Call)
	if call == nil || call.status != callInFlight || call.intent.Attempt != spend.Attempt {
		return invalid("call", "%q, attempt %d, is not in flight", text.OneLine(spend.Call, 80), spend.Attempt)
	}
	if err := r.foldSpend(spend, call); err != nil {
		return err
	}
	r.opened.end(call)
	failure, _ := body.(*Failure)
	switch body := body.(type) {
	case *Turn:
		if body.Round != call.intent.Round || body.Slot != call.intent.Slot || body.Speaker != call.intent.By {
			return invalid("turn", "is not the one that was asked for")
		}
		if field, err := r.accepts(body.Attachments); err != nil {
			return invalid("turn."+field, "%s", err.Error())
		}
		if err := checkBeside(body); err != nil {
			return err
		}
	case *Summarized:
		if v := r.viewOf(body.View); v == nil || body.Upto < 1 || body.Upto > len(v.Messages) {
			return invalid("summary.upto", "is %d: no message of a view", body.Upto)
		}
	case *Failure:
		if body.Error == nil {
			return invalid("failed.error", "is missing")
		}
	}
	if failure == nil && !spend.Cached {
		r.over(call.intent, true, at)
	}
	r.closeAttempt(call, spend, failure)
	call.ended = at
	call.pay(spend)
	switch body := body.(type) {
	case *Turn:
		r.foldTurn(body)
	case *Summarized:
		r.foldSummary(body)
	case *Rejection:
		return r.foldRejection(call, body, at)
	case *Failure:
		call.own().earlier.lose(call.intent, spend)
		r.foldFailure(call, body, at)
		return nil
	case *ToolCalls:
		return r.foldTools(call, body)
	case *Continued:
		return r.foldContinued(call, body)
	case *ToolResult:
		return r.foldTool(call, body)
	case *Charge: // in a final state only the spend counts
		call.status = callIdle
		return nil
	}
	r.foldDone(call)
	return nil
}

// foldSpend checks what an attempt has cost, and notes what its request went without.
func (r *Record) foldSpend(spend *Spend, call *callState) error {
	if spend.Cost < 0 || spend.Model != call.intent.Model {
		return invalid("cost", "is negative, or of a model that was not asked")
	}
	if spend.StandIn && !call.intent.StandIn {
		return invalid("spend.standIn", "is true, although no model was asked in the place of a person")
	}
	if spend.Usage != knownUsage(spend.Usage) {
		return invalid("usage", "has an impossible number of tokens")
	}
	if spend.AtMost < 0 || spend.BrokenOff && spend.Unreported || spend.AtMost > 0 && !spend.BrokenOff && !spend.Unreported {
		return invalid("atMost", "is negative, or for no reason or two")
	}
	if err := checkVendor(spend); err != nil {
		return err
	}
	if spend.Vendor != nil {
		for _, name := range spend.Vendor.Left {
			r.leave(spend.Model, name)
		}
	}
	return nil
}

// foldDone folds that a call has its result.
func (r *Record) foldDone(call *callState) {
	call.status = callDone
	r.unshare(call)
	r.shrank(call, nil)
	if call.intent.Upto == 0 {
		r.heard(call.intent.By)
		r.countDone(call)
		r.tardy = slices.DeleteFunc(r.tardy, func(late tardy) bool { return late.seq < call.first })
	}
}

// closeAttempt removes an attempt from those in flight, and adds its cost to the accounts. failure is nil if it
// succeeded.
func (r *Record) closeAttempt(call *callState, spend *Spend, failure *Failure) {
	r.close(call)
	if failure == nil && spend.Model != "" && !spend.Cached {
		r.lift(spend.Model)
	}
	if failure == nil && !spend.Cached {
		r.recovered(call.intent)
	}
	if answers(spend, failure) {
		r.foldAnswered(call.intent)
	}
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { return q.ID == spend.Call })
	if (failure == nil || !failure.Unsent) && !call.person && call.intent.Tool == "" {
		r.spent.add(call.intent, spend)
	}
	if failure == nil && !spend.Cached {
		r.lengths.add(call.intent, spend.Usage)
	}
	r.learn(call.intent, spend, failure == nil)
}

// close removes a call from those in flight, and releases its reserve.
func (r *Record) close(call *callState) {
	i := slices.Index(r.inFlight, call)
	if i < 0 {
		return
	}
	r.inFlight = slices.Delete(r.inFlight, i, i+1)
	if in := call.intent; in.Tool == "" {
		r.growths = r.growths.less(r.replyOf(visibleTokens(in), in.By))
	}
	r.resume(call)
	r.release(call.intent)
}

// presume counts a call in flight as broken off until its end is recorded. The process that makes it may have died, and then the end
// is never recorded: no worker looks for a conversation that is over, paused or in error.
func (r *Record) presume(call *callState) {
	if call.intent.Model == "" || call.presumed {
		return
	}
	call.presumed = true
	r.release(call.intent)
	spend := r.unknownSpend(call.intent)
	r.spent.add(call.intent, &spend)
}

// resume takes back what presume has counted: the call holds its reserve again.
func (r *Record) resume(call *callState) {
	if !call.presumed {
		return
	}
	call.presumed = false
	spend := r.unknownSpend(call.intent)
	r.spent.takeBack(call.intent, &spend)
	r.hold(call.intent)
}

func (r *Record) foldTurn(t *Turn) {
	r.Turns = append(r.Turns, t)
	_, _, _, beside := carried(t.Attachments) //nolint:dogsled // the rest is for messages
	r.surplus = r.surplus.plus(beside)
	if t.Hidden {
		r.hidden = append(r.hidden, len(r.Turns)-1)
		return
	}
	r.show(len(r.Turns) - 1)
	r.nextBatch()
}

// reaskDelay is the wait before a call asks again for an answer that was not accepted.
const reaskDelay = 2 * time.Second

// foldRejection folds an answer that was not accepted. The next attempt with the same model asks for it again and shows its
// problems. If that answer is rejected too, a fallback model begins from the beginning; without one the call fails.
func (r *Record) foldRejection(call *callState, rejection *Rejection, at time.Time) error {
	in := call.intent
	if in.Schema == "" || in.Tool != "" || !in.Reask && (rejection.Next != "" || rejection.Final || rejection.Instead) ||
		in.Reask && rejection.Final != (rejection.Next == "") {
		return invalid("rejected.call", "%q was asked for no such answer, or for the first time", text.OneLine(in.Call, 80))
	}
	r.Rejections = append(r.Rejections, *rejection)
	call.status, call.trouble = callIdle, nil
	call.whole()
	own := call.own()
	own.broken += oneIf(rejection.Broken)
	switch {
	case !in.Reask:
		own.rejection, call.troubled().retryAt = rejection, at.Add(reaskDelay)
	case rejection.Next != "":
		own.rejection, own.model = nil, modelIndexOf(call.intent, rejection.Next)
		own.least = own.model
	default:
		call.status, call.troubled().instead, call.trouble.failedAt = callFailed, rejection.Instead, r.Seq+1
		call.trouble.failure = &Error{
			Kind: provider.KindInvalidResponse, Op: call.intent.Call, Participant: rejection.By, Round: rejection.Round,
			Err: fmt.Errorf("the answer was not accepted: %s", text.OneLine(firstOf(rejection.Problems), 200)),
		}
		r.foldFailed(call)
	}
	return nil
}

func firstOf(problems []string) string {
	if len(problems) == 0 {
		return "no reason is known"
	}
	return problems[0]
}

func (r *Record) foldFailure(call *callState, f *Failure, at time.Time) {
	own := call.own()
	call.status = callIdle
	own.broken += oneIf(f.Broken)
	r.Failures = append(r.Failures, FailedAttempt{f, at})
	if !f.Void {
		own.failures++
		call.setBack = true
	}
	r.foldLimit(f, at)
	if !f.Void && !f.Unsent && !call.person && (passes(f.Error.Kind) || call.patient) {
		r.foldOutage(call.intent, f, at)
	}
	r.narrow(call.intent.Model, f)
	switch {
	case f.Void: // the time in which no process held the conversation does not count
		r.shift(at.Sub(r.LastAt))
	case f.Final:
		call.status, call.troubled().failure, call.trouble.unsent, call.trouble.instead = callFailed, f.Error, f.Unsent, f.Instead
		call.trouble.failedAt = r.Seq + 1
		r.shrank(call, f)
		if f.Error.Kind == provider.KindContextOverflow {
			call.whole() // with its parts it would not fit again
		}
		r.foldFailed(call)
	case f.Waits:
		t := call.troubled()
		t.tries, t.retryAt = append(t.tries, f.Error.Kind), f.RetryAt
		t.waits, own.model = t.waits+1, own.least
	case f.Next != "":
		own.model = modelIndexOf(call.intent, f.Next)
		call.trouble = nil
	default:
		t := call.troubled()
		t.tries, t.retryAt = append(t.tries, f.Error.Kind), f.RetryAt
	}
}

// foldFailed folds that a call has failed for good.
func (r *Record) foldFailed(call *callState) {
	r.unshare(call)
	if call.trouble.instead {
		r.countDone(call)
	}
	r.failing = append(r.failing, call)
}

// reset gives every call that has failed for good a new start, because the host program retries. Nothing is left to ask
// about these calls.
func (r *Record) reset() {
	r.over(nil, false, time.Time{})
	r.limits, r.outages = nil, nil
	for _, call := range r.calls {
		call.vain, call.patient = 0, false
		if call.special.ruled != nil {
			call.own().ruled = nil
		}
	}
	for _, call := range r.failing {
		if call.status == callFailed {
			r.widen(call)
			call.anew()
			call.unbounded()
			if !r.IsDropped(call.intent.By) {
				r.uncount(call)
			}
		}
	}
	r.failing = nil
	r.Inquiries = slices.DeleteFunc(r.Inquiries, func(q Inquiry) bool { return len(q.About) > 0 })
}

// anew gives a call a new start, with its first model and none of its failures. What tools have answered is kept.
func (c *callState) anew() {
	c.status = callIdle
	c.afresh()
	c.forgive()
	if talk := c.special.talk; len(talk) > 0 {
		c.own().spared = len(talk)
	}
}

// afresh lets a call begin with its first model and none of its failures.
func (c *callState) afresh() {
	c.trouble = nil
	if c.special.model > 0 || c.special.least > 0 {
		own := c.own()
		own.model, own.least = 0, 0
	}
}

// forgive forgets the answer that was rejected: the next attempt begins without it.
func (c *callState) forgive() {
	if c.special.rejection != nil {
		c.own().rejection = nil
	}
}

// unbounded ends a call's share of the round's time.
func (c *callState) unbounded() {
	if c.special.share != 0 {
		c.own().share = 0
	}
}

// reasks reports whether the model is to be asked again for an answer of its own that was rejected.
func (c *callState) reasks(model string) bool {
	return c != nil && c.special.rejection != nil && c.special.rejection.Model == model
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
