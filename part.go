package debate

// Part is what a flow keeps of a conversation for itself, beside the record: what it has read from the config, and
// what it computes from the events. One belongs to one [Record].
type Part interface {
	// Fold takes an event after the record has folded it. What it returns must be an error of kind validation that
	// names a field of the event's body: the log is then refused.
	Fold(e *Event) error
}

// Part yields what the flow's Open has made; nil: nothing. Package debate has [Of] for its own.
func (r *Record) Part() Part { return r.part }
