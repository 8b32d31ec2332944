package debate

// Account sums what was used under one name.
type Account struct {
	Name     string
	Usage    Usage
	Cost     Money
	Requests int // attempts, failed ones included; what a person does is none
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
		if r.terms != nil {
			value = r.terms.Labels[label]
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

// KnownUsage yields a usage as it can be counted. One that cannot be is unknown, which is zero.
func KnownUsage(u Usage) Usage {
	const most = 1 << 40 // no request has as many tokens
	for _, n := range []int{u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning} {
		if n < 0 || n > most {
			return Usage{}
		}
	}
	return u
}
