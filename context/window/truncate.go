package window

// Truncate is the Manager that leaves out the oldest messages.
//
// When the messages pass their room, it drops to about 60 % of it, in steps of 40 %. Between two drops
// the request only grows at its end. The cut follows from the sums alone, without state: the transcript
// is divided at every 40 % of the room, and as few whole parts as possible are left out. The room is the
// limit less Fixed. Fixed is rounded up to a multiple of 2,048 tokens, or of an eighth of the limit if
// that is less, so that instructions of different length do not move the cut.
//
// Truncate uses no summary and no head. The zero value is ready to use.
type Truncate struct{}

// Plan implements [Manager].
func (Truncate) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	return slide(&p, limit, 100, lead{})
}
