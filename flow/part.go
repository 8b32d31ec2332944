package flow

// Part is what a flow keeps of a conversation for itself, beside the record: what it has read from the config, and
// what it computes from the events. A part belongs to one [Record].
type Part interface {
	// Fold takes an event after the record has folded it. An error means that the log is refused. It must be of
	// kind validation and name a field of the event's body.
	Fold(e *Event) error
}

// Part returns the part that Flow.Open made, or nil.
func (r *Record) Part() Part { return r.part }
