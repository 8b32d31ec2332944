package flow

import (
	"math"
	"slices"

	"github.com/agonist-dev/debate/context/window"
	"github.com/agonist-dev/debate/provider"
)

// learnt is what the answers of a vendor have shown about a model, in the vendor's own tokens.
type learnt struct {
	model string
	// window is the model's context size as learned from overflows, and kept the part of it that is reserved for the reply. 0:
	// there was no overflow. named says that the vendor has named the size.
	window, kept int
	named        bool
	// measured is the ratio of reported to counted tokens, and assumed a larger one after an overflow. 0: there is none.
	measured, assumed float64
	accepted          int // the most tokens, input and output together, that a request was seen to use
	// surpassed says that a request had more input than its bound. Its vocabulary is not the one that is known: only bytes bound it.
	surpassed bool
}

// ratio returns how many of the vendor's tokens a counted token is.
func (l learnt) ratio() float64 { return max(minRatio, l.measured, l.assumed) }

func (r *Record) learnt(model string) learnt {
	for i := range r.sizes {
		if r.sizes[i].model == model {
			return r.sizes[i]
		}
	}
	return learnt{model: model}
}

// keep records what was learnt about a model.
func (r *Record) keep(l learnt) {
	for i := range r.sizes {
		if r.sizes[i].model == l.model {
			r.sizes[i] = l
			return
		}
	}
	if len(r.sizes) < maxTracked {
		r.sizes = append(r.sizes, l)
	}
}

// window returns the size of a model's window: the table's, or a smaller one that an overflow has shown.
func (r *Record) window(name string, model Model) int {
	if known := r.learnt(name); known.narrows(model) {
		return known.window
	}
	return model.Window
}

// narrows reports whether an overflow has shown a smaller window than the table has.
func (l learnt) narrows(model Model) bool {
	return l.window > 0 && (model.Window == 0 || l.window < model.Window)
}

// room poses the window of a model, for a reply of at most this many tokens. The reply takes no more than half of a
// window, unless the reserve is larger. Of a window that an overflow has shown, it has the part that is kept free.
func (r *Record) room(name string, model Model, tokens int) window.Problem {
	p := window.Problem{Window: r.window(name, model), Reserve: r.settings.Reserve, Output: tokens}
	if known := r.learnt(name); known.narrows(model) {
		p.Reserve = max(known.kept, 1)
		p.Output = min(tokens, p.Reserve)
	} else if p.Window > 0 {
		p.Output = min(tokens, max(p.Reserve, p.Window/2))
	}
	return p
}

// An overflow does not lead to a lower cap on a reply than leastReply tokens, and no window is smaller than leastWindow.
const (
	leastReply  = 512
	leastWindow = 256
)

// overflowed records in a failure what a request that was too large for a model shows. smaller reports that the same
// messages may fit with a lower cap on the reply.
//
// If the vendor names the size of the window, that is its size. Otherwise three quarters of what the request took are
// assumed: less of the reply if that had at least a quarter of it, else less input. No size is assumed that is
// below what the vendor has accepted. If only fewer counted tokens can help, the ratio of the vendor's tokens to the
// counted ones is raised.
func (r *Record) overflowed(intent *Intent, failure *Error, out *Failure) (smaller bool) {
	const bytesToToken, lessPercent, replyPart = 4, 75, 3 // bytes of English; if they are wrong, the next overflow shows less again
	row, _ := r.Model(intent.Model)
	known, before := r.learnt(intent.Model), r.room(intent.Model, row, intent.Tokens)
	counted := intent.Input
	if counted == 0 {
		counted = max(1, (intent.Bound-intent.Tokens)/bytesToToken)
	}
	sent, kept := int(float64(counted)*known.ratio()), max(before.Reserve, intent.Tokens)
	size := failure.Window
	if size < leastWindow {
		size = 0 // no model is that small
	}
	switch {
	case size > 0 && size >= known.accepted:
		out.Named = true
	case known.named:
		size, out.Named = known.window, true
	case intent.Tokens > sent/replyPart:
		size = max(known.accepted, (sent+intent.Tokens)*lessPercent/100)
	default:
		size = max(known.accepted, sent*lessPercent/100+kept)
	}
	if intent.Tokens > sent/replyPart || out.Named { // the reply has a quarter of the window at least, and no more than a half
		kept = min(kept, size/2, max(size/4, size-sent-sent/10))
	}
	out.Window, out.Kept, out.Ratio = size, kept, known.ratio()
	if smaller = kept < intent.Tokens && kept >= leastReply && size-kept >= sent; smaller {
		return true
	}
	if most := counted * lessPercent / 100; most > 0 && int(float64(size-kept)/known.ratio()) > most {
		out.Ratio = min(maxRatio, math.Ceil(10*float64(size-kept)/float64(most))/10)
	}
	return false
}

// narrow records what an overflow has shown of a model's window.
func (r *Record) narrow(model string, f *Failure) {
	if f.Window <= 0 {
		return
	}
	known := r.learnt(model)
	known.window, known.kept, known.named = f.Window, min(max(f.Kept, 0), f.Window), f.Named
	if f.Ratio > known.ratio() {
		known.assumed = min(maxRatio, f.Ratio)
	}
	r.keep(known)
}

// widen forgets what was assumed after a request of this call was too large, because the host program retries: the cause
// may be gone. What the vendor has measured and accepted is still known.
func (r *Record) widen(call *callState) {
	if call.trouble == nil || call.trouble.failure == nil || call.trouble.failure.Kind != provider.KindContextOverflow {
		return
	}
	known := r.learnt(call.intent.Model)
	r.keep(learnt{model: known.model, measured: known.measured, accepted: known.accepted, surpassed: known.surpassed})
}

// Bounds of the correction of counts. A count that is too high wastes a little room; one that is too low costs a
// request. Counts are therefore never corrected downwards.
const (
	minRatio = 1.0
	maxRatio = 4.0
)

// learn compares the counted tokens with those that the provider reported. It rounds up to a tenth: with every
// finer change of a limit, the beginning of the next request could change and miss the vendor's cache.
func (r *Record) learn(intent *Intent, spend *Spend, succeeded bool) {
	if spend.Usage.Input <= 0 || intent.Model == "" || spend.BrokenOff { // the count of a part may be no count yet
		return
	}
	known := r.learnt(intent.Model)
	if intent.Input > 0 {
		known.measured = min(maxRatio, math.Ceil(10*float64(spend.Usage.Input)/float64(intent.Input))/10)
		known.assumed = 0
	}
	known.surpassed = known.surpassed || spend.Usage.Input > intent.Bound-intent.Tokens
	if succeeded {
		known.accepted = max(known.accepted, spend.Usage.Input+spend.Usage.Output)
	}
	r.keep(known)
}

func (r *Record) ratio(model string) float64 { return r.learnt(model).ratio() }

// reduction is the option that was chosen to make the context of an actor smaller, and how often it was chosen.
type reduction struct {
	by     string
	option Option
	times  int
	// inVain are the options that have not made the request smaller, since the actor's last result. Offering one again would
	// change nothing.
	inVain []Option

	size int // of the request for which option was chosen; 0: it has had its effect
}

// shrink records the option that was chosen for a context that was too large.
func (r *Record) shrink(by string, option Option) {
	size := 0
	if call := r.latestOf(by); call != nil {
		size = call.size()
	}
	for i := range r.shrunk {
		if s := &r.shrunk[i]; s.by == by {
			s.option, s.size = option, size
			s.times++
			return
		}
	}
	if len(r.shrunk) < maxTracked {
		r.shrunk = append(r.shrunk, reduction{by: by, option: option, times: 1, size: size})
	}
}

// size bounds the request of the latest attempt, in tokens. One that could not be sent at all is larger than any other.
func (c *callState) size() int {
	if c.trouble != nil && c.trouble.unsent {
		return math.MaxInt
	}
	return c.intent.Bound
}

// shrank notes whether the option that was chosen for an actor has made its request smaller. failure is nil if the
// attempt has succeeded.
func (r *Record) shrank(call *callState, failure *Failure) {
	for i := range r.shrunk {
		s := &r.shrunk[i]
		switch {
		case s.by != call.intent.By || call.intent.Tool != "":
		case failure == nil:
			s.inVain, s.size = nil, 0
		case failure.Final && failure.Error.Kind == provider.KindContextOverflow && s.size > 0:
			if call.size() >= s.size && !slices.Contains(s.inVain, s.option) {
				s.inVain = append(slices.Clip(s.inVain), s.option)
			}
			s.size = 0
		}
	}
}

// reductionOf returns how the context of an actor is made smaller. false: no such option was chosen.
func (r *Record) reductionOf(by string) (reduction, bool) {
	for _, c := range r.shrunk {
		if c.by == by {
			return c, true
		}
	}
	return reduction{}, false
}
