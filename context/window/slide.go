package window

import "sort"

// lead is what a request keeps before the messages that may be left out.
type lead struct {
	head    int // messages[:head]
	summary bool
}

// opened returns the lead that keeps the opening. If the opening is the newest message, the lead is
// empty.
func opened(p *Problem) lead {
	if opening := p.opening(); p.Len() > opening {
		return lead{head: opening}
	}
	return lead{}
}

// summarized returns the lead that keeps the opening and, if it is needed and fits, the summary. If both do not fit, it
// is the summary alone, which covers the opening; it must leave half of the room to the messages. A summary of the opening
// alone is no more than a beginning: it takes the place of the opening only if it cannot be continued.
func summarized(p *Problem, limit int) lead {
	l := opened(p)
	exists := 0 < p.Covered && p.Covered < p.Len()
	if !exists || l.all(p) < share(limit, NearPercent) {
		return l
	}
	if p.Covered <= p.opening() && (p.Summarizer || l.all(p) <= limit) {
		return l
	}
	if short := (lead{head: l.head, summary: true}); p.Covered > l.head && plus(p.Fixed, short.size(p)) <= limit {
		return short
	}
	if p.Summary <= (limit-p.Fixed)/2 {
		return lead{summary: true}
	}
	return l
}

// first returns the index of the first message that the lead neither holds nor covers. Messages that must be sent are
// sent even if the summary covers them.
func (l lead) first(p *Problem) int {
	if l.summary {
		return max(l.head, min(p.Covered, p.kept()))
	}
	return l.head
}

// size returns the size of the lead.
func (l lead) size(p *Problem) int {
	size := p.Size(0, l.head)
	if l.summary {
		return plus(size, p.Summary)
	}
	return size
}

// all returns the size of everything there is to send, before any message is left out.
func (l lead) all(p *Problem) int {
	return plus(p.Fixed, plus(l.size(p), p.Size(l.first(p), p.Len())))
}

// less returns a smaller lead: it drops the opening first, which the summary covers, then the summary.
func (l lead) less() lead { return lead{summary: l.summary && l.head > 0} }

// slide plans a request of the lead and the newest messages. It sends all messages as long as they fit. If the
// lead leaves no room, slide drops the opening from it, then the summary.
//
// Two rules keep From from going back. What the lead loses for good follows from sizes that do not
// change. What it loses for the sake of the newest message does not move the cut: that message is larger
// than the room, so it is sent alone in any case.
func slide(p *Problem, limit int, l lead) Plan {
	n, free := p.Len(), limit-p.Fixed
	if free < 0 {
		return Plan{From: n, Used: p.Fixed, TooBig: -1, Warning: Full}
	}
	for l != (lead{}) && l.size(p) > free {
		l = l.less()
	}
	use := l.all(p)
	from := cut(p, l.first(p), limit, l.size(p))
	for l != (lead{}) && plus(l.size(p), p.Size(from, n)) > free {
		l = l.less()
		from = min(from, max(l.head, p.kept())) // the opening may have held what must be sent
	}
	for from < n-1 && plus(l.size(p), p.Size(from, n)) > free { // what must be sent does not fit: the newest of it
		from++
	}
	size := plus(l.size(p), p.Size(from, n))
	if size > free { // only if the newest message alone is too big: the others were left out for it
		return Plan{From: n, Used: p.Fixed, TooBig: n - 1, Warning: Full}
	}
	plan := Plan{Head: l.head, Summary: l.summary, From: from, Used: p.Fixed + size, Fits: true, TooBig: -1}
	switch {
	case from > l.first(p):
		plan.Warning = Dropped
	case !l.summary: // there is nothing between the head and the rest
		plan.Head, plan.From = 0, 0
		fallthrough
	default:
		plan.Warning = level(use, limit)
	}
	return plan
}

// cut returns the first message, from first on, that is sent. It never leaves out a message that must be sent.
//
// The transcript is divided into parts of whole messages, from its beginning on: each as large as leaves
// LowWaterPercent of the limit less Fixed filled, and at least one message. As few parts as possible are left
// out. So what is sent is less than LowWaterPercent only if the next larger message did not fit.
func cut(p *Problem, first, limit, lead int) int {
	newest, all := max(first, p.kept()), p.Size(first, p.Len())
	if all <= limit-p.Fixed-lead {
		return first
	}
	space := room(p.Fixed, limit, lead)
	filled := plus(space, lead)
	part := min(filled-share(filled, LowWaterPercent)-share(fixedUnit(limit), LowWaterPercent), space/2)
	from := first
	for from < newest && p.Size(first, from) < all-space {
		from += 1 + sort.Search(newest-from-1, func(i int) bool { return p.Size(from, from+i+2) > part })
	}
	return from
}

// fixedUnit is the unit that Fixed is rounded up to: 2,048 tokens, or one part in sixteen of the limit if
// that is less.
func fixedUnit(limit int) int {
	const most, parts = 2048, 16
	return max(min(limit/parts, most), 1)
}

// room returns the space for messages after the lead. Rounding up fixed makes it smaller than it could be.
func room(fixed, limit, lead int) int {
	exact, unit := limit-fixed-lead, fixedUnit(limit)
	rounded := limit - fixed/unit*unit - lead
	if fixed%unit > 0 {
		rounded -= unit
	}
	if rounded < exact/2 { // little is left: better to move the cut than to lose half of it
		return exact
	}
	return rounded
}
