package debate

import (
	"slices"
	"time"
)

// What one vendor's models share. Who runs into the vendor's limit with one model has run into it with
// the others: none of them takes over from it, and others who would ask them wait as long as they are told,
// or turn to a fallback at another vendor. Who has none asks all the same: what the vendor answers is
// what a person is shown, and what decides.

// vendorLimit is a limit that a call has run into.
type vendorLimit struct {
	model string    // with which it was found: "provider/model"
	until time.Time // when it is over, as the vendor said; zero: the quota is used up
}

// binds reports whether the limit holds for a model. A quota is the account's. A wait is that of the
// maker's models: a router's other makers are not affected. A maker that is not known may be the same.
func (l *vendorLimit) binds(r *Record, model string) bool {
	host, _, _ := SplitModel(model)
	if found, _, _ := SplitModel(l.model); found != host {
		return false
	}
	a, b := r.Family(l.model), r.Family(model)
	return l.until.IsZero() || a == b || a == "" || b == ""
}

// Family yields the family of a model of this conversation; "": unknown. Models of one family judge each other kindly.
func (r *Record) Family(model string) string {
	if m := r.model(model); m != nil {
		return m.Family
	}
	return ""
}

// limitOf yields the vendor's limit that a failure tells of; ok: there is one.
func limitOf(model string, failure *Error, at time.Time) (limit vendorLimit, ok bool) {
	switch {
	case failure.Kind == KindQuota:
		return vendorLimit{model: model}, true
	case failure.Kind == KindRateLimit && failure.RetryAfter > 0:
		return vendorLimit{model: model, until: at.Add(failure.RetryAfter)}, true
	default:
		return vendorLimit{}, false
	}
}

// foldLimit notes a vendor's limit, and forgets those that are over.
func (r *Record) foldLimit(f *Failure, at time.Time) {
	limit, ok := limitOf(f.Model, f.Error, at)
	if !ok || f.Model == "" || f.Unsent {
		return
	}
	r.limits = slices.DeleteFunc(r.limits, func(l vendorLimit) bool {
		same := l.model == limit.model && l.until.IsZero() == limit.until.IsZero()
		if same && l.until.After(limit.until) {
			limit.until = l.until // who was told the longer wait knows better
		}
		return same || !l.until.IsZero() && !l.until.After(at)
	})
	r.limits = append(r.limits, limit)
}

// lift forgets the limits that hold for a model: its vendor has answered, or somebody has seen to it.
func (r *Record) lift(model string) {
	if len(r.limits) > 0 {
		r.limits = slices.DeleteFunc(r.limits, func(l vendorLimit) bool { return l.until.IsZero() && l.binds(r, model) })
	}
}

// held yields until when the vendor wants no request for a model, and whether it will answer none at all:
// its quota is used up, or it asks for more patience than the debate has.
func (r *Record) held(model string, now time.Time) (until time.Time, closed bool) {
	patience := r.terms.Retry.withDefaults().Cap
	for i := range r.limits {
		switch l := &r.limits[i]; {
		case !l.binds(r, model):
		case l.until.IsZero(), l.until.Sub(now) > patience:
			closed = true
		case l.until.After(until) && l.until.After(now):
			until = l.until
		}
	}
	return until, closed
}

// chosenModel yields which of a call's models is asked now, and by name: the first that has not failed
// and whose vendor answers, or the first that has not failed if there is none.
func (r *Record) chosenModel(call *Call, now time.Time) (place int, model string) {
	for _, id := range []string{call.ID, call.again} {
		if state := r.calls[id]; state != nil {
			place = max(place, state.model)
		}
	}
	place = min(place, len(call.Fallbacks))
	model = call.Model
	if other := r.Replacement(call.By); other != "" {
		model = other
	}
	if place > 0 {
		model = call.Fallbacks[place-1]
	}
	if len(r.limits) == 0 || len(call.Fallbacks) == 0 {
		return place, model
	}
	if _, closed := r.held(model, now); !closed {
		return place, model
	}
	for i := place; i < len(call.Fallbacks); i++ {
		if _, closed := r.held(call.Fallbacks[i], now); !closed {
			return i + 1, call.Fallbacks[i]
		}
	}
	return place, model
}

// placeOf yields which of a call's models a fallback is.
func (in *Intent) placeOf(next string) int {
	return in.Place + 2 + slices.Index(in.Rest, next) // that of Next, which is before Rest, if it is not in there
}

// successor yields the fallback model that takes over from an attempt that has failed for good; "":
// none can.
func (r *Record) successor(intent *Intent, failure *Error) string {
	if intent.Next == "" || !mayFallBack(failure.Kind) {
		return ""
	}
	limit, limited := limitOf(intent.Model, failure, time.Time{}.Add(1))
	if !limited || !limit.binds(r, intent.Next) {
		return intent.Next
	}
	for _, model := range intent.Rest {
		if !limit.binds(r, model) {
			return model
		}
	}
	return ""
}
