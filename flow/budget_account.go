package flow

import (
	"strconv"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Account is the sum of what was used under one name.
//
//nolint:recvcheck // package fmt asks a value for String
type Account struct {
	// Name is that of an actor or of a model, or the value of a label. "": the account is that of a whole conversation or
	// round.
	Name string `json:"name,omitempty" redact:"-"`
	// Usage and Cost are what is known: by what providers and vendors have reported.
	Usage provider.Usage `json:"usage"`
	Cost  Money          `json:"cost"`
	Unsettled
	// Told is the part of Cost that the vendors have reported. Table is the cost of the same attempts by the prices of the
	// models.
	Told     Money `json:"told,omitempty"`
	Table    Money `json:"table,omitempty"`
	Requests int   `json:"requests"` // attempts, failed ones included; answers of persons do not count
	// Took is the time of the attempts, and Queued the time that they waited for their turn before; in JSON both are
	// nanoseconds. Concurrent attempts count in full each.
	Took   time.Duration `json:"took,omitempty"`
	Queued time.Duration `json:"queued,omitempty"`
}

// Add adds an attempt.
func (a *Account) Add(s *Spend) {
	a.Usage = a.Usage.Add(s.Usage)
	a.Cost = a.Cost.Plus(s.Cost)
	a.Unsettled = a.Plus(s.Unsettled())
	if r := s.Vendor; r != nil && r.Told {
		a.Told, a.Table = a.Told.Plus(s.Cost), a.Table.Plus(r.Table)
	}
	a.Took, a.Queued = a.Took+s.Took, a.Queued+s.Queued
	a.Requests++
}

// String returns what is known to be spent, and what may have been spent beyond it; see [Unsettled.Beside].
func (a Account) String() string { return a.Beside(a.Cost) }

// Unsettled bounds what attempts may have cost beyond their known cost: they were broken off, or their provider reports no usage. The
// bound of an attempt is what was reserved for its request: its input is bounded by its bytes, or by counted tokens if a hard limit was
// near. If the vendor had counted the input of a reply that was cut, the bound is the output between the vendor's count and the cap.
type Unsettled struct {
	// AtMost is the most that the attempts may have cost beyond their known cost. Hard limits count both. Of a model whose price is not
	// known it is 0.
	AtMost Money `json:"atMost,omitempty"`
	// BrokenOff is how many of these attempts were broken off, and Unreported how many have ended without a whole usage. An attempt whose
	// AtMost is 0 counts in neither, such as one of a model that is free, or whose price is not known.
	BrokenOff  int `json:"brokenOff,omitempty"`
	Unreported int `json:"unreported,omitempty"`
}

// Unsettled returns what the attempt may have cost beyond what is known of it.
func (s *Spend) Unsettled() Unsettled {
	if s.AtMost == 0 {
		return Unsettled{}
	}
	u := Unsettled{AtMost: s.AtMost}
	if s.BrokenOff {
		u.BrokenOff = 1
	}
	if s.Unreported {
		u.Unreported = 1
	}
	return u
}

// Plus returns the sum of u and v.
func (u Unsettled) Plus(v Unsettled) Unsettled {
	return Unsettled{u.AtMost.Plus(v.AtMost), u.BrokenOff + v.BrokenOff, u.Unreported + v.Unreported}
}

// Less returns what is unsettled beyond v, such as beyond what a fork has copied.
func (u Unsettled) Less(v Unsettled) Unsettled {
	return Unsettled{max(0, u.AtMost-v.AtMost), max(0, u.BrokenOff-v.BrokenOff), max(0, u.Unreported-v.Unreported)}
}

// Short returns what is known to be spent, and what may have been spent beyond it: "$0.0021, and up to $0.02".
func (u Unsettled) Short(spent Money) string {
	if u.AtMost == 0 {
		return spent.Rounded()
	}
	return spent.Rounded() + ", and up to " + u.AtMost.Rounded()
}

// Beside returns what is known to be spent, and what may have been spent beyond it, with the number of calls: "$0.0021, and up to $0.02
// for 3 calls that were broken off". For an [Account], that is [Account.String].
func (u Unsettled) Beside(spent Money) string {
	out := u.Short(spent)
	if u.AtMost == 0 {
		return out
	}
	var parts []string
	for _, part := range []struct {
		n         int
		one, many string
	}{
		{u.BrokenOff, " call that was broken off", " calls that were broken off"},
		{u.Unreported, " call without a reported usage", " calls without a reported usage"},
	} {
		words := part.many
		if part.n == 1 {
			words = part.one
		}
		if part.n > 0 {
			parts = append(parts, strconv.Itoa(part.n)+words)
		}
	}
	if len(parts) > 0 {
		out += " for " + strings.Join(parts, " and ")
	}
	return out
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

// accounts hold the spend of a conversation. There are few names of each sort, so a list is enough.
type accounts struct {
	total  Account
	tokens int // those that providers have reported
	// brokenOff and unreported are the most that attempts may have used beyond that: those that were broken off, and those of whose
	// replies no usage was reported.
	brokenOff, unreported amount
	models                []Account
	participants          []Account
	rounds                map[int]*Account // 0: outside the rounds
}

func (a *accounts) add(intent *Intent, s *Spend) {
	for _, one := range a.of(intent) {
		one.Add(s)
	}
	a.tokens = added(a.tokens, s.Usage.Input+s.Usage.Output)
	switch more := (amount{cost: s.AtMost, tokens: tokensBeyond(intent, s.Usage)}); {
	case s.BrokenOff:
		a.brokenOff = a.brokenOff.plus(more)
	case s.Unreported:
		a.unreported = a.unreported.plus(more)
	}
}

// takeBack takes back what was added of an attempt that was broken off, because its end is known now.
func (a *accounts) takeBack(intent *Intent, s *Spend) {
	for _, one := range a.of(intent) {
		one.Unsettled = one.Less(s.Unsettled())
		one.Requests--
	}
	a.brokenOff.cost = max(0, a.brokenOff.cost-s.AtMost)
	a.brokenOff.tokens = max(0, a.brokenOff.tokens-tokensBeyond(intent, s.Usage))
}

// of returns the accounts in which an attempt counts. They are valid until the next call.
func (a *accounts) of(intent *Intent) [4]*Account {
	round := a.rounds[intent.Round]
	if round == nil {
		round = &Account{}
		if a.rounds == nil {
			a.rounds = make(map[int]*Account)
		}
		a.rounds[intent.Round] = round
	}
	return [4]*Account{&a.total, account(&a.models, intent.Model), account(&a.participants, intent.By), round}
}

// tokensBeyond returns the most tokens that an attempt may have used beyond those that its provider has reported.
func tokensBeyond(in *Intent, u provider.Usage) int {
	if countsInput(in, u) {
		return max(0, min(in.Tokens, mostTokens)-u.Output)
	}
	return max(0, reservedFor(in).tokens-u.Input-u.Output)
}

// countsInput reports whether a usage holds the whole input. What a vendor's search finds becomes input after the vendor has counted the
// request.
func countsInput(in *Intent, u provider.Usage) bool {
	return u.Input > 0 && (in.Options == nil || !in.Options.Search)
}

// Spent returns what the conversation has used and cost so far, failed attempts included. These calls count as broken off until their
// end is recorded:
//   - calls that a control has aborted
//   - calls in flight while the conversation is paused, in error or over, since the process that makes them may have died
//
// A display of the cost calls Session.Record after each event for which [SpendOf] returns something, after a [*Transition] and after a
// [*Late]. A sum over events is wrong: a transition counts calls that have no event of their own, and what is unsettled may be settled
// later.
func (r *Record) Spent() Account { return r.spent.total }

// SpentByModel returns the accounts of the models, in the order of their first use.
func (r *Record) SpentByModel() []Account { return append([]Account(nil), r.spent.models...) }

// SpentByParticipant returns the accounts of all actors, the summarizer included, in the order of their first
// use.
func (r *Record) SpentByParticipant() []Account {
	return append([]Account(nil), r.spent.participants...)
}

// SpentInRound returns the account of a round, its assessment included. Round 0 stands for what was spent outside the
// rounds.
func (r *Record) SpentInRound(round int) Account {
	if a := r.spent.rounds[round]; a != nil {
		return *a
	}
	return Account{}
}

// Copied returns the part of Spent that a fork has copied from its parent. A sum over several conversations leaves it out, so that it
// counts once.
func (r *Record) Copied() Account {
	if p := r.Parent(); p != nil {
		return p.Spent
	}
	return Account{}
}

// lessAccount returns what an account holds beyond another one.
func lessAccount(a *Account, b *Account) Account {
	u, v, out := &a.Usage, &b.Usage, *a
	out.Usage = provider.Usage{
		Input: max(0, u.Input-v.Input), CachedInput: max(0, u.CachedInput-v.CachedInput), CacheWrite: max(0, u.CacheWrite-v.CacheWrite),
		Output: max(0, u.Output-v.Output), Reasoning: max(0, u.Reasoning-v.Reasoning),
	}
	out.Cost, out.Told, out.Table = max(0, a.Cost-b.Cost), max(0, a.Told-b.Told), max(0, a.Table-b.Table)
	out.Unsettled = a.Less(b.Unsettled)
	out.Requests, out.Took, out.Queued = max(0, a.Requests-b.Requests), max(0, a.Took-b.Took), max(0, a.Queued-b.Queued)
	return out
}

// possibleAccount reports whether an account can be a sum of spends. A log may be hostile.
func possibleAccount(a *Account) bool {
	return knownUsage(a.Usage) == a.Usage && min(a.Cost, a.Told, a.Table, a.AtMost) >= 0 &&
		min(a.Requests, a.BrokenOff, a.Unreported) >= 0 && min(a.Took, a.Queued) >= 0
}

// SpentByLabel sums what conversations have used by the value of one of their labels, such as a tenant. The values
// are in the order of their first occurrence. Conversations without the label are summed under "". What a fork has copied counts once,
// with the conversation that it was copied from. Calls in flight that no process makes any more are left out; see store.Info.Recount.
func SpentByLabel(label string, records ...*Record) []Account {
	var out []Account
	for _, r := range records {
		value := ""
		if r.settings != nil {
			value = r.settings.Labels[label]
		}
		copied := r.Copied()
		total := lessAccount(&r.spent.total, &copied)
		a := account(&out, value)
		a.Usage = a.Usage.Add(total.Usage)
		a.Cost = a.Cost.Plus(total.Cost)
		a.Unsettled = a.Plus(total.Unsettled)
		a.Told, a.Table = a.Told.Plus(total.Told), a.Table.Plus(total.Table)
		a.Took, a.Queued = a.Took+total.Took, a.Queued+total.Queued
		a.Requests += total.Requests
	}
	return out
}

// Reserved bounds what the calls in flight can still cost, except those that Spent counts as broken off.
func (r *Record) Reserved() Money { return r.reserves.cost }

// Abandoned bounds what the same calls may have cost, for a caller that knows that no process makes them any more: store.Info.Owner is "".
// The caller adds it to Spent, as store.Info.Recount does.
func (r *Record) Abandoned() Unsettled {
	var sum Unsettled
	for _, call := range r.inFlight {
		if spend := r.unknownSpend(call.intent); !call.presumed {
			sum = sum.Plus(spend.Unsettled())
		}
	}
	return sum
}

// charge returns what an attempt has cost by the usage that its provider has reported.
func (r *Record) charge(intent *Intent, usage provider.Usage, free bool) Spend {
	s := Spend{Call: intent.Call, Attempt: intent.Attempt, Model: intent.Model, Usage: usage}
	if model := r.model(intent.Model); model != nil && !free {
		s.Cost = model.Cost(usage)
	}
	return s
}

// reported is what a provider has reported of an attempt.
type reported struct {
	usage    provider.Usage
	metadata *Metadata
	free     bool // nothing was paid
	partial  bool // the usage is that of a part: the attempt was broken off meanwhile
	broken   bool // the attempt was broken off
	replied  bool // it has given a reply, which has input and output
}

func (s Result) reported() reported {
	return reported{usage: knownUsage(s.Usage), metadata: s.Metadata, free: s.Free, replied: s.Text != "" || len(s.Calls) > 0}
}

func (s Failed) reported() reported {
	return reported{
		usage: knownUsage(s.Usage), metadata: s.Metadata, free: s.Free, partial: s.Partial,
		broken: s.Partial || s.Error == nil || !ended(s.Error.Kind),
	}
}

// reckon returns what an attempt has cost by what was reported of it. It is the one place that judges a report:
//
//   - A usage that lacks the input or the output of a reply is known in part. The rest is bounded as that of a reply without a usage.
//   - A cost of 0 is believed if the model has no price and a usage is reported beside it. Some gateways fill the field with 0.
func (r *Record) reckon(intent *Intent, is reported) Spend {
	spend, u := r.charge(intent, is.usage, is.free), is.usage
	priced := false
	if model := r.model(intent.Model); model != nil {
		priced = model.Bound(1, 1) > 0
	}
	nothing := is.metadata != nil && is.metadata.cost != nil && *is.metadata.cost == 0
	addVendor(&spend, is.metadata, !is.free && (!nothing || !priced && !u.IsZero()))
	unknown := u.IsZero() || is.replied && (u.Input == 0 || u.Output == 0)
	if (is.partial || unknown) && !is.free && spend.Model != "" {
		r.bound(&spend, intent, is.broken, is.partial)
	}
	return spend
}

// unknownSpend returns the spend of an attempt of which nothing is known but that it may have been made.
func (r *Record) unknownSpend(intent *Intent) Spend {
	s := r.charge(intent, provider.Usage{}, false)
	if s.Model != "" {
		s.BrokenOff, s.AtMost = true, r.atMost(intent, &s)
	}
	return s
}

// bound sets the bound of an attempt whose usage is unknown, or known in part, and why it is. broken: the attempt was broken off; otherwise
// it has ended, and its provider has reported no usage. What the vendor has charged needs no bound, if all of it is known.
func (r *Record) bound(s *Spend, intent *Intent, broken, partial bool) {
	s.BrokenOff, s.Unreported = broken, !broken
	if partial || !vendorTold(s) {
		s.AtMost = r.atMost(intent, s)
	}
}

// atMost returns the most that an attempt may have cost beyond the known part of its spend. If the vendor has counted all the input, that
// is the output between what the vendor has counted and the cap. Otherwise it is what was reserved for the request.
func (r *Record) atMost(intent *Intent, s *Spend) Money {
	if model := r.model(intent.Model); model != nil && countsInput(intent, s.Usage) {
		return model.Bound(s.Usage.Input, tokensBeyond(intent, s.Usage)) - model.Bound(s.Usage.Input, 0)
	}
	return max(0, intent.Reserve-s.Cost)
}

// knownUsage returns the usage if all its numbers are possible: not negative, and at most 2⁴⁰ tokens. Otherwise the
// usage is unknown, and knownUsage returns the zero value.
func knownUsage(u provider.Usage) provider.Usage {
	for _, n := range []int{u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning} {
		if n < 0 || n > mostTokens {
			return provider.Usage{}
		}
	}
	return u
}
