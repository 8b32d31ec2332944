package debate

import (
	"math"
)

// modelSize is what a model's window has turned out to be.
type modelSize struct {
	model  string
	window int
}

// window yields the size of a model's window: the table's, or what an overflow has shown.
func (r *Record) window(name string, model Model) int {
	for _, known := range r.windows {
		if known.model == name && (model.Context == 0 || known.window < model.Context) {
			return known.window
		}
	}
	return model.Context
}

// narrow takes a model's window for smaller than it was thought to be.
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
	if len(r.windows) < mostOpen {
		r.windows = append(r.windows, modelSize{model, size})
	}
}

// overflowed yields the size that a model's window is to be taken for after a request was too large
// for it: three quarters of what was sent, and room for the reply.
func (r *Record) overflowed(intent *Intent) int {
	const bytesToToken = 4 // of English; if it is wrong, the next overflow makes it smaller again
	sent := intent.Input
	if sent == 0 {
		sent = max(0, intent.Bound-intent.Tokens) / bytesToToken
	}
	return sent*3/4 + max(r.terms.Reserve, intent.Tokens)
}

// modelRatio is by how much a model's tokens differ from what was counted.
type modelRatio struct {
	model string
	ratio float64
}

// Bounds of what is believed about wrong counts. A count that is too high costs a little room, one that
// is too low a request: that more fits than was counted is never believed.
const (
	leastRatio = 1.0
	mostRatio  = 2.0
)

// learn compares what was counted with what the provider reported. It learns in steps of a tenth: with
// every change of a limit the beginning of the next request may change, and vendors' caches miss.
func (r *Record) learn(intent *Intent, spend *Spend) {
	if intent.Input <= 0 || spend.Usage.Input <= 0 {
		return
	}
	ratio := min(mostRatio, max(leastRatio, math.Ceil(10*float64(spend.Usage.Input)/float64(intent.Input))/10))
	for i := range r.ratios {
		if r.ratios[i].model == intent.Model {
			r.ratios[i].ratio = ratio
			return
		}
	}
	if len(r.ratios) < mostOpen {
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
