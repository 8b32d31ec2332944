package debate

import "errors"

// Account sums what was used under one name.
type Account struct {
	Name     string
	Usage    Usage
	Cost     Money
	Requests int // attempts, failed ones included
}

// accounts keep the spend of a debate. There are few names of each sort, so a list is enough.
type accounts struct {
	total        Account
	models       []Account
	participants []Account
	rounds       map[int]*Account // 0: outside the rounds
}

func (a *accounts) add(intent *Intent, s *Spend) {
	a.total.add(s)
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

// watchBudget gives warnings and stops at limits. act: nothing else is to be done in this pass; again:
// the record has changed. A soft limit lets those who speak finish.
func (c *Core) watchBudget() (act, again bool, err error) {
	r, budget := c.record, c.record.config.Budget
	if budget == nil {
		return false, false, nil
	}
	spent := r.spent.total.Cost
	if budget.Warn > 0 && spent >= budget.Warn && !r.warned() {
		return true, true, c.warn(&Warning{Kind: WarnCost, Threshold: budget.Warn, Spend: spent})
	}
	if c.machine.allows(r, TriggerWarn) {
		return true, true, c.fire(TriggerWarn, Note{Evidence: "the cost warning waits to be acknowledged"}, false)
	}
	if budget.Hard > 0 && spent >= budget.Hard && r.State != StateCompleting {
		return true, true, c.reach(WarnHard, nil)
	}
	if budget.Soft > 0 && spent >= budget.Soft && r.State != StateCompleting && r.State != StateInitializing {
		if len(r.open) > 0 {
			return true, false, nil
		}
		return true, true, c.reach(WarnSoft, nil)
	}
	return false, false, nil
}

func (c *Core) warn(w *Warning) error { return c.emit(Event{Kind: EventWarning, Warning: w}) }

// reach records that a limit was reached, and acts on it.
func (c *Core) reach(limit WarningKind, short *Intent) error {
	budget := c.record.config.Budget
	w := &Warning{Kind: limit, Threshold: budget.Hard, Spend: c.record.spent.total.Cost}
	if limit == WarnSoft {
		w.Threshold = budget.Soft
	}
	if short != nil {
		w.Call = short.Call
	}
	if err := c.warn(w); err != nil {
		return err
	}
	return c.fire(TriggerLimit, Note{Evidence: string(limit) + " of the budget"}, false)
}

// limitError is the failure of a debate whose hard limit is reached.
func limitError(round int) *Error {
	return &Error{Kind: KindCostLimit, Op: "limit", Round: round, Err: errors.New("the hard limit of the budget is reached")}
}

// fits reports whether a call's worst case fits what is left of the limits, beside what is reserved.
func (r *Record) fits(reserve Money) (WarningKind, bool) {
	budget := r.config.Budget
	if budget == nil {
		return "", true
	}
	worst := r.spent.total.Cost.plus(r.reserved).plus(reserve)
	if budget.Hard > 0 && worst > budget.Hard {
		return WarnHard, false
	}
	if budget.Soft > 0 && worst > budget.Soft && r.State != StateCompleting {
		return WarnSoft, false
	}
	return "", true
}
