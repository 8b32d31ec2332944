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
		share, until := l.quota.speed()
		s := RateStatus{
			Name: l.key.name, Model: l.key.model,
			Requests: share * float64(max(0, l.allowance.Requests)), Tokens: share * float64(max(0, l.allowance.Tokens)),
			Waiting: l.line.len(), InFlight: l.inFlight,
		}
		if until.After(now) {
			s.PausedUntil = until
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b RateStatus) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Model, b.Model))
	})
	return list
}
