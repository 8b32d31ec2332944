package debate

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// Budget limits what a debate may use. Warn, Soft and Hard are what it costs; they need a known price
// for every model of the debate. What is limited besides holds for the whole debate, failed attempts
// included. A limit that is 0 does not limit.
//
//nolint:recvcheck // encoding/json asks a value for MarshalJSON
type Budget struct {
	// Warn gives one warning event when the spend reaches it.
	Warn Money `json:"warn,omitempty"`
	// Confirm makes the debate wait at Warn until Session.Acknowledge; see Unattended.Budget.
	Confirm bool `json:"confirm,omitempty"`
	// Soft limits end the rounds and go to the verdict, whose cost is kept back from the hard ones.
	Soft       Money         `json:"soft,omitempty"`
	SoftTokens int           `json:"softTokens,omitempty"` // input and output
	SoftCalls  int           `json:"softCalls,omitempty"`  // attempts
	SoftTime   time.Duration `json:"-"`                    // since the start, pauses included
	// Hard limits are never passed: no call starts whose worst case would, and at HardTime what is in
	// flight is broken off. They end the debate with an error of kind cost_limit.
	Hard       Money         `json:"hard,omitempty"`
	HardTokens int           `json:"hardTokens,omitempty"`
	HardCalls  int           `json:"hardCalls,omitempty"`
	HardTime   time.Duration `json:"-"`
}

// budgetFields is Budget without its methods.
type budgetFields Budget

// budgetJSON writes durations as text.
type budgetJSON struct {
	budgetFields

	SoftTime duration `json:"softTime,omitempty"`
	HardTime duration `json:"hardTime,omitempty"`
}

// MarshalJSON writes the budget; durations are strings such as "90s".
func (b Budget) MarshalJSON() ([]byte, error) {
	return json.Marshal(budgetJSON{budgetFields(b), duration(b.SoftTime), duration(b.HardTime)})
}

// UnmarshalJSON reads a budget strictly.
func (b *Budget) UnmarshalJSON(data []byte) error {
	var in budgetJSON
	if err := decodeStrict(data, &in); err != nil {
		return err
	}
	*b = Budget(in.budgetFields)
	b.SoftTime, b.HardTime = time.Duration(in.SoftTime), time.Duration(in.HardTime)
	return nil
}

// use is what is counted against a budget.
type use struct {
	cost   Money
	tokens int
	calls  int
}

func (u use) plus(v use) use { return use{u.cost.plus(v.cost), u.tokens + v.tokens, u.calls + v.calls} }

func (b *Budget) soft() use { return use{b.Soft, b.SoftTokens, b.SoftCalls} }
func (b *Budget) hard() use { return use{b.Hard, b.HardTokens, b.HardCalls} }

// passed says by what a use is more than a limit allows; "": by nothing.
func (u use) passed(limit use) string {
	switch {
	case limit.cost > 0 && u.cost > limit.cost:
		return fmt.Sprintf("%s of %s", u.cost, limit.cost)
	case limit.tokens > 0 && u.tokens > limit.tokens:
		return fmt.Sprintf("%d of %d tokens", u.tokens, limit.tokens)
	case limit.calls > 0 && u.calls > limit.calls:
		return fmt.Sprintf("%d of %d calls", u.calls, limit.calls)
	default:
		return ""
	}
}

// reached says which limit a use has come up to.
func (u use) reached(limit use) string {
	return use{u.cost.plus(1), u.tokens + 1, u.calls + 1}.passed(limit)
}

// Account sums what was used under one name.
type Account struct {
	Name     string
	Usage    Usage
	Cost     Money
	Requests int // attempts, failed ones included; what a person does is none
}

// accounts keep the spend of a debate. There are few names of each sort, so a list is enough.
type accounts struct {
	total        Account
	tokens       int // of all attempts; the worst case where the provider reported none
	models       []Account
	participants []Account
	rounds       map[int]*Account // 0: outside the rounds
}

func (a *accounts) add(intent *Intent, s *Spend) {
	a.total.add(s)
	if s.Estimated {
		a.tokens += intent.Bound
	} else {
		a.tokens += s.Usage.Input + s.Usage.Output
	}
	account(&a.models, s.Model).add(s)
	account(&a.participants, intent.By).add(s)
	round := a.rounds[intent.Round]
	if round == nil {
		round = &Account{}
		if a.rounds == nil {
			a.rounds = make(map[int]*Account)
		}
		a.rounds[intent.Round] = round
	}
	round.add(s)
}

func (a *Account) add(s *Spend) {
	a.Usage = a.Usage.Add(s.Usage)
	a.Cost = a.Cost.plus(s.Cost)
	a.Requests++
}

func account(list *[]Account, name string) *Account {
	for i := range *list {
		if (*list)[i].Name == name {
			return &(*list)[i]
		}
	}
	*list = append(*list, Account{Name: name})
	return &(*list)[len(*list)-1]
}

// Spent yields what the debate has used and cost so far, failed attempts included.
func (r *Record) Spent() Account { return r.spent.total }

// SpentByModel yields the accounts of the models, in the order of their first use.
func (r *Record) SpentByModel() []Account { return append([]Account(nil), r.spent.models...) }

// SpentByParticipant yields the accounts of participants and judges, in the order of their first use.
func (r *Record) SpentByParticipant() []Account {
	return append([]Account(nil), r.spent.participants...)
}

// SpentInRound yields the account of a round, its judging included; 0 is what was spent outside the rounds.
func (r *Record) SpentInRound(round int) Account {
	if a := r.spent.rounds[round]; a != nil {
		return *a
	}
	return Account{}
}

// SpentByLabel sums what debates have used by the value of one of their labels, such as a tenant, in
// the order in which the values come first. Debates without the label are summed under "".
func SpentByLabel(label string, records ...*Record) []Account {
	var out []Account
	for _, r := range records {
		value := ""
		if r.config != nil {
			value = r.config.Labels[label]
		}
		total := &r.spent.total
		a := account(&out, value)
		a.Usage = a.Usage.Add(total.Usage)
		a.Cost = a.Cost.plus(total.Cost)
		a.Requests += total.Requests
	}
	return out
}

// Reserved is the most that the calls in flight can still cost.
func (r *Record) Reserved() Money { return r.reserved }

// charge yields what an attempt cost: by its usage, or its whole reservation if that is unknown.
func (r *Record) charge(intent *Intent, usage Usage, free bool) Spend {
	s := Spend{Call: intent.Call, Attempt: intent.Attempt, Model: intent.Model, Usage: usage}
	model := r.model(intent.Model)
	switch {
	case model == nil || free:
	case usage.IsZero():
		s.Cost, s.Estimated = intent.Reserve, true
	default:
		s.Cost = model.Cost(usage)
	}
	return s
}

// warned reports whether the cost warning was given.
func (r *Record) warned() bool {
	for i := range r.Warnings {
		if r.Warnings[i].Kind == WarnCost {
			return true
		}
	}
	return false
}

// unconfirmed reports whether the debate waits for somebody to acknowledge the cost warning.
func (r *Record) unconfirmed() bool {
	return r.config != nil && r.config.Budget != nil && r.config.Budget.Confirm && !r.acked && r.warned()
}

// rounds reports whether the debate is in its flow's states: not before them, and not at its end.
func (r *Record) rounds() bool { return r.work != StateInitializing && r.work != StateCompleting }

// watchBudget gives warnings and stops at limits. act: nothing else is to be done in this pass; again:
// the record has changed. A soft limit lets those who speak finish.
func (c *Core) watchBudget() (act, again bool, err error) {
	r, budget := c.record, c.record.config.Budget
	if budget == nil {
		return false, false, nil
	}
	spent := r.used()
	if budget.Warn > 0 && spent.cost >= budget.Warn && !r.warned() {
		return true, true, c.warn(&Warning{
			Kind: WarnCost, Threshold: budget.Warn, Spend: spent.cost, Evidence: fmt.Sprintf("%s of %s", spent.cost, budget.Warn),
		})
	}
	if c.machine.allows(r, TriggerWarn) {
		return c.confirm()
	}
	took := c.in.At.Sub(r.StartedAt)
	if budget.HardTime > 0 && took >= budget.HardTime {
		c.abort()
		return true, true, c.reach(WarnHard, "", fmt.Sprintf("%s of %s", took, budget.HardTime))
	}
	if r.State == StateCompleting {
		return false, false, nil
	}
	what := spent.reached(budget.soft())
	if budget.SoftTime > 0 && took >= budget.SoftTime {
		what = fmt.Sprintf("%s of %s", took, budget.SoftTime)
	}
	if what != "" && r.State != StateInitializing {
		if len(r.open) > 0 {
			c.waitUntil(r.times(c.in.At))
			return true, false, nil
		}
		return true, true, c.reach(WarnSoft, "", what)
	}
	if what := spent.reached(budget.hard()); what != "" {
		return true, true, c.reach(WarnHard, "", what)
	}
	return false, false, nil
}

// confirm waits for the cost warning to be acknowledged, or does what Unattended says.
func (c *Core) confirm() (act, again bool, err error) {
	r := c.record
	switch u := r.config.Unattended; {
	case u == nil:
		return true, true, c.fire(TriggerWarn, Note{Evidence: "the cost warning waits to be acknowledged"}, false)
	case u.Budget == OptionRetry:
		return true, true, c.emit(Event{Kind: EventAck})
	case len(r.open) > 0:
		c.waitUntil(r.times(c.in.At))
		return true, false, nil
	default:
		return true, true, c.reach(WarnSoft, "", "the cost warning is reached, and nobody is there to confirm")
	}
}

func (c *Core) warn(w *Warning) error { return c.emit(Event{Kind: EventWarning, Warning: w}) }

// reach records that a limit was reached, and acts on it.
func (c *Core) reach(limit WarningKind, call, what string) error {
	budget := c.record.config.Budget
	w := &Warning{Kind: limit, Threshold: budget.Hard, Spend: c.record.spent.total.Cost, Call: call, Evidence: what}
	note := Note{Reason: EndHardLimit, Evidence: string(limit) + " of the budget: " + what}
	if limit == WarnSoft {
		w.Threshold, note.Reason = budget.Soft, EndSoftLimit
	}
	if err := c.warn(w); err != nil {
		return err
	}
	return c.fire(TriggerLimit, note, false)
}

// limitError is the failure of a debate whose hard limit is reached.
func limitError(round int) *Error {
	return &Error{Kind: KindCostLimit, Op: "limit", Round: round, Err: errors.New("the hard limit of the budget is reached")}
}

// raised reports whether a limit that has stopped the debate may have been raised since: a fork's may.
func (r *Record) raised() bool {
	return r.Failure != nil && r.Failure.Kind == KindCostLimit && r.Parent() != nil
}

// used is what is settled.
func (r *Record) used() use { return use{r.spent.total.Cost, r.spent.tokens, r.spent.total.Requests} }

// pending is the worst case of what is in flight.
func (r *Record) pending() use {
	u := use{cost: r.reserved}
	for _, call := range r.open {
		u.tokens += call.intent.Bound
		count(&u.calls, call.intent.Tool == "")
	}
	return u
}

// fits reports whether a call's worst case fits what is left of the limits, beside what is reserved and
// the verdict's share. If it does not, what says which limit stands in the way.
func (c *Core) fits(intent *Intent) (limit WarningKind, what string, ok bool) {
	r, budget := c.record, c.record.config.Budget
	if budget == nil {
		return "", "", true
	}
	worst := r.used().plus(r.pending()).plus(use{intent.Reserve, intent.Bound, 1})
	if r.State != StateCompleting {
		if what := worst.passed(budget.soft()); what != "" {
			return WarnSoft, what, false
		}
	}
	if what := worst.passed(budget.hard()); what != "" {
		return WarnHard, what, false
	}
	if r.State == StateCompleting {
		return "", "", true
	}
	if budget.concludes() && budget.hard() != (use{}) {
		if what := worst.plus(c.share(intent)).passed(budget.hard()); what != "" {
			return WarnSoft, what + ", with what the verdict may take", false
		}
	}
	return "", "", true
}

// spares reports whether a summary that is made for a verdict leaves enough for the verdict.
func (c *Core) spares(intent *Intent) bool {
	r, budget := c.record, c.record.config.Budget
	if budget == nil || r.State != StateCompleting {
		return true
	}
	worst := r.used().plus(r.pending()).plus(use{intent.Reserve, intent.Bound, 1}).plus(c.share(&Intent{}))
	return worst.passed(budget.hard()) == ""
}

// concludes reports whether a soft limit may end the debate, with a verdict. Only then is there one to
// keep something back for: at a hard limit the debate ends in an error.
func (b *Budget) concludes() bool {
	return b.soft() != (use{}) || b.SoftTime > 0 || b.Confirm
}

// share is the most that the verdicts and last votes can take, each asked twice, once this call and
// those in flight have given the longest replies that are accepted.
func (c *Core) share(intent *Intent) use {
	r := c.record
	step := c.machine.flow.Steps[StateCompleting]
	if step.Calls == nil {
		return use{}
	}
	growth := r.growth(intent.Tokens, intent.By)
	for _, call := range r.open {
		growth += r.growth(call.intent.Tokens, call.intent.By)
	}
	for _, i := range r.hidden {
		growth += len(r.Turns[i].Text) + 2*len(r.fence) + framing
	}
	var sum use
	for _, call := range r.final(step) {
		switch call.Performer {
		case ByModel:
		case ByPerson:
			continue
		default:
			sum.calls += 2
			continue
		}
		sum = sum.plus(c.worst(&call, growth)).plus(c.worst(&call, growth+len(r.Text(TextAgain))+problemBytes))
	}
	return sum
}

// growth bounds, in bytes, by how much a reply of so many tokens makes the conversation longer, fences
// and all. Neutral labels may be longer than the names in whose place they stand.
func (r *Record) growth(tokens int, by string) int {
	bytes := tokens * bytesPerToken
	if r.anonymous != nil {
		l, times := r.anonymous.labels, 1
		for i := range l.names {
			times = max(times, (len(l.labels[i])+len(l.names[i])-1)/max(1, len(l.names[i])))
		}
		bytes, by = bytes*times, l.hide(by)
	}
	return bytes + 2*len(r.fence) + len(by) + framing
}

// final yields the calls of the end, as if the debate had come to it. The first turn may still be open.
func (r *Record) final(step Step) []Call {
	turns, keeps := r.Turns, r.keeps
	defer func() { r.Turns, r.keeps = turns, keeps }()
	if len(turns) == 0 {
		r.Turns, r.keeps = []*Turn{{}}, false // what is computed of a turn that nobody has spoken is not kept
	}
	return step.Calls(r)
}

// worst is the most that one attempt at a call can take, with any of its models, once the conversation
// has grown by so many bytes.
func (c *Core) worst(call *Call, growth int) use {
	r := c.record
	ready := prepared{call: call}
	if call.Last != nil {
		ready.last = call.Last(r)
	}
	if call.Schema != "" {
		ready.wire, _ = c.wire(call.Schema, call.View.Labels)
	}
	shared, from := r.view(call.View)
	bound := ready.fixed() + shared.size(from, len(shared.messages)) + growth
	var most use
	for _, name := range append([]string{call.Model}, call.Fallbacks...) {
		model, _ := r.Model(name)
		tokens := call.MaxTokens
		if tokens == 0 {
			tokens = r.config.MaxTokens
		}
		if model.MaxOutput > 0 {
			tokens = min(tokens, model.MaxOutput)
		}
		most.cost = max(most.cost, model.Bound(bound, tokens))
		most.tokens = max(most.tokens, bound+tokens)
	}
	most.calls = 1
	return most
}

// times yields the next moment after now at which a limit of time is reached; zero: there is none.
func (r *Record) times(now time.Time) time.Time {
	var next time.Time
	at := func(t time.Time) {
		if t.After(now) && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	if b := r.config.Budget; b != nil {
		if b.SoftTime > 0 && r.State != StateCompleting {
			at(r.StartedAt.Add(b.SoftTime))
		}
		if b.HardTime > 0 {
			at(r.StartedAt.Add(b.HardTime))
		}
	}
	if d := r.deadline(); !d.IsZero() {
		at(d)
	}
	return next
}

// waitUntil asks for a Tick, if that is earlier than what was asked for.
func (c *Core) waitUntil(t time.Time) {
	if !t.IsZero() && (c.out.Wait.IsZero() || t.Before(c.out.Wait)) {
		c.out.Wait = t
	}
}
