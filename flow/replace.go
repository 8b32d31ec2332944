package flow

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
