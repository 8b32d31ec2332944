package flow

import (
	"reflect"
	"slices"
	"unsafe"

	"github.com/agonist-dev/debate/context/token"
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

// Unguard takes a guard out of the chart that the core asks. The table that charts are made from keeps it.
func (c *Core) Unguard(guard string) {
	m := *c.machine
	m.rules = make(map[ruleKey][]Rule)
	for key, rules := range c.machine.rules {
		m.rules[key] = slices.Clone(rules)
		for i := range rules {
			if rules[i].When.Name == guard {
				m.rules[key][i].When = Guard{}
			}
		}
	}
	m.draw()
	m.rules, c.machine = c.machine.rules, &m
}

// Times multiplies a price as a model's cost does.
func (m Money) Times(n int) Money { return m.times(n) }

// UniqueIDs gives each use of a request an id of its own, as a core does.
func UniqueIDs(asked ...string) []string {
	var ids useIDs
	out := make([]string, len(asked))
	for i, id := range asked {
		out[i] = ids.unique(id)
	}
	return out
}

// Counted counts texts as a core does, one after the other.
func Counted(counter token.Counter, texts ...string) []int {
	var c Core
	out := make([]int, len(texts))
	for i, text := range texts {
		out[i] = c.counted(counter, text)
	}
	return out
}

// NeedsTemperature reports whether a seat asks for a model that takes a temperature.
func NeedsTemperature(s Seat) bool { return s.requirement().temperature }

// SizeOfCallState is what a record keeps of each call, without what only some calls have.
const SizeOfCallState = unsafe.Sizeof(callState{})

// PlainIsWritten reports whether something has written to what all calls share that are not special.
func PlainIsWritten() bool { return !reflect.DeepEqual(plain, special{}) }
