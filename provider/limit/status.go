package limit

import (
	"cmp"
	"slices"
	"time"
)

// RateStatus is the state of one model in a [Rate].
type RateStatus struct {
	Name  string // the name that the provider is wrapped under
	Model string

	Requests float64 // how many calls may start per minute now; 0: unlimited
	Tokens   float64 // how many tokens these calls may have per minute now; 0: unlimited
	Waiting  int     // calls in the queue
	InFlight int     // calls that have started and not ended
	// PausedUntil is the time before which the vendor wants no calls; zero: it wants no pause.
	PausedUntil time.Time
}

// Status returns the state of each model that the Rate remembers, all at the same moment, sorted by name
// and model. The slice belongs to the caller.
func (r *Rate) Status() []RateStatus {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	list := make([]RateStatus, 0, len(r.lanes))
	for _, l := range r.lanes {
		s := RateStatus{
			Name: l.key.name, Model: l.key.model,
			Requests: l.requests.current(l.share), Tokens: l.tokens.current(l.share),
			Waiting: l.line.len(), InFlight: l.inFlight,
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

// current returns the inflow per minute at a share of full speed.
func (b *bucket) current(share float64) float64 {
	if b == nil {
		return 0
	}
	return b.minute * share
}
