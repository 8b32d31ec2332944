package window

import "sort"

// Truncate is the Manager that leaves out the oldest messages.
//
// When the messages pass their room, it drops to about 60 % of it, in steps of 40 %: between two drops
// the request only grows at its end. Where it drops follows from the sums alone, without a memory: the
// transcript is divided at every 40 % of the room, and whole parts are left out, as few as will do.
// The room is what Fixed leaves of the limit, with Fixed rounded up to an eighth of the limit, so that
// instructions of different length do not move the cut.
//
// It needs no summary and no head. The zero value is ready to use.
type Truncate struct{}

// Shares of the room and of the limit.
const (
	stepPercent = 40
	nearPercent = 80
	fixedShare  = 8
)

// Plan implements [Manager].
func (Truncate) Plan(p Problem) Plan {
	n := p.Len()
	total := p.Size(0, n)
	limit, limited := p.Limit()
	if !limited {
		return Plan{Used: p.Fixed + total, Fits: true, TooBig: -1}
	}
	if p.Fixed > limit {
		return Plan{From: n, Used: p.Fixed, TooBig: -1, Warning: Full}
	}
	from := cut(&p, total, room(p.Fixed, limit))
	used := p.Fixed + p.Size(from, n)
	plan := Plan{From: from, Used: used, Fits: true, TooBig: -1}
	switch {
	case used > limit: // only if the newest message alone is too big: the others were left out for it
		return Plan{From: n, Used: p.Fixed, TooBig: n - 1, Warning: Full}
	case from > 0:
		plan.Warning = Dropped
	case float64(used) > float64(limit)*nearPercent/100:
		plan.Warning = Near
	}
	return plan
}

// room yields what messages may take, less than what there is by the rounding of fixed.
func room(fixed, limit int) int {
	exact := limit - fixed
	unit := max(limit/fixedShare, 1)
	rounded := limit - (max(fixed, 0)+unit-1)/unit*unit
	if rounded < exact/2 { // little is left: better to move the cut than to lose half of it
		return exact
	}
	return rounded
}

// cut yields the first message that is sent: the fewest whole steps are left out that bring the rest
// into the room, and never the newest message.
func cut(p *Problem, total, room int) int {
	if total <= room {
		return 0
	}
	step := max(room/100*stepPercent+room%100*stepPercent/100, 1)
	over := total - room
	drop := over
	if rest := over % step; rest > 0 {
		drop += step - rest
	}
	first := sort.Search(p.Len(), func(i int) bool { return p.Size(0, i) >= drop })
	return min(first, p.Len()-1)
}
