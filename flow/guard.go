package flow

import "slices"

// The guards of the lifecycle. They are pure functions of the record.
//
//nolint:gochecknoglobals // constants in all but syntax: nothing assigns to them
var (
	hasValidConfig       = Guard{"hasValidConfig", func(r *Record) bool { return r.valid }}
	allParticipantsReady = Guard{"allParticipantsReady", func(r *Record) bool {
		return r.terms != nil && !slices.Contains(r.Active(), "")
	}}
	hasTurn              = Guard{"hasTurn", func(r *Record) bool { return len(r.Turns) > 0 }}
	costWarningThreshold = Guard{"costWarningThreshold", func(r *Record) bool { return r.unconfirmed() }}
	hasOpenInquiry       = Guard{"hasOpenInquiry", func(r *Record) bool { return len(r.Inquiries) > 0 }}
	allInquiriesAnswered = Guard{"allInquiriesAnswered", func(r *Record) bool { return len(r.Inquiries) == 0 }}
	costLimitExceeded    = Guard{"costLimitExceeded", func(r *Record) bool { return r.limit == WarnHard }}
	shouldAutoStop       = Guard{"shouldAutoStop", func(r *Record) bool { return r.limit == WarnSoft }}
	canRetry             = Guard{"canRetry", func(r *Record) bool { return r.limit != WarnHard || r.raised() }}
)

const cameFromName = "from "

// cameFrom returns a guard that holds if a pause, a question or a failure interrupted this state.
func cameFrom(state State) Guard {
	return Guard{cameFromName + string(state), func(r *Record) bool { return r.work == state }}
}

// and returns a guard that holds if both guards hold.
func (g Guard) and(h Guard) Guard {
	if g.OK == nil {
		return h
	}
	return Guard{g.Name + " and " + h.Name, func(r *Record) bool { return g.OK(r) && h.OK(r) }}
}
