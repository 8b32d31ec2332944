package debate

import (
	"errors"
	"slices"
	"time"
)

// TableMachine is a compiled machine whose guards a test decides.
type TableMachine struct {
	machine *Machine
	holds   func(guard string) bool
}

// CompileTable compiles a flow as an engine does, and then hands its guards over to [TableMachine.Fire].
func CompileTable(flow *Flow) (*TableMachine, error) {
	m, err := Compile(flow)
	if err != nil {
		return nil, err
	}
	table := &TableMachine{machine: m}
	for _, rules := range m.rules {
		for i := range rules {
			if name := rules[i].When.Name; name != "" {
				rules[i].When.OK = func(*Record) bool { return table.holds(name) }
			}
		}
	}
	return table, nil
}

// Fire fires a trigger in a state, with guards as holds says.
func (t *TableMachine) Fire(from State, on Trigger, holds func(guard string) bool) (State, error) {
	r := newRecord("table")
	r.State, t.holds = from, holds
	return t.machine.fire(r, on)
}

// Working yields the states in which calls are made.
func (t *TableMachine) Working() []State {
	return append([]State{StateInitializing, StateCompleting}, t.machine.states...)
}

// Lifecycle yields the lifecycle's rules, as they are written down.
func Lifecycle() []Rule { return lifecycle() }

// GuardRecords yields, for every guard of the lifecycle and the debate flow, a record in which it
// does not hold and one in which it does.
func GuardRecords() map[string][2]*Record {
	record := func(change func(*Debate)) *Record {
		r := newRecord("guard")
		config := &Config{Rounds: 2, Participants: []Participant{{Name: "Ada"}, {Name: "Ben"}}}
		format := &Format{Phases: []Phase{{Name: "argument", First: 1, Last: -1}}, End: EndByJudge}
		r.start = &Start{Config: Value{Go: config}}
		r.config, r.terms, r.frozen = config, new(config.Terms()), format
		d := &Debate{Record: r, config: config, format: format, phase: unset}
		r.part = d
		r.beginRound(1, time.Time{})
		d.Record.Round = 1
		d.beginRound(1)
		change(d)
		return r
	}
	failure := func(kind Kind, retries int) func(*Debate) {
		return func(r *Debate) { r.Failure, r.retries = &Error{Kind: kind, Err: errors.New("x")}, retries }
	}
	confirm := func(acked bool) func(*Debate) {
		return func(r *Debate) {
			r.terms.Budget, r.acked = &Budget{Warn: 1, Confirm: true}, acked
			r.Warnings = []Warning{{Kind: WarnCost}}
		}
	}
	spoken := func(names ...string) func(*Debate) {
		return func(r *Debate) {
			for slot, name := range names {
				turn := &Turn{Round: 1, Slot: slot, Kind: "argument", Speaker: name}
				r.Record.foldTurn(turn)
				r.foldTurn(turn)
			}
		}
	}
	assessed := func(goOn bool) func(*Debate) {
		return func(r *Debate) {
			r.Assessments = []*Assessment{{Round: 1, Judge: "judge", Judgement: Judgement{ShouldContinue: goOn}}}
		}
	}
	asked := func(r *Debate) { r.Inquiries = []Inquiry{{ID: "q"}} }
	same := func(*Debate) {}
	pair := func(no, yes func(*Debate)) [2]*Record { return [2]*Record{record(no), record(yes)} }
	return map[string][2]*Record{
		"hasValidConfig":       pair(same, func(r *Debate) { r.valid = true }),
		"allParticipantsReady": pair(func(r *Debate) { r.terms.Participants[1] = "" }, same),
		"hasTurn":              pair(same, func(r *Debate) { r.Turns = []*Turn{{}} }),
		"costWarningThreshold": pair(confirm(true), confirm(false)),
		"hasOpenInquiry":       pair(same, asked),
		"allInquiriesAnswered": pair(asked, same),
		"costLimitExceeded":    pair(func(r *Debate) { r.limit = WarnSoft }, func(r *Debate) { r.limit = WarnHard }),
		"shouldAutoStop":       pair(func(r *Debate) { r.limit = WarnHard }, func(r *Debate) { r.limit = WarnSoft }),
		"canRetry":             pair(failure(KindNetwork, maxRetries), failure(KindNetwork, maxRetries-1)),
		"tooFewParticipants":   pair(same, func(r *Debate) { r.dropped = []string{"Ben"} }),
		"allArgumentsReceived": pair(spoken("Ada"), spoken("Ada", "Ben")),
		"shouldEndDebate":      pair(assessed(true), assessed(false)),
		"maxRoundsReached":     pair(same, func(r *Debate) { r.Round = 2 }),
		"canContinue":          pair(func(r *Debate) { r.dropped = []string{"Ben"} }, same),
	}
}

// GuardsOf yields a flow's guards and the lifecycle's, each once, by name.
func GuardsOf(flow *Flow) map[string]Guard {
	guards := make(map[string]Guard)
	for _, rule := range slices.Concat(flow.Rules, lifecycle()) {
		if rule.When.Name != "" {
			guards[rule.When.Name] = rule.When
		}
	}
	return guards
}

// Reduce, Plus and Times reach what no caller can.
func Reduce(text string, most int) string { return oneLine(text, most) }

// Plus adds amounts as accounts do.
func (m Money) Plus(n Money) Money { return m.plus(n) }

// Times multiplies a price as a model's cost does.
func (m Money) Times(n int) Money { return m.times(n) }
