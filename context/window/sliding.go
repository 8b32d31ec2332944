package window

// Sliding is the Manager that keeps the opening and the newest messages, and leaves out the messages
// between them.
//
// It sends everything until the messages pass the room, and then drops to about 60 % of it, in the same
// steps as [Truncate] and, like it, without state. The room is the limit less Fixed, rounded as in
// Truncate, and less the opening. The opening stays as long as it fits beside the newest message. If it
// does not fit, that request is sent without it.
//
// Sliding uses no summary. The zero value is ready to use.
type Sliding struct{}

// Plan implements [Manager].
func (Sliding) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	return slide(&p, limit, 100, opened(&p))
}
