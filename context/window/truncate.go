package window

// Truncate is the Manager that leaves out the oldest messages.
//
// When the messages pass their room, it drops to about 60 % of it, in steps of 40 %: between two drops
// the request only grows at its end. Where it drops follows from the sums alone, without a memory: the
// transcript is divided at every 40 % of the room, and whole parts are left out, as few as will do.
// The room is what Fixed leaves of the limit, with Fixed rounded up to a multiple of 2,048 tokens, or of
// an eighth of the limit where that is less, so that instructions of different length do not move the cut.
//
// It uses no summary and no head. The zero value is ready to use.
type Truncate struct{}

// Plan implements [Manager].
func (Truncate) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	return slide(&p, limit, 100, lead{})
}
