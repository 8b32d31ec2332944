package limit

import (
	"cmp"
	"slices"
	"time"
)

// RateStatus is where a model stands in a [Rate].
type RateStatus struct {
	Name  string // under which the provider is wrapped
	Model string

	Requests float64 // how many calls may start per minute now; 0: any number
	Tokens   float64 // how many tokens they may have per minute now; 0: any number
	Waiting  int     // calls in the queue
	InFlight int     // calls under way
	// PausedUntil is until when the vendor wants no calls; zero if it does not mind.
	PausedUntil time.Time
}

// Status tells where each model stands that the Rate remembers, by name and model, all at the same moment.
// The slice is the caller's.
func (r *Rate) Status() []RateStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	list := make([]RateStatus, 0, len(r.lanes))
	for _, l := range r.lanes {
		s := RateStatus{
			Name: l.key.name, Model: l.key.model,
			Requests: l.requests.current(l.share), Tokens: l.tokens.current(l.share),
			Waiting: l.line.len(), InFlight: l.flying,
		}
		if l.until.After(now) {
			s.PausedUntil = l.until
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b RateStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Model, b.Model))
	})
	return list
}

// current yields what flows in each minute at a share of the usual.
func (b *bucket) current(share float64) float64 {
	if b == nil {
		return 0
	}
	return b.minute * share
}
