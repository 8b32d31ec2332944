package store

import (
	"context"

	"github.com/agonist-dev/debate/flow"
)

// Sum is what several conversations have cost, and what they may still cost.
type Sum struct {
	Count int `json:"count"` // of conversations
	// Spent and Unsettled are the sums of those of [Info]. What forks have copied here is left out: it counts with their parents. No
	// conversation adds less than nothing, whatever its log says.
	Spent flow.Money `json:"spent"`
	flow.Unsettled
	// Left is what the conversations that are not over may spend beyond Spent and AtMost before they reach their hard limits.
	Left flow.Money `json:"left"`
	// Unlimited is how many of those have no hard limit of cost: nothing bounds what they may still spend.
	Unlimited int `json:"unlimited,omitempty"`
}

// Most bounds what the conversations cost in the end, if Unlimited is 0: neither the calls in flight nor those to come can pass it.
func (s *Sum) Most() flow.Money { return s.Spent.Plus(s.AtMost).Plus(s.Left) }

// Add adds a conversation.
func (s *Sum) Add(i *Info) {
	s.Count++
	s.Spent, s.Unsettled = s.Spent.Plus(max(0, i.Spent-i.Copied)), s.Plus(i.Less(i.CopiedUnsettled))
	switch {
	case i.State.Final():
	case i.Limit == 0:
		s.Unlimited++
	default:
		used := max(i.Spent.Plus(i.AtMost), i.Copied.Plus(i.CopiedUnsettled.AtMost)) // a fork begins within a state
		s.Left = s.Left.Plus(max(0, i.Limit-used))
	}
}

// Summer is an optional ability of a [Store]: it sums up conversations faster than it lists them. [SumOf] uses it. Package
// store/storetest tests it.
type Summer interface {
	// Sum returns the sum of the conversations that [Store].List would yield.
	Sum(ctx context.Context, filter Filter) (Sum, error)
}

// SumOf sums up the conversations of a store that match, such as all of one tenant. A store that is no [Summer] lists them.
//
// A host program that bounds what a tenant may spend asks before each start, under a lock of that tenant, and gives each conversation a
// hard limit:
//
//	sum, err := store.SumOf(ctx, engine.Store, store.Filter{Labels: map[string]string{"tenant": "acme"}})
//	…
//	if sum.Unlimited > 0 || sum.Most().Plus(config.Budget.Hard) > limit {
//		return errTooMuch
//	}
//
// Spent is as of the last change of state of each conversation. Most needs no newer one: what is spent since was left before.
func SumOf(ctx context.Context, s Store, filter Filter) (Sum, error) {
	if summer, ok := s.(Summer); ok {
		return summer.Sum(ctx, filter)
	}
	return SumList(ctx, s, filter)
}

// SumList is [SumOf] by the store's list. A Summer calls it for what it has no faster way for.
func SumList(ctx context.Context, s Store, filter Filter) (sum Sum, err error) {
	for info, err := range s.List(ctx, filter) {
		if err != nil {
			return Sum{}, err
		}
		sum.Add(&info)
	}
	return sum, nil
}
