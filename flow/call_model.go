package flow

import (
	"slices"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// The models of one vendor share its limits. After a call has run into a limit with one of them:
//   - No model to which the limit applies takes over as a fallback.
//   - Other calls to such models wait as long as the vendor said, or go to a fallback at another vendor.
//   - A call without such a fallback is made all the same. The vendor's answer decides, and a person sees it.

// vendorLimit is a limit that a call has run into.
type vendorLimit struct {
	model string    // the model that ran into it: "provider/model"
	until time.Time // the end, as the vendor said; zero: the quota is used up
}

// binds reports whether the limit holds for a model. A quota holds for all models of the provider. A wait holds for the
// models of one maker, because a router's other makers are not affected. If either maker is unknown, the wait holds
// too.
func (l *vendorLimit) binds(r *Record, model string) bool {
	host, _, _ := SplitModel(model)
	if found, _, _ := SplitModel(l.model); found != host {
		return false
	}
	a, b := r.Family(l.model), r.Family(model)
	return l.until.IsZero() || a == b || a == "" || b == ""
}

// Family returns the family of a model of this conversation, or "" if it is unknown. Models of one family
// favour each other's answers.
func (r *Record) Family(model string) string {
	if m := r.model(model); m != nil {
		return m.Family
	}
	return ""
}

// limitOf returns the vendor's limit that a failure reports. ok: there is one.
func limitOf(model string, failure *Error, at time.Time) (limit vendorLimit, ok bool) {
	switch {
	case failure.Kind == provider.KindQuota:
		return vendorLimit{model: model}, true
	case failure.Kind == provider.KindRateLimit && failure.RetryAfter > 0:
		return vendorLimit{model: model, until: at.Add(failure.RetryAfter)}, true
	default:
		return vendorLimit{}, false
	}
}

// foldLimit records a vendor's limit, and drops those that are over.
func (r *Record) foldLimit(f *Failure, at time.Time) {
	limit, ok := limitOf(f.Model, f.Error, at)
	if !ok || f.Model == "" || f.Unsent {
		return
	}
	r.limits = slices.DeleteFunc(r.limits, func(l vendorLimit) bool {
		same := l.model == limit.model && l.until.IsZero() == limit.until.IsZero()
		if same && l.until.After(limit.until) {
			limit.until = l.until // the longer wait is the safer one
		}
		return same || !l.until.IsZero() && !l.until.After(at)
	})
	r.limits = append(r.limits, limit)
}

// lift drops the used-up quotas that hold for a model, because its vendor has answered.
func (r *Record) lift(model string) {
	if len(r.limits) > 0 {
		r.limits = slices.DeleteFunc(r.limits, func(l vendorLimit) bool { return l.until.IsZero() && l.binds(r, model) })
	}
}

// limitedUntil returns until when the vendor accepts no request for a model. closed reports that the vendor will not
// answer in time: the quota is used up, or the wait is longer than most.
func (r *Record) limitedUntil(model string, now time.Time, most time.Duration) (until time.Time, closed bool) {
	for i := range r.limits {
		switch l := &r.limits[i]; {
		case !l.binds(r, model):
		case l.until.IsZero(), l.until.Sub(now) > most:
			closed = true
		case l.until.After(until) && l.until.After(now):
			until = l.until
		}
	}
	return until, closed
}

// chosenModel returns the index and the name of the call's model that is asked now. It is the first that has not
// failed and whose vendor answers. If there is none, it is the first that has not failed.
func (r *Record) chosenModel(call *Call, now time.Time) (index int, model string) {
	if state := r.calls[call.ID]; state != nil {
		index = state.special.model
	}
	model, fallbacks := r.modelsOf(call)
	index = min(index, len(fallbacks))
	if index > 0 {
		model = fallbacks[index-1]
	}
	if len(r.limits) == 0 || len(fallbacks) == 0 {
		return index, model
	}
	most := retryDefaults(r.settings.Retry).Cap
	if _, closed := r.limitedUntil(model, now, most); !closed {
		return index, model
	}
	for i := index; i < len(fallbacks); i++ {
		if _, closed := r.limitedUntil(fallbacks[i], now, most); !closed {
			return i + 1, fallbacks[i]
		}
	}
	return index, model
}

// modelIndexOf returns the index of a fallback among the models of the call.
func modelIndexOf(in *Intent, next string) int {
	return in.ModelIndex + 2 + slices.Index(in.Fallbacks, next) // Next comes before Fallbacks: it is the one that is not found there
}

// successor returns the fallback model that takes over after an attempt that has failed for good, or "" if none
// can.
func (r *Record) successor(intent *Intent, failure *Error) string {
	if intent.Next == "" || !mayFallBack(failure.Kind) {
		return ""
	}
	limit, limited := limitOf(intent.Model, failure, time.Time{}.Add(1))
	if !limited || !limit.binds(r, intent.Next) {
		return intent.Next
	}
	for _, model := range intent.Fallbacks {
		if !limit.binds(r, model) {
			return model
		}
	}
	return ""
}

// replacement is a model that was chosen for an actor in place of the configured one.
type replacement struct {
	by, model string
	fallbacks []string
	all       bool // fallbacks replace those of the calls
}

// replace gives an actor another model. Its fallbacks stay, unless the replacement names others.
func (r *Record) replace(by replacement) {
	swap := r.swapOf(by.by)
	switch {
	case swap == nil:
		r.swaps = append(r.swaps, by)
	case by.all:
		*swap = by
	default:
		swap.model = by.model
	}
}

// swapOf returns what was chosen for an actor in place of the configured model, or nil.
func (r *Record) swapOf(by string) *replacement {
	for i := range r.swaps {
		if r.swaps[i].by == by {
			return &r.swaps[i]
		}
	}
	return nil
}

// modelsOf returns the model of a call and its fallbacks, as they were chosen last.
func (r *Record) modelsOf(call *Call) (model string, fallbacks []string) {
	model, fallbacks = call.Model, call.Fallbacks
	if swap := r.swapOf(call.By); swap != nil {
		model = swap.model
		if swap.all {
			fallbacks = swap.fallbacks
		}
	}
	return model, fallbacks
}

// Replacement returns the model that was chosen for an actor, or "" if there is none.
func (r *Record) Replacement(by string) string {
	if swap := r.swapOf(by); swap != nil {
		return swap.model
	}
	return ""
}

// What Intent.Left names of options that are written for one vendor.
const (
	leftExtra  provider.Ability = "extra"
	leftHeader provider.Ability = "header"
)

// keepHome leaves the fields of a vendor's own and the headers out of an attempt at another provider than that of the seat:
// they are written for that one.
func (r *Record) keepHome(call *Call, intent *Intent) {
	o := intent.Options
	if o == nil || len(o.Extra)+len(o.Header) == 0 || r.atHome(call, intent.Model) {
		return
	}
	if len(o.Extra) > 0 {
		intent.Left = append(intent.Left, leftExtra)
	}
	if len(o.Header) > 0 {
		intent.Left = append(intent.Left, leftHeader)
	}
	intent.Options = o.Portable()
}

// atHome reports whether a model is asked at the provider for which the options of a call are written: that of the model
// which the config names beside them.
func (r *Record) atHome(call *Call, model string) bool {
	same := func(other string) bool {
		a, _, _ := SplitModel(model)
		b, _, _ := SplitModel(other)
		return a == b
	}
	found := false
	for _, d := range Requirements(r.Config()) {
		if d.options != call.Options {
			continue
		}
		if found = true; same(d.Model) {
			return true
		}
	}
	return !found && same(call.Model)
}
