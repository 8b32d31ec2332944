package debate

// The kinds of calls that only debates have.
const (
	KindAssessment CallKind = "assessment"
	KindVerdict    CallKind = "verdict"
	KindBallot     CallKind = "ballot" // of the audience
	KindAssign     CallKind = "assign" // of the search for positions
)

// The kinds of events that only debates have.
const (
	EventAssessment EventKind = "assessment" // *Assessment: a judge has assessed a round
	EventVerdict    EventKind = "verdict"    // *Verdict: a judge has given the verdict
	EventBallot     EventKind = "ballot"     // *Ballot: a member of the audience has voted
	EventAssigned   EventKind = "assigned"   // *Assignment: a model has found positions
)

// EventKind implements [Body].
func (*Assessment) EventKind() EventKind { return EventAssessment }

// EventKind implements [Body].
func (*Verdict) EventKind() EventKind { return EventVerdict }

// EventKind implements [Body].
func (*Ballot) EventKind() EventKind { return EventBallot }

// EventKind implements [Body].
func (*Assignment) EventKind() EventKind { return EventAssigned }
