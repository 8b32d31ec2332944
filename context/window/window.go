// Package window decides what part of a conversation a model is sent when its window is too small for
// all of it. A [Manager] plans from counts alone; it never sees a text.
package window

// Manager plans what to send. The engine asks it before each call.
//
// Plan is a pure function of p: the same problem has the same plan in every process, or a resumed
// debate would not be the one that was interrupted. It does not modify or keep p.Sums, never panics,
// and is safe for concurrent use. It is called for every turn, so it should not walk over the whole
// transcript; the sums allow a binary search.
//
// What the plan sends fits: Fixed and the messages stay within p.Limit, or Fits is false. If Fits is
// true, the newest message is among those sent. While a transcript only grows and the rest of the
// problem stays, From never goes back and should rarely go forward: vendors cache the beginning of a
// request, and every change of From makes them read it anew. Without a limit, everything is sent.
type Manager interface {
	Plan(p Problem) Plan
}

// DefaultReserve is the part of a window, in tokens, that is kept free where nothing else is said.
const DefaultReserve = 4096

// Problem is one request that is about to be made. All numbers are tokens, or upper bounds of them.
type Problem struct {
	// Sums are the running sums of the messages' sizes, oldest first: Sums[i+1]-Sums[i] is the size of
	// message i, so there is one entry more than there are messages, and the first may be any number: a
	// part of a longer list of sums is the sums of a part of the messages. They never fall. Empty: no
	// messages. Shared with other requests: read only.
	Sums []int
	// Fixed is what is sent in any case: system prompt, last message, schema, tools and framing.
	Fixed int
	// Window is the model's, input and output together; 0: not known, so there is no limit.
	Window int
	// Reserve is what is kept free of Window: DefaultReserve if 0, nothing if negative.
	Reserve int
	// Output is the most tokens that the reply may have. They come out of the reserve, which grows to
	// hold them if it is smaller.
	Output int
}

// Plan says what to send.
type Plan struct {
	// Head is the number of messages that are sent from the beginning, before those from From on.
	Head int
	// From says that messages[From:] are sent. It is the number of messages if none is.
	From int
	// Summarize is what should be summarised before the next call; the zero Range: nothing.
	Summarize Range
	// Used is what the plan sends: Fixed and the messages.
	Used int
	// Fits is false if no useful request is within the limit: nothing should be sent then.
	Fits bool
	// TooBig is the index of the newest message if it alone is more than the limit leaves, else -1.
	TooBig int
	// Warning is what the host should know; "": nothing.
	Warning Warning
}

// Range is messages[From:To].
type Range struct{ From, To int }

// Warning is something about a plan that a host may want to know.
type Warning string

// The warnings.
const (
	Near    Warning = "near"    // all is sent, and more than 80 % of the limit is used
	Dropped Warning = "dropped" // old messages are left out
	Full    Warning = "full"    // the request does not fit
)

// Limit yields the most tokens that may be sent, and whether there is a limit at all. It may be
// negative: then nothing fits.
func (p *Problem) Limit() (tokens int, limited bool) {
	if p.Window <= 0 {
		return 0, false
	}
	reserve := p.Reserve
	if reserve == 0 {
		reserve = DefaultReserve
	}
	return p.Window - max(reserve, p.Output, 0), true
}

// Len yields the number of messages.
func (p *Problem) Len() int { return max(len(p.Sums)-1, 0) }

// Size yields the size of messages[from:to].
func (p *Problem) Size(from, to int) int {
	if from >= to {
		return 0
	}
	return p.Sums[to] - p.Sums[from]
}
