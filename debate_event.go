package debate

import "github.com/agonist-dev/debate/flow"

// The kinds of calls that only debates have.
const (
	KindAssessment flow.CallKind = "assessment"
	KindVerdict    flow.CallKind = "verdict"
	KindBallot     flow.CallKind = "ballot" // of the audience
	KindAssign     flow.CallKind = "assign" // of the search for positions
)

// The kinds of events that only debates have.
const (
	EventAssessment flow.EventKind = "assessment" // *Assessment: a judge has assessed a round
	EventVerdict    flow.EventKind = "verdict"    // *Verdict: a judge has given the verdict
	EventBallot     flow.EventKind = "ballot"     // *Ballot: a member of the audience has voted
	EventAssigned   flow.EventKind = "assigned"   // *Assignment: a model has found positions
)

// EventKind implements [flow.Body].
func (*Assessment) EventKind() flow.EventKind { return EventAssessment }

// EventKind implements [flow.Body].
func (*Verdict) EventKind() flow.EventKind { return EventVerdict }

// EventKind implements [flow.Body].
func (*Ballot) EventKind() flow.EventKind { return EventBallot }

// EventKind implements [flow.Body].
func (*Assignment) EventKind() flow.EventKind { return EventAssigned }
