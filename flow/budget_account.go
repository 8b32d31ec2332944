package flow

import (
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Account is the sum of what was used under one name.
type Account struct {
	// Name is that of an actor or of a model, or the value of a label. "": the account is that of a whole conversation or
	// round.
	Name  string         `json:"name,omitempty" redact:"-"`
	Usage provider.Usage `json:"usage"`
	Cost  Money          `json:"cost"`
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

func (a *Account) add(s *Spend) {
	a.Usage = a.Usage.Add(s.Usage)
	a.Cost = a.Cost.plus(s.Cost)
	if r := s.Vendor; r != nil && r.Told {
		a.Told, a.Table = a.Told.plus(s.Cost), a.Table.plus(r.Table)
	}
	a.Took, a.Queued = a.Took+s.Took, a.Queued+s.Queued
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

// accounts hold the spend of a conversation. There are few names of each sort, so a list is enough.
type accounts struct {
	total        Account
	tokens       int // of all attempts; where the provider reported none, the worst case
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

// Spent returns what the conversation has used and cost so far, failed attempts included.
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

// Copied returns the part of Spent that a fork has copied from its parent. Whoever adds conversations up leaves it out, so that it
// counts once.
func (r *Record) Copied() Account {
	if p := r.Parent(); p != nil {
		return p.Spent
	}
	return Account{}
}

// less returns what an account holds beyond another one.
func (a *Account) less(b *Account) Account {
	u, v, out := &a.Usage, &b.Usage, *a
	out.Usage = provider.Usage{
		Input: max(0, u.Input-v.Input), CachedInput: max(0, u.CachedInput-v.CachedInput), CacheWrite: max(0, u.CacheWrite-v.CacheWrite),
		Output: max(0, u.Output-v.Output), Reasoning: max(0, u.Reasoning-v.Reasoning),
	}
	out.Cost, out.Told, out.Table = max(0, a.Cost-b.Cost), max(0, a.Told-b.Told), max(0, a.Table-b.Table)
	out.Requests, out.Took, out.Queued = max(0, a.Requests-b.Requests), max(0, a.Took-b.Took), max(0, a.Queued-b.Queued)
	return out
}

// possible reports whether an account can be a sum of spends. A log may be hostile.
func (a *Account) possible() bool {
	return KnownUsage(a.Usage) == a.Usage && min(a.Cost, a.Told, a.Table) >= 0 && a.Requests >= 0 && min(a.Took, a.Queued) >= 0
}

// SpentByLabel sums what conversations have used by the value of one of their labels, such as a tenant. The values
// are in the order of their first occurrence. Conversations without the label are summed under "". What a fork has copied counts once,
// with the conversation that it was copied from.
func SpentByLabel(label string, records ...*Record) []Account {
	var out []Account
	for _, r := range records {
		value := ""
		if r.settings != nil {
			value = r.settings.Labels[label]
		}
		copied := r.Copied()
		total := r.spent.total.less(&copied)
		a := account(&out, value)
		a.Usage = a.Usage.Add(total.Usage)
		a.Cost = a.Cost.plus(total.Cost)
		a.Told, a.Table = a.Told.plus(total.Told), a.Table.plus(total.Table)
		a.Took, a.Queued = a.Took+total.Took, a.Queued+total.Queued
		a.Requests += total.Requests
	}
	return out
}

// Reserved returns the most that the calls in flight can still cost.
func (r *Record) Reserved() Money { return r.reserves.cost }

// charge returns what an attempt cost. If its usage is unknown, that is its whole reserve.
func (r *Record) charge(intent *Intent, usage provider.Usage, free bool) Spend {
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

// KnownUsage returns the usage if all its numbers are possible: not negative, and at most 2⁴⁰ tokens. Otherwise the
// usage is unknown, and KnownUsage returns the zero value. A runtime must call KnownUsage on what a provider has reported.
func KnownUsage(u provider.Usage) provider.Usage {
	const most = 1 << 40 // no request has as many tokens
	for _, n := range []int{u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning} {
		if n < 0 || n > most {
			return provider.Usage{}
		}
	}
	return u
}
