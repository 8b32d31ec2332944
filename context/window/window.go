// Package window decides what part of a conversation a model is sent when its window is too small for
// all of it. A [Manager] plans from counts alone; it never sees a text.
//
//   - [Hybrid] is the one to take where nothing else is said: everything up to 80 % of the limit, from
//     there summaries where the host wishes them or needs them, and else the opening and the newest.
//   - [Summarize] replaces the older half by a summary.
//   - [Sliding] keeps the opening and the newest messages.
//   - [Truncate] keeps the newest messages.
package window

import "math"

// Manager plans what to send. The engine asks it before each call.
//
// Plan is a pure function of p: the same problem has the same plan in every process, or a resumed
// debate would not be the one that was interrupted. It does not modify or keep p.Sums, never panics,
// and is safe for concurrent use. It is called for every turn, so it should not walk over the whole
// transcript; the sums allow a binary search.
//
// What the plan sends fits: Fixed, the messages and the summary stay within p.Limit, or Fits is false.
// If Fits is true, the newest message is among those sent. While a transcript only grows and the rest
// of the problem stays, From never goes back and should rarely go forward: vendors cache the beginning
// of a request, and every change of From makes them read it anew. Without a limit, everything is sent,
// and no summary is sent or wished.
//
// A manager that wishes summaries sets Plan.Summarize. Its caller carries that out and asks again with
// the new Covered and Summary, until nothing is wished; where it cannot, it asks again with Summarizer
// false. As long as no summary is longer than [SummaryPercent] allows, that comes to an end after a few
// rounds. Nothing that a summary covers is ever wished again.
type Manager interface {
	Plan(p Problem) Plan
}

// DefaultReserve is the part of a window, in tokens, that is kept free where nothing else is said.
const DefaultReserve = 4096

// Opening is the number of messages at the beginning that no summary stands for, and that Sliding,
// Summarize and Hybrid keep: the first one, which opens the debate.
const Opening = 1

// The shares at which something happens, in percent. What is measured against the limit for Near and
// High is all that there is to send: Fixed and the messages, or, if a summary stands for some of them,
// the summary in their place; what a plan then leaves out counts too.
const (
	// NearPercent of the limit: from there on a host is warned, Hybrid slides, and summaries are made.
	NearPercent = 80
	// HighPercent of the limit: from there on Hybrid makes summaries that nobody asked for.
	HighPercent = 90
	// LowWaterPercent is what is left when old messages are dropped, so that it is long until the next
	// time and the beginning of the requests stays the same in between.
	LowWaterPercent = 60
	// SummaryPercent of the window, at most, is what a summary may have. Whoever makes it sees to that.
	SummaryPercent = 20
)

// Problem is one request that is about to be made. All numbers are tokens, or upper bounds of them, but
// for Covered, which is a number of messages. A number that makes no sense never makes a plan panic.
type Problem struct {
	// Sums are the running sums of the messages' sizes, oldest first: Sums[i+1]-Sums[i] is the size of
	// message i, so there is one entry more than there are messages, and the first may be any number: a
	// part of a longer list of sums is the sums of a part of the messages. They never fall. Empty: no
	// messages. Shared with other requests: read only.
	Sums []int
	// Fixed is what is sent in any case: system prompt, last message, schema, tools and framing. Less
	// than nothing counts as nothing.
	Fixed int
	// Window is the model's, input and output together; 0: not known, so there is no limit.
	Window int
	// Reserve is what is kept free of Window: DefaultReserve if 0, nothing if negative.
	Reserve int
	// Output is the most tokens that the reply may have. They come out of the reserve, which grows to
	// hold them if it is smaller.
	Output int
	// Covered says that there is a summary, which stands for messages[Opening:Covered]; 0: there is
	// none. A summary that covers the newest message is not used.
	Covered int
	// Summary is the size of that summary, with its framing.
	Summary int
	// Summarizer says that there is a model that can make a summary before this request.
	Summarizer bool
	// Auto says that the host wishes summaries as soon as NearPercent is reached. [Hybrid] heeds it.
	Auto bool
}

// Plan says what to send: messages[:Head], the summary if Summary is set, and messages[From:].
type Plan struct {
	// Head is the number of messages that are sent from the beginning, before those from From on. If
	// nothing is left out, Head and From are 0.
	Head int
	// Summary says that the present summary is sent, after messages[:Head] and before messages[From:].
	// From is then Problem.Covered or more.
	Summary bool
	// From says that messages[From:] are sent. It is the number of messages if none is.
	From int
	// Summarize is what should be summarised before this request is made, together with the present
	// summary if there is one; the zero Range: nothing. It begins at Problem.Covered, or at Opening if
	// there is no summary, and ends before the newest message. It is empty if Problem.Summarizer is
	// false. The rest of the plan is what to send if no summary is made after all.
	Summarize Range
	// Used is what the plan sends: Fixed, the messages and the summary.
	Used int
	// Fits is false if no useful request is within the limit: nothing should be sent then.
	Fits bool
	// TooBig is the index of the newest message if it alone is more than the limit leaves, else -1.
	TooBig int
	// Warning is what the host should know, the gravest thing only; "": nothing.
	Warning Warning
}

// Range is messages[From:To].
type Range struct{ From, To int }

// Warning is something about a plan that a host may want to know. A plan bears the gravest that is true
// of it. A host that wants one event per participant and threshold speaks of each once; a lesser one is
// no news after a graver one.
type Warning string

// The warnings, the gravest last.
const (
	Near    Warning = "near"    // there is as much to send as NearPercent of the limit, or more
	High    Warning = "high"    // as much as HighPercent, or more
	Dropped Warning = "dropped" // messages are left out that no summary stands for, and none is wished that could
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

// Size yields the size of messages[from:to], of which only those count that exist. It is never
// negative, and math.MaxInt if it is more.
func (p *Problem) Size(from, to int) int {
	from, to = max(from, 0), min(to, p.Len())
	if from >= to || p.Sums[to] <= p.Sums[from] {
		return 0
	}
	if size := p.Sums[to] - p.Sums[from]; size > 0 {
		return size
	}
	return math.MaxInt
}

// bound yields the limit, after it has made numbers below zero harmless.
func (p *Problem) bound() (limit int, limited bool) {
	p.Fixed, p.Summary = max(p.Fixed, 0), max(p.Summary, 0)
	return p.Limit()
}

// everything is the plan where there is no limit.
func everything(p *Problem) Plan {
	return Plan{Used: plus(p.Fixed, p.Size(0, p.Len())), Fits: true, TooBig: -1}
}

// plus adds sizes, none of them negative; more than an int holds is math.MaxInt.
func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// share yields the least number that is percent of n or more.
func share(n, percent int) int {
	rest := 100 - percent
	return n - n/100*rest - n%100*rest/100
}

// level is the warning for so much to send.
func level(use, limit int) Warning {
	switch {
	case use >= share(limit, HighPercent):
		return High
	case use >= share(limit, NearPercent):
		return Near
	}
	return ""
}
