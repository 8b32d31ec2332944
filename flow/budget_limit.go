package flow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// amount is what counts against a budget.
type amount struct {
	cost   Money
	tokens int
	calls  int
}

// plus adds without overflow: a log may be hostile, and a config may allow any number of tokens.
func (u amount) plus(v amount) amount {
	return amount{u.cost.Plus(v.cost), added(u.tokens, v.tokens), added(u.calls, v.calls)}
}

// added adds counts without overflow. A sum that is too large becomes the largest number.
func added(n, m int) int { return int(Money(n).Plus(Money(m))) }

// mostTokens bounds a number of tokens wherever one enters: no request and no reply has as many. Configs and providers may name any number.
const mostTokens = 1 << 40

// mostOf returns the cap on the reply to a call, without the model's thoughts and the bounds of the model.
func (r *Record) mostOf(call *Call) int {
	return min(cmp.Or(call.MaxTokens, r.settings.MaxTokens), mostTokens)
}

// reservedFor returns the worst case of an attempt. A bound that no request has is as large as it can be: a log may hold any.
func reservedFor(in *Intent) amount {
	const most = 8 * mostTokens // input, and output
	tokens := in.Bound
	if tokens < 0 || tokens > most {
		tokens = most
	}
	return amount{in.Reserve, tokens, oneIf(in.Tool == "")}
}

// atLimit tells of a limit that a use has come to.
type atLimit struct {
	limit string // the limit's key in the JSON of a Budget
	what  string // the use and the limit, in words; "": no limit is meant
	whole bool   // the round was over; see Transition.Whole
}

// The keys of the limits of a Budget: whether a limit is soft or hard, and what it measures if that is no cost.
const (
	limitSoft     = "soft"
	limitHard     = "hard"
	measureTokens = "Tokens"
	measureCalls  = "Calls"
	measureTime   = "Time"
)

// passed returns which limit a use exceeds, by what it measures.
func (u amount) passed(limit amount) atLimit {
	return u.beyond(limit, u)
}

// reached returns which limit a use has reached, by what it measures.
func (u amount) reached(limit amount) atLimit {
	return u.beyond(limit, u.plus(amount{1, 1, 1}))
}

// beyond tells of a use whose measure exceeds a limit.
func (u amount) beyond(limit, measure amount) atLimit {
	switch {
	case limit.cost > 0 && measure.cost > limit.cost:
		return atLimit{what: fmt.Sprintf("%s of %s", u.cost.Rounded(), limit.cost.Rounded())}
	case limit.tokens > 0 && measure.tokens > limit.tokens:
		return atLimit{limit: measureTokens, what: fmt.Sprintf("%d of %d tokens", u.tokens, limit.tokens)}
	case limit.calls > 0 && measure.calls > limit.calls:
		return atLimit{limit: measureCalls, what: fmt.Sprintf("%d of %d calls", u.calls, limit.calls)}
	default:
		return atLimit{}
	}
}

// of names the limit in full, soft or hard, and says what the use holds beside what was spent.
func (l atLimit) of(side, beside string) atLimit {
	l.limit, l.what = side+l.limit, l.what+beside
	return l
}

func softLimits(b *Budget) amount { return amount{b.Soft, b.SoftTokens, b.SoftCalls} }

func hardLimits(b *Budget) amount { return amount{b.Hard, b.HardTokens, b.HardCalls} }

// used returns the most that the attempts that have ended can have used. Hard limits compare it.
func (r *Record) used() amount { return r.known().plus(r.spent.brokenOff) }

// known returns what the attempts that have ended have used, as far as it is known. Soft limits compare it: what was broken off ends no
// rounds. A reply without a reported usage counts as the most that it can have used, or else such a limit would never be reached.
func (r *Record) known() amount {
	return amount{r.spent.total.Cost, r.spent.tokens, r.spent.total.Requests}.plus(r.spent.unreported)
}

// reserve adds the worst case of an attempt in flight to that of the others.
func (r *Record) reserve(in *Intent) {
	r.hold(in)
	if in.Tool == "" {
		r.growths = r.growths.plus(r.replyOf(visibleTokens(in), in.By))
	}
}

// hold is the reverse of release.
func (r *Record) hold(in *Intent) {
	r.reserves = r.reserves.plus(reservedFor(in))
}

// release takes the worst case of an attempt out of that of the attempts in flight: it has ended, or counts as broken off in used.
func (r *Record) release(in *Intent) {
	r.reserves = r.reserves.less(reservedFor(in))
}

// move is what follows in a pass of [Core.advance].
type move uint8

// The moves.
const (
	proceed move = iota // with the rest of the pass
	wait                // nothing else is due before the next input
	rerun               // the record has changed: the next pass begins
)

// watchBudget gives warnings and stops at limits. calls are those that the step of the present state returns.
func (c *Core) watchBudget(step Step, calls []*Call) (move, error) {
	r, budget := c.record, c.record.settings.Budget
	if budget == nil {
		return proceed, nil
	}
	spent := r.known()
	if budget.Warn > 0 && spent.cost >= budget.Warn && !r.warned() {
		return rerun, c.warn(&Warning{
			Kind: WarnCost, Threshold: budget.Warn, Spend: r.spent.total.Cost,
			Evidence: fmt.Sprintf("%s of %s", spent.cost.Rounded(), budget.Warn.Rounded()) + r.doubt(atLimit{}, limitSoft),
		})
	}
	if c.machine.allows(r, TriggerWarn) {
		return c.confirm()
	}
	if next, err := c.watchTime(step, calls); next != proceed || err != nil || r.State == StateCompleting {
		return next, err
	}
	if soft := spent.reached(softLimits(budget)); soft.what != "" && r.State != StateInitializing {
		return c.reachSoft(step, calls, soft)
	}
	hard := r.used().reached(hardLimits(budget))
	if hard.what == "" {
		return proceed, nil
	}
	cuts, whole := c.cuts(step, calls)
	if !cuts {
		return proceed, nil
	}
	hard.whole = whole
	return rerun, c.reach(WarnHard, "", hard.of(limitHard, r.doubt(hard, limitHard)))
}

// cuts reports whether a limit that is reached cuts something now: the flow lacks a call, or, once the round is whole, begins the next
// one. Where it leads on without either, the limit waits.
func (c *Core) cuts(step Step, calls []*Call) (cuts, whole bool) {
	exit, leads := c.leads(step, calls)
	return !leads || exit.Round != nil && exit.Round.N != c.record.Round, leads
}

// leads returns how the flow leads on from the present state. false: it does not now, because it lacks a call or waits, or because it
// fails.
func (c *Core) leads(step Step, calls []*Call) (Exit, bool) {
	r := c.record
	if r.State == StateAwaitingInput || len(r.inFlight) > 0 || r.lacks(calls) {
		return Exit{}, false
	}
	if step.Next == nil {
		return Exit{}, true
	}
	on, exit, ok := step.Next(r)
	return exit, ok && on != TriggerFail
}

// watchTime stops at the limits of time, also while a person is awaited. What is given counts before the time is looked at: a conversation
// whose conclusion lacks nothing is completed.
func (c *Core) watchTime(step Step, calls []*Call) (move, error) {
	r, budget := c.record, c.record.settings.Budget
	if budget == nil {
		return proceed, nil
	}
	took := c.in.At.Sub(r.timesFrom)
	if budget.HardTime > 0 && took >= budget.HardTime {
		if _, leads := c.leads(step, calls); leads && r.State == StateCompleting {
			return proceed, nil
		}
		c.abort()
		return rerun, c.reach(WarnHard, "", atLimit{limit: limitHard + measureTime, what: fmt.Sprintf("%s of %s", took, budget.HardTime)})
	}
	if budget.SoftTime > 0 && took >= budget.SoftTime && r.work != StateCompleting && r.work != StateInitializing {
		return c.reachSoft(step, calls, atLimit{limit: measureTime, what: fmt.Sprintf("%s of %s", took, budget.SoftTime)})
	}
	return proceed, nil
}

// reachSoft ends the rounds at a soft limit, once the calls in flight have finished.
func (c *Core) reachSoft(step Step, calls []*Call, at atLimit) (move, error) {
	cuts, whole := c.cuts(step, calls)
	switch {
	case !cuts:
		return proceed, nil
	case len(c.record.inFlight) > 0:
		c.waitUntil(c.record.times(c.in.At))
		return wait, nil
	}
	at.whole = whole
	return rerun, c.reach(WarnSoft, "", at.of(limitSoft, c.record.doubt(at, limitSoft)))
}

// InquiryCost is the ID of the inquiry that asks to confirm the cost warning; see Budget.Confirm.
const InquiryCost = "confirm.cost"

// confirm asks whether to go on after the cost warning. A rule answers, or a person.
func (c *Core) confirm() (move, error) {
	r := c.record
	if r.inquiry(InquiryCost) != nil {
		return rerun, c.fire(TriggerWarn, Exit{Evidence: "the cost warning waits to be confirmed"}, false)
	}
	do := OptionAsk
	for i := range r.settings.OnFailure {
		rule := &r.settings.OnFailure[i]
		ask := rule.Do == OptionAsk && !r.settings.Unattended
		decides := ask || rule.Do == OptionContinue || rule.Do == OptionEnd || rule.Do == OptionFail
		if decides && ruleFits(rule, KindConfirm, provider.KindCostLimit) {
			do = rule.Do
			break
		}
	}
	if do != OptionAsk && do != OptionContinue && len(r.inFlight) > 0 {
		c.waitUntil(r.times(c.in.At))
		return wait, nil
	}
	q := Inquiry{
		ID: InquiryCost, Kind: KindConfirm, Options: []Option{OptionContinue, OptionEnd},
		Question: fmt.Sprintf("The cost warning is reached: %s. Go on, or end?", r.evidenceOf(WarnCost)),
	}
	switch do {
	case OptionFail:
		err := errors.New("the cost warning must be confirmed, but no person is asked: retry to continue")
		return rerun, c.fail(&Error{Kind: provider.KindState, Op: string(KindConfirm), Round: r.Round, Err: err})
	case OptionAsk:
		return rerun, c.emit(Event{Body: &q})
	default:
		if err := c.emit(Event{Body: &q}); err != nil {
			return rerun, err
		}
		return rerun, c.choose(&q, Answer{Inquiry: q.ID, Option: do, Rule: true})
	}
}

// warned reports whether the cost warning was given, with the threshold in force.
func (r *Record) warned() bool {
	for i := range r.Warnings {
		if w := &r.Warnings[i]; w.Kind == WarnCost && r.settings.Budget != nil && w.Threshold == r.settings.Budget.Warn {
			return true
		}
	}
	return false
}

// unconfirmed reports whether the conversation waits for the acknowledgement of the cost warning.
func (r *Record) unconfirmed() bool {
	return r.settings != nil && r.settings.Budget != nil && r.settings.Budget.Confirm && !r.acked && r.warned()
}

func (c *Core) warn(w *Warning) error { return c.emit(Event{Body: w}) }

// reach records that a limit was reached, and fires the trigger.
func (c *Core) reach(limit WarningKind, call string, at atLimit) error {
	budget := c.record.settings.Budget
	w := &Warning{
		Kind: limit, Threshold: budget.Hard, Spend: c.record.spent.total.Cost, Call: call, Limit: at.limit, Evidence: at.what,
	}
	if strings.HasPrefix(at.limit, limitSoft) {
		w.Threshold = budget.Soft
	}
	c.writeNeeds(w)
	exit := Exit{Reason: EndHardLimit, By: EndedByBudget, Evidence: string(limit) + " of the budget: " + at.what, whole: at.whole}
	if limit == WarnSoft {
		exit.Reason = EndSoftLimit
	}
	if err := c.warn(w); err != nil {
		return err
	}
	finish := len(c.record.inFlight) > 0 && len(c.out.Abort) == 0 // a limit of the time has aborted them
	return c.fire(TriggerLimit, exit, finish)
}

// limitError is the failure of a conversation that has reached its hard limit. warned is the warning about it; nil: it is not known.
func limitError(round int, warned *Warning) *Error {
	failure := &Error{Kind: provider.KindCostLimit, Op: "limit", Round: round, Err: errors.New("the hard limit of the budget is reached")}
	if warned == nil || warned.Limit == "" { // or of an older log
		return failure
	}
	failure.Field = "budget." + text.OneLine(warned.Limit, 40) // a log may hold anything
	failure.Err = fmt.Errorf("%w: %s", failure.Err, text.OneLine(warned.Evidence, 200))
	if to, ok := strings.CutPrefix(raiseOf(warned), "raise it to "); ok {
		failure.Err = WithMend(failure.Err, fmt.Sprintf("amend %s to %s, beside the other limits, then retry", failure.Field, to))
	}
	return failure
}

// mayReopen refuses to reopen a conversation whose budget has no room for it: a limit is reached already, or another conclusion does not
// fit beside what the note adds.
func (c *Core) mayReopen(n *Note) error {
	r, budget := c.record, c.record.settings.Budget
	if budget == nil {
		return nil
	}
	at := r.known().reached(softLimits(budget))
	if at.what == "" {
		at = r.used().reached(hardLimits(budget))
	}
	if at.what == "" {
		at = c.noRoomFor(&Intent{}, r.noteIncrease(n), surplus{})
	}
	return noRoomToGoOn(at)
}

// mayBegin refuses to reopen a conversation of which no call may begin: it would end at once with another conclusion. Calls that the flow
// wants only after a transition of its own are not looked at.
func (c *Core) mayBegin() error {
	step := c.machine.flow.Steps[c.record.State]
	if c.record.settings.Budget == nil || step.Calls == nil {
		return nil
	}
	var lacks atLimit
	for _, call := range step.Calls(c.record) {
		if c.record.Settled(call.ID) {
			continue
		}
		ready, intent, failure := c.prepare(call, false)
		begins := failure != nil // that is no matter of the budget
		if !begins {
			_, _, lacks, begins = c.allot(beginning{ready, intent}, nil)
		}
		if begins {
			return nil
		}
	}
	return noRoomToGoOn(lacks)
}

// noRoomToGoOn is the error about the limit for which a conversation is not reopened; nil: there is none.
func noRoomToGoOn(at atLimit) error {
	if at.what == "" {
		return nil
	}
	var f Findings
	f.Addf("budget", "%w", WithMend(errors.New("a limit leaves no room to go on: "+at.what), "give a budget with higher limits"))
	return errors.Join(Within(string(TriggerReopen), "", f...)...)
}

// warning returns the last warning of a kind; nil: there is none.
func (r *Record) warning(kind WarningKind) *Warning {
	for i := range slices.Backward(r.Warnings) {
		if r.Warnings[i].Kind == kind {
			return &r.Warnings[i]
		}
	}
	return nil
}

// raised reports whether the limit that stopped the conversation may have been raised since: by an amendment, or by a fork,
// which can raise the limit that its parent had reached.
func (r *Record) raised() bool {
	if r.raisedAt > r.errorAt {
		return true
	}
	parent := r.Parent()
	return r.Failure != nil && r.Failure.Kind == provider.KindCostLimit && parent != nil && r.errorAt <= parent.Seq
}

// doubt says how much of what counts against a soft or a hard limit is not known to be used; "": all of it is.
func (r *Record) doubt(at atLimit, side string) string {
	total := r.spent.total
	more := r.spent.unreported
	if side == limitHard {
		more = more.plus(r.spent.brokenOff)
	} else {
		total.Unsettled = Unsettled{AtMost: more.cost, Unreported: total.Unreported}
	}
	switch {
	case at.limit == "" && more.cost > 0:
		return " (" + total.String() + ")"
	case at.limit == measureTokens && more.tokens > 0:
		return fmt.Sprintf(" (up to %d of them of calls whose usage is not known)", more.tokens)
	default:
		return ""
	}
}

// writeNeeds writes into the warning about a limit with how much of it all rounds would run.
func (c *Core) writeNeeds(w *Warning) {
	if strings.HasSuffix(w.Limit, measureTime) {
		return
	}
	b := c.record.settings.Budget
	limit, hard := softLimits(b), strings.HasPrefix(w.Limit, limitHard)
	if hard {
		limit = hardLimits(b)
	}
	needs, ok := c.neededForAll(hard)
	switch {
	case !ok:
	case strings.HasSuffix(w.Limit, measureTokens):
		w.NeedsTokens = above(needs.tokens, limit.tokens)
	case strings.HasSuffix(w.Limit, measureCalls):
		w.NeedsCalls = above(needs.calls, limit.calls)
	default:
		w.Needs = above(needs.cost, limit.cost)
	}
}

// above returns what is needed, or 0 if it is no more than the limit: such a figure would help nobody.
func above[T int | Money](needs, limit T) T {
	if needs <= limit {
		return 0
	}
	return needs
}

// neededForAll returns about the limits, hard or soft, with which all rounds would run, in two digits: a quarter more than the least
// that does so with replies as long as they are on average so far, or as long as [TypicalReply] if that is more. It is no less than
// what was used, and a quarter more.
//
// false: the flow cannot be estimated, or has too many rounds.
func (c *Core) neededForAll(hard bool) (amount, bool) {
	r := c.record
	rounds := max(1, r.settings.Rounds)
	if c.machine.flow.Estimate == nil || rounds > mostForeseen {
		return amount{}, false
	}
	start := *r.start
	start.Settings = *r.settings
	spent := &r.spent.total
	said := max(0, spent.Usage.Output-spent.Usage.Reasoning) / max(1, spent.Requests)
	s, err := walk(context.Background(), c.machine, c.plans, &start, rounds, Estimator{
		counts: true, usual: max(TypicalReply, said), thoughts: r.lengths.thoughts,
	})
	if err != nil {
		return amount{}, false
	}
	least := r.known().most(s.sum())
	if hard {
		least = r.used().most(s.sum())
		least = least.most(s.whole(mayConclude(r.settings.Budget)))
	}
	const more = 1.25
	return amount{
		roundedUp(scaled(least.cost, more), 2), int(roundedUp(scaled(Money(least.tokens), more), 2)),
		int(roundedUp(Money((5*least.calls+3)/4), 2)),
	}, true
}

// scaled multiplies an amount without overflow.
func scaled(m Money, by float64) Money {
	if float64(m) >= math.MaxInt64/by {
		return math.MaxInt64
	}
	return Money(float64(m) * by)
}
