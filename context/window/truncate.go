package window

// Truncate is the Manager that leaves out the oldest messages.
//
// When the messages no longer fit beside Fixed, it drops to about 60 % of that room. Between two drops the
// request only grows at its end. The cut follows from the sums alone, without state: the transcript is divided
// into parts of whole messages, each of at most 40 % of the room, or of one message that is larger, and as few
// parts as possible are left out. For that, Fixed is rounded up to a multiple of 2,048 tokens, or of a
// sixteenth of the limit if that is less, so that instructions of different length do not move the cut.
//
// Truncate uses no summary and no head. The zero value is ready to use.
type Truncate struct{}

// Plan implements [Manager].
func (Truncate) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	return slide(&p, limit, lead{})
}
