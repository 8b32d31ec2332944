package window

// Sliding is the Manager that keeps the opening and the newest messages, and leaves out what is between.
//
// It sends everything until that is more than the room, and drops then to about 60 % of it, in the same
// steps as [Truncate] and just as free of memory. The room is what Fixed, rounded as there, and the
// opening leave of the limit. The opening stays for as long as it fits beside the newest message; in a
// request where it does not, it is left out.
//
// It uses no summary. The zero value is ready to use.
type Sliding struct{}

// Plan implements [Manager].
func (Sliding) Plan(p Problem) Plan {
	limit, limited := p.bound()
	if !limited {
		return everything(&p)
	}
	return slide(&p, limit, 100, opened(&p))
}
