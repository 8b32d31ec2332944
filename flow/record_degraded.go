package flow

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Degraded lists where the conversation fell short of its config, as far as that is the same in every flow, one line each:
//   - what has ended it early, and what had before it was reopened; see [Record.CutShort]
//   - what its warnings name: what was late, left out or cut by the budget, and whatever a flow warns of with a kind of its own
//   - options that were left out of requests, because the models lack them
//   - providers that are or were waited for
//   - in the error state, what it still lacks, as owes says: Flow.Owes of its flow; nil: that is not listed
//   - who was dropped, as gone says it; nil: by name
//
// The projections of the library's flows have methods that add what is their own. The lines belong to the caller.
func (r *Record) Degraded(owes func(*Record) []string, gone func(name string) string) []string {
	var out []string
	if cut := r.CutShort(); cut != "" {
		out = append(out, cut)
	}
	for _, cut := range r.cuts {
		out = append(out, "before it was reopened: "+cut)
	}
	for i := range r.Warnings {
		if w := &r.Warnings[i]; !slices.Contains(harmless, w.Kind) {
			out = append(out, w.Evidence)
		}
	}
	for _, l := range r.leftOut {
		out = append(out, l.String())
	}
	for i := range r.outlasted {
		out = append(out, r.waited(&r.outlasted[i]))
	}
	if r.State == StateError && owes != nil {
		for _, what := range owes(r) {
			out = append(out, "missing: "+what)
		}
	}
	if gone == nil {
		gone = func(name string) string { return name + " has taken no further part" }
	}
	for _, name := range r.dropped {
		out = append(out, gone(name))
	}
	return out
}

// harmless are the kinds of warnings after which a conversation lacks nothing, or whose matter another line of Degraded names.
//
//nolint:gochecknoglobals // a constant in all but syntax: nothing assigns to it
var harmless = []WarningKind{
	WarnBudget, WarnCost, WarnSoft, WarnHard, WarnNear, WarnHigh, WarnShort, WarnOver, WarnOutage, WarnUnchecked, WarnEffect,
}

// waited says that an outage is or was waited for.
func (r *Record) waited(o *toldOutage) string {
	switch {
	case o.passed:
		return fmt.Sprintf("%s: %s was waited for, for %s", o.kind, o.host, o.waited.Round(time.Second))
	case o.over, r.Final(), r.State == StateError:
		return fmt.Sprintf("%s: %s was waited for in vain", o.kind, o.host)
	default:
		return o.evidence
	}
}

// Why says why the call was left out: the kind of the failure, or that the time was over.
func (s *Skipped) Why() string { return cmp.Or(string(s.Cause), "its time was over") }

// Missed says in one line what the actor has missed, such as "a vote".
func (s *Skipped) Missed(what string) string {
	return fmt.Sprintf("%s has missed %s (%s)", s.By, what, s.Why())
}
