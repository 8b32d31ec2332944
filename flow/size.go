package flow

import (
	"math"
)

// modelSize is the size of a model's window that overflows have shown, in tokens.
type modelSize struct {
	model  string
	window int
}

// window returns the size of a model's window: the table's, or a smaller one that an overflow has shown.
func (r *Record) window(name string, model Model) int {
	for _, known := range r.windows {
		if known.model == name && (model.Context == 0 || known.window < model.Context) {
			return known.window
		}
	}
	return model.Context
}

// narrow records that a model's window is smaller than assumed. A size of 0 or less changes nothing.
func (r *Record) narrow(model string, size int) {
	if size <= 0 {
		return
	}
	for i := range r.windows {
		if r.windows[i].model == model {
			r.windows[i].window = min(r.windows[i].window, size)
			return
		}
	}
	if len(r.windows) < maxTracked {
		r.windows = append(r.windows, modelSize{model, size})
	}
}

// overflowed returns the size to assume for a model's window after a request was too large for it: three quarters
// of what was sent, plus room for the reply.
func (r *Record) overflowed(intent *Intent) int {
	const bytesToToken = 4 // of English; if it is wrong, the next overflow makes the window smaller again
	sent := intent.Input
	if sent == 0 {
		sent = max(0, intent.Bound-intent.Tokens) / bytesToToken
	}
	return sent*3/4 + max(r.terms.Reserve, intent.Tokens)
}

// modelRatio is the ratio of a model's reported tokens to its counted tokens.
type modelRatio struct {
	model string
	ratio float64
}

// Bounds of the correction of counts. A count that is too high wastes a little room; one that is too low costs a
// request. Counts are therefore never corrected downwards.
const (
	minRatio = 1.0
	maxRatio = 2.0
)

// learn compares the counted tokens with those that the provider reported. It rounds up to a tenth: with every
// finer change of a limit, the beginning of the next request could change and miss the vendor's cache.
func (r *Record) learn(intent *Intent, spend *Spend) {
	if intent.Input <= 0 || spend.Usage.Input <= 0 {
		return
	}
	ratio := min(maxRatio, max(minRatio, math.Ceil(10*float64(spend.Usage.Input)/float64(intent.Input))/10))
	for i := range r.ratios {
		if r.ratios[i].model == intent.Model {
			r.ratios[i].ratio = ratio
			return
		}
	}
	if len(r.ratios) < maxTracked {
		r.ratios = append(r.ratios, modelRatio{intent.Model, ratio})
	}
}

func (r *Record) ratio(model string) float64 {
	for _, known := range r.ratios {
		if known.model == model {
			return known.ratio
		}
	}
	return 1
}
