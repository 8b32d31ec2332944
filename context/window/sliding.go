package window

// Sliding is the Manager that keeps the opening and the newest messages, and leaves out the messages
// between them.
//
// It sends everything as long as it fits, and then drops to about 60 % of the limit less Fixed, in the same
// parts as [Truncate] and, like it, without state. The opening stays as long as it fits beside the newest
// message. If it does not fit, that request is sent without it.
//
// Sliding uses no summary. The zero value is ready to use.
type Sliding struct{}

// Plan implements [Manager].
func (Sliding) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	return slide(&p, limit, opened(&p))
}
