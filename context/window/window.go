// Package window decides which part of a conversation a model gets when its window is too small for all
// of it. A [Manager] plans from counts alone; it never sees a text.
//
//   - [Hybrid] is the default. It sends everything that fits. From 80 % of the limit on it requests summaries
//     if the host program wants or needs them; where there are none it keeps the opening and the newest
//     messages.
//   - [Summarize] replaces the older half by a summary.
//   - [Sliding] keeps the opening and the newest messages.
//   - [Truncate] keeps the newest messages.
package window

import "math"

// Manager plans what to send. The engine calls Plan before each call of a model, unless the manager is [Lazy].
//
// Plan is a pure function of p: the same problem has the same plan in every process. Otherwise a resumed
// conversation would differ from the one that was interrupted. Plan does not modify or keep p.Sums. It never
// panics, and is safe for concurrent use. It is called for every turn, so it should not walk over the
// whole transcript; the sums allow a binary search.
//
// A plan keeps these rules:
//
//   - What it sends fits: Fixed, the messages and the summary stay within p.Limit, or Fits is false.
//   - If Fits is true, the newest message is among those sent, and so are the newest p.Keep messages if they fit
//     beside Fixed.
//   - From never goes back while the transcript only grows, the rest of the problem stays the same, and the newest
//     p.Keep messages fit. It should go forward rarely: vendors cache the beginning of a request, and every change
//     of From makes them read it again.
//   - Without a limit, everything is sent, and no summary is sent or requested.
//
// A manager requests a summary with Plan.Summarize. The caller makes the summary and asks again with the
// new Covered and Summary, until no more is requested. If the caller cannot make one, it asks again with
// Summarizer false. As long as no summary is longer than [SummaryPercent] allows, this ends after a few
// rounds. A manager never requests a summary of messages that a summary covers already.
type Manager interface {
	Plan(p Problem) Plan
}

// Lazy is an optional ability of a [Manager]. A lazy manager sends everything as long as the limit is unknown, or everything
// is below NearPercent of the limit. The engine then does not ask it, and need not count tokens. The built-in managers are lazy.
type Lazy interface {
	Manager
	Lazy()
}

// Lazy implements the interface Lazy.
func (Hybrid) Lazy() {}

// Lazy implements the interface Lazy.
func (Sliding) Lazy() {}

// Lazy implements the interface Lazy.
func (Summarize) Lazy() {}

// Lazy implements the interface Lazy.
func (Truncate) Lazy() {}

// DefaultReserve is the part of a window, in tokens, that is kept free by default.
const DefaultReserve = 4096

// DefaultOpening is the number of messages that open a conversation by default. Sliding, Summarize and Hybrid keep
// them.
const DefaultOpening = 1

// These are the shares at which something happens, in percent. NearPercent and HighPercent apply to
// everything there is to send: Fixed and the messages or, if a summary covers some of them, the summary
// in their place. Messages that a plan leaves out count too.
const (
	// NearPercent of the limit: from here on, the host program is warned, and summaries are made.
	NearPercent = 80
	// HighPercent of the limit: from here on, Hybrid requests summaries even if the host program does not
	// want them.
	HighPercent = 90
	// LowWaterPercent: when old messages are dropped, at least this part of the limit less Fixed stays filled,
	// unless the next older message does not fit. The rest is free, so that the next drop is far away and the
	// beginning of the requests stays the same until then.
	LowWaterPercent = 60
	// SummaryPercent of the window is the cap on a summary. The code that makes the summary enforces it.
	SummaryPercent = 20
)

// Problem describes one request that is about to be made. All numbers are tokens, or upper bounds of
// them, except Covered, which is a number of messages. A number that makes no sense never makes a plan
// panic.
type Problem struct {
	// Sums are the running sums of the messages' sizes, oldest first: Sums[i+1]-Sums[i] is the size of
	// message i. So there is one entry more than there are messages. The sums never fall. The first may
	// be any number, so a part of a longer list can serve as the sums of a part of the messages. Empty:
	// no messages. Other requests share the slice: it is read only.
	Sums []int
	// Fixed is the size of what is always sent: system prompt, last message, schema, tools and framing. A
	// negative number counts as 0.
	Fixed int
	// Window is the model's window, input and output together; 0: unknown, so there is no limit.
	Window int
	// Reserve is the part of Window to keep free: DefaultReserve if 0, nothing if negative.
	Reserve int
	// Output is the cap on the reply's tokens. They come out of the reserve, which grows to hold them if
	// it is smaller.
	Output int
	// Opening is the number of messages that open the conversation: DefaultOpening if 0. Sliding, Summarize and
	// Hybrid send them as long as they fit.
	Opening int
	// Keep is the number of newest messages that must be sent if they fit at all: 1 if it is less. No summary is
	// requested of them.
	Keep int
	// Covered says that a summary exists, which covers messages[:Covered]; 0: there is none. A summary that covers
	// the newest message is not used.
	Covered int
	// Summary is the size of that summary, with its framing.
	Summary int
	// Summarizer says that a model is available that can make a summary before this request.
	Summarizer bool
	// Auto says that the host program wants summaries as soon as NearPercent is reached. Only [Hybrid]
	// uses it.
	Auto bool
}

// Plan says what to send: messages[:Head], the summary if Summary is set, and messages[From:].
type Plan struct {
	// Head is the number of messages that are sent from the beginning, before those from From on. If no
	// message is left out, Head and From are 0.
	Head int
	// Summary says that the present summary is sent, after messages[:Head] and before messages[From:].
	// From is then at least Problem.Covered, or the index of the first message that Problem.Keep names.
	Summary bool
	// From says that messages[From:] are sent. If none is sent, it is the number of messages.
	From int
	// Summarize is the range to summarise before this request, together with the present summary if there
	// is one. The zero Range requests no summary. The range begins at Problem.Covered, and ends before the newest
	// message and those that Problem.Keep names. It is empty if Problem.Summarizer is false. The rest of the plan
	// says what to send if no summary is made.
	Summarize Range
	// Used is the size of what the plan sends: Fixed, the messages and the summary.
	Used int
	// Fits is false if no useful request is within the limit. Then nothing should be sent.
	Fits bool
	// TooBig is the index of the newest message if that message alone passes the limit, otherwise -1.
	TooBig int
	// Warning is what the host program should know; "": nothing.
	Warning Warning
}

// Range is messages[From:To].
type Range struct{ From, To int }

// Warning is something about a plan that a host program may want to know. A plan has the gravest warning
// that applies. A host that wants one event per participant and threshold reports each warning once, and
// no lesser warning after a graver one.
type Warning string

// These are the warnings, from the least to the gravest.
const (
	Near    Warning = "near"    // there is at least NearPercent of the limit to send
	High    Warning = "high"    // there is at least HighPercent of the limit to send
	Dropped Warning = "dropped" // messages are left out that no summary covers, and none is requested that would cover them
	Full    Warning = "full"    // the request does not fit
)

// Limit returns how many tokens may be sent at most, and whether there is a limit at all. A negative
// number means that nothing fits.
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

// Len returns the number of messages.
func (p *Problem) Len() int { return max(len(p.Sums)-1, 0) }

// opening returns the number of messages that open the conversation.
func (p *Problem) opening() int {
	if p.Opening > 0 {
		return p.Opening
	}
	return DefaultOpening
}

// kept returns the index of the first message that must be sent.
func (p *Problem) kept() int { return max(p.Len()-max(p.Keep, 1), 0) }

// Size returns the size of messages[from:to]. Messages that do not exist count nothing. The result is
// never negative; if it is too large for an int, it is math.MaxInt.
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

// bound returns the limit, after setting negative sizes to 0.
func (p *Problem) bound() (limit int, limited bool) {
	p.Fixed, p.Summary = max(p.Fixed, 0), max(p.Summary, 0)
	return p.Limit()
}

// everything returns the plan without a limit.
func everything(p *Problem) Plan {
	return Plan{Used: plus(p.Fixed, p.Size(0, p.Len())), Fits: true, TooBig: -1}
}

// plus adds sizes, none of them negative. A sum that is too large for an int is math.MaxInt.
func plus(a, b int) int {
	if a > math.MaxInt-b {
		return math.MaxInt
	}
	return a + b
}

// share returns percent of n, rounded up.
func share(n, percent int) int {
	rest := 100 - percent
	return n - n/100*rest - n%100*rest/100
}

// level returns the warning for that much to send.
func level(use, limit int) Warning {
	switch {
	case use >= share(limit, HighPercent):
		return High
	case use >= share(limit, NearPercent):
		return Near
	}
	return ""
}
