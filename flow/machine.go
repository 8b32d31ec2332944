package flow

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/qmuntal/stateless"

	"github.com/agonist-dev/debate/internal/order"
	"github.com/agonist-dev/debate/provider"
)

// A flow's states and triggers are one table of rules, together with those of the lifecycle that every conversation has. Rules are
// ordered: of those for the same state and trigger the first whose guard holds leads on. [Compile] makes of the table a chart of
// github.com/qmuntal/stateless, which is what decides: it knows the state from the record, evaluates the guards and names the next
// state. A rule's guard in the chart is its own and none of those before it, since stateless knows no order and takes two guards
// that hold at once for a mistake. A chart holds no state of its own, so that all conversations of a flow share one. The table
// remains for what is no decision: to draw a diagram, to say why a trigger is refused, and not to ask where there is nothing to ask.

// State is a state of a conversation. A flow adds its own, which are all inside StateRunning.
type State string

// The states that every flow shares.
const (
	StateConfiguring   State = "configuring"   // can still be edited; nothing is logged yet
	StateValidating    State = "validating"    // config, providers and models are being checked
	StateReady         State = "ready"         // checked; nothing has been paid for
	StateInitializing  State = "initializing"  // the first events are recorded
	StateRunning       State = "running"       // any of the flow's states; as the target of a rule, the flow's first state
	StatePaused        State = "paused"        // no call starts; results that arrive are recorded
	StateAwaitingInput State = "awaitingInput" // waits for a person's answer
	StateCompleting    State = "completing"    // the conclusion is being made: a verdict, a synthesis
	StateCompleted     State = "completed"     // final
	StateCanceled      State = "canceled"      // final
	StateError         State = "error"         // stopped by a failure

	// StatePrevious is the working state that was left. It occurs only as the target of a rule.
	StatePrevious State = "previous"
	// StateUnchanged means that an input is recorded, and that the state stays what it is: there is no transition, and
	// nothing that is hidden is revealed. It occurs only as the target of a rule of a flow for one of its inputs.
	StateUnchanged State = "unchanged"
)

// Trigger is what changes the state of a conversation. A flow adds its own.
type Trigger string

// The triggers that every flow shares. Where a signal fires a trigger, the comment begins with it.
const (
	TriggerValidate    Trigger = "validate"    // Validate: the checks begin
	TriggerValid       Trigger = "valid"       // Validated: they have found nothing
	TriggerInvalid     Trigger = "invalid"     // Validated: they have found problems
	TriggerEdit        Trigger = "edit"        // Edit: there is another config
	TriggerStart       Trigger = "start"       // Start: the log begins
	TriggerInitialized Trigger = "initialized" // the first events are recorded: the flow begins
	TriggerComplete    Trigger = "complete"    // the rounds are over: the conclusion begins
	TriggerCompleted   Trigger = "completed"   // the conclusion is made
	TriggerPause       Trigger = "pause"       // Pause
	TriggerResume      Trigger = "resume"      // Resume
	TriggerAsk         Trigger = "ask"         // a person's answer is missing, and nothing else can be done
	TriggerAnswered    Trigger = "answered"    // no answer is missing any more, or a model has got the seat of somebody who was asked
	TriggerOverdue     Trigger = "overdue"     // a person has not answered in time
	TriggerWarn        Trigger = "warn"        // the cost warning waits to be acknowledged
	TriggerLimit       Trigger = "limit"       // a limit of the budget is reached
	TriggerFail        Trigger = "fail"        // a failure was not resolved
	TriggerRetry       Trigger = "retry"       // Retry: after an error
	TriggerStop        Trigger = "stop"        // Stop: conclude with what there is
	TriggerCancel      Trigger = "cancel"      // Cancel: end without a conclusion
)

// Rule is a transition from one state to another. Rules are ordered: the first that matches applies.
type Rule struct {
	From State
	On   Trigger
	To   State // StatePrevious: the working state that was left; StateUnchanged: an input is only recorded
	When Guard // zero: always
}

// Guard is a condition of a rule.
type Guard struct {
	Name string               // shown in diagrams and errors
	OK   func(r *Record) bool // must be pure
}

// Lifecycle returns the rules that every flow has. A flow's own rules are tried before them. Nothing else changes a
// state.
func Lifecycle() []Rule {
	always := Guard{}
	return []Rule{
		{StateConfiguring, TriggerEdit, StateConfiguring, always},
		{StateConfiguring, TriggerValidate, StateValidating, always},
		{StateValidating, TriggerValid, StateReady, hasValidConfig},
		{StateValidating, TriggerInvalid, StateConfiguring, always},
		{StateReady, TriggerEdit, StateConfiguring, always},
		{StateReady, TriggerStart, StateInitializing, hasValidConfig},
		{StateInitializing, TriggerInitialized, StateRunning, allParticipantsReady},
		{StateRunning, TriggerComplete, StateCompleting, always},
		{StateCompleting, TriggerCompleted, StateCompleted, always},

		{StateInitializing, TriggerPause, StatePaused, always},
		{StateRunning, TriggerPause, StatePaused, always},
		{StateCompleting, TriggerPause, StatePaused, always},
		{StateAwaitingInput, TriggerPause, StatePaused, always},
		{StatePaused, TriggerResume, StatePrevious, always},

		{StateInitializing, TriggerAsk, StateAwaitingInput, hasOpenInquiry},
		{StateRunning, TriggerAsk, StateAwaitingInput, hasOpenInquiry},
		{StateCompleting, TriggerAsk, StateAwaitingInput, hasOpenInquiry},
		{StateRunning, TriggerWarn, StateAwaitingInput, costWarningThreshold},
		{StateAwaitingInput, TriggerAnswered, StatePrevious, noOpenInquiry},
		{StateAwaitingInput, TriggerOverdue, StatePrevious, always},

		{StateInitializing, TriggerLimit, StateError, costLimitExceeded},
		{StateInitializing, TriggerLimit, StateCompleting, shouldAutoStop},
		{StateRunning, TriggerLimit, StateError, costLimitExceeded},
		{StateRunning, TriggerLimit, StateCompleting, shouldAutoStop},
		{StateCompleting, TriggerLimit, StateError, costLimitExceeded},
		{StateAwaitingInput, TriggerLimit, StateError, costLimitExceeded},
		{StateAwaitingInput, TriggerLimit, StateCompleting, shouldAutoStop},

		{StateInitializing, TriggerFail, StateError, always},
		{StateRunning, TriggerFail, StateError, always},
		{StateCompleting, TriggerFail, StateError, always},
		{StateError, TriggerRetry, StatePrevious, canRetry},
		{StateError, TriggerAnswered, StateCompleting, answeredLate},
		{StateError, TriggerStop, StateCompleted, always},

		{StateInitializing, TriggerStop, StateCompleting, hasTurn},
		{StateInitializing, TriggerStop, StateCompleted, always},
		{StateRunning, TriggerStop, StateCompleting, hasTurn},
		{StateRunning, TriggerStop, StateCompleted, always},
		{StatePaused, TriggerStop, StateCompleting, hasTurn},
		{StatePaused, TriggerStop, StateCompleted, always},
		{StateAwaitingInput, TriggerStop, StateCompleting, hasTurn},
		{StateAwaitingInput, TriggerStop, StateCompleted, always},

		{StateConfiguring, TriggerCancel, StateCanceled, always},
		{StateValidating, TriggerCancel, StateCanceled, always},
		{StateReady, TriggerCancel, StateCanceled, always},
		{StateInitializing, TriggerCancel, StateCanceled, always},
		{StateRunning, TriggerCancel, StateCanceled, always},
		{StatePaused, TriggerCancel, StateCanceled, always},
		{StateAwaitingInput, TriggerCancel, StateCanceled, always},
		{StateCompleting, TriggerCancel, StateCanceled, always},
		{StateError, TriggerCancel, StateCanceled, always},
	}
}

// Machine is the compiled rules of one flow, as a chart of the package stateless, which evaluates the guards and chooses the state to
// which a trigger leads. All conversations of the flow share it. It holds no state and is safe for concurrent use.
type Machine struct {
	flow   *Flow
	states []State      // the flow's own, in the order of its rules
	config reflect.Type // of its configs
	rules  map[ruleKey][]Rule
	chart  *stateless.StateMachine
	common map[Trigger]bool // the triggers of the lifecycle
}

type ruleKey struct {
	from State
	on   Trigger
}

// Compile compiles the rules of a flow and of the lifecycle. An error says what is wrong with the flow.
func Compile(flow *Flow) (*Machine, error) {
	m := &Machine{flow: flow, rules: make(map[ruleKey][]Rule), states: flow.states(), common: ofLifecycle()}
	if err := m.check(); err != nil {
		return nil, err
	}
	if err := m.learnConfig(); err != nil {
		return nil, err
	}
	for _, rule := range append(slices.Clone(flow.Rules), Lifecycle()...) {
		for _, expanded := range m.expand(rule) {
			key := ruleKey{expanded.From, expanded.On}
			m.rules[key] = append(m.rules[key], expanded)
		}
	}
	m.draw()
	return m, nil
}

// draw makes the chart of the rules.
func (m *Machine) draw() {
	m.chart = stateless.NewStateMachineWithExternalStorage(
		func(ctx context.Context) (stateless.State, error) {
			return firingOf(ctx).record.State, nil
		},
		func(ctx context.Context, state stateless.State) error {
			firingOf(ctx).to, _ = state.(State)
			return nil
		},
		stateless.FiringImmediate,
	)
	for _, state := range m.states {
		m.chart.Configure(state).SubstateOf(StateRunning)
	}
	for key, rules := range m.rules {
		for i := range slices.Backward(rules) { // the last is the usual one: stateless allocates where the first that it asks does not hold
			m.permit(key, rules, i)
		}
	}
}

// Flow returns the flow of these rules. It is read only.
func (m *Machine) Flow() *Flow { return m.flow }

// expand replaces StateRunning and StatePrevious in a rule by the states that they stand for.
func (m *Machine) expand(rule Rule) []Rule {
	sources := []State{rule.From}
	if rule.From == StateRunning {
		sources = m.states
	}
	var out []Rule
	for _, from := range sources {
		one := Rule{from, rule.On, rule.To, rule.When}
		switch rule.To {
		case StateRunning:
			one.To = m.flow.Start
			out = append(out, one)
		case StatePrevious:
			for _, to := range append([]State{StateInitializing, StateCompleting}, m.states...) {
				out = append(out, Rule{from, rule.On, to, rule.When.and(cameFrom(to))})
			}
		default:
			out = append(out, one)
		}
	}
	return out
}

// permit configures the i-th rule of one state and trigger. Its guard in the chart holds if its own does and none of those before it,
// since rules are ordered, and since stateless treats two guards that hold at once as a mistake.
func (m *Machine) permit(key ruleKey, rules []Rule, i int) {
	first := func(ctx context.Context, _ ...any) bool {
		r := firingOf(ctx).record
		return rules[i].holds(r) && !slices.ContainsFunc(rules[:i], func(before Rule) bool { return before.holds(r) })
	}
	state := m.chart.Configure(key.from)
	switch rules[i].To {
	case StateUnchanged:
		state.Ignore(key.on, first)
	case key.from:
		state.PermitReentry(key.on, first)
	default:
		state.Permit(key.on, rules[i].To, first)
	}
}

// holds reports whether the rule's guard holds.
func (rule Rule) holds(r *Record) bool { return rule.When.OK == nil || rule.When.OK(r) }

// firing carries a record into the chart, and the new state out of it. It is a context, so that the shared machine needs no lock and
// no copy.
type firing struct {
	context.Context
	record *Record
	to     State
}

// firingOf returns the firing that a context of the chart is. Only leads and allows ask the chart.
func firingOf(ctx context.Context) *firing {
	return ctx.(*firing) //nolint:forcetypeassert // see above
}

// fire returns the state that the trigger leads to, or StateUnchanged. A refusal names the state, the trigger and the
// guards, and changes nothing.
func (m *Machine) fire(r *Record, on Trigger) (State, error) {
	if to := m.leads(r, on); to != "" {
		return to, nil
	}
	return "", m.refusal(r, on)
}

// leads returns the state that the trigger leads to, or StateUnchanged; "": it is not possible now.
func (m *Machine) leads(r *Record, on Trigger) State {
	f := firing{Context: context.Background(), record: r, to: StateUnchanged}
	if m.chart.FireCtx(&f, on) != nil {
		return ""
	}
	return f.to
}

// refusal returns why the trigger is not possible now.
func (m *Machine) refusal(r *Record, on Trigger) error {
	rules := m.rules[ruleKey{r.State, on}]
	if len(rules) == 0 {
		return &Error{Kind: provider.KindState, Op: string(on), Err: r.opposed(on, fmt.Errorf("not possible in state %s", r.State))}
	}
	var guards []string
	for _, rule := range rules {
		name, _, _ := strings.Cut(rule.When.Name, " and "+cameFromName) // without the state that the rule leads to
		if !slices.Contains(guards, name) {
			guards = append(guards, name)
		}
	}
	why := strings.Join(guards, ", ")
	if r.State == StateError && r.Failure != nil {
		why += ", after a failure of kind " + string(r.Failure.Kind)
	}
	return &Error{Kind: provider.KindState, Op: string(on), Err: r.opposed(on, fmt.Errorf("refused in state %s by %s", r.State, why))}
}

// opposed adds to the error of a trigger that the present state does not allow what helps.
func (r *Record) opposed(on Trigger, err error) error {
	switch {
	case r.Final():
		return WithMend(err, "fork the conversation, which is over")
	case r.State == StateAwaitingInput:
		return WithMend(err, "answer the open inquiries")
	case r.State == StatePaused && on == TriggerPause:
		return WithMend(err, "do nothing: the conversation is paused")
	case r.State == StatePaused:
		return WithMend(err, "resume the conversation")
	case r.State == StateError && on == TriggerRetry && r.Failure != nil:
		return WithMend(err, r.Failure.clause())
	case r.State == StateError:
		return WithMend(err, "retry or stop the conversation, which a failure has stopped")
	case r.start == nil && on == TriggerStart:
		return WithMend(err, "validate the config first, until nothing is wrong with it")
	case r.start == nil:
		return WithMend(err, "start the conversation")
	case on == TriggerResume || on == TriggerRetry:
		return WithMend(err, "wait: the conversation is running")
	default:
		return WithMend(err, "pause the conversation first, or wait until it is in another state than "+string(r.State))
	}
}

// ofLifecycle returns the triggers that every flow has.
func ofLifecycle() map[Trigger]bool {
	on := make(map[Trigger]bool)
	for _, rule := range Lifecycle() {
		on[rule.On] = true
	}
	return on
}

// allows reports whether the trigger is possible now. The chart is asked only where guards decide.
func (m *Machine) allows(r *Record, on Trigger) bool {
	if rules := m.rules[ruleKey{r.State, on}]; len(rules) == 0 || rules[0].When.OK == nil {
		return len(rules) > 0
	}
	can, err := m.chart.CanFireCtx(&firing{Context: context.Background(), record: r}, on)
	return can && err == nil
}

// input reports whether a host program may send the trigger.
func (m *Machine) input(on Trigger) bool { return slices.Contains(m.flow.Inputs, on) }

// working reports whether calls are made in the state.
func (m *Machine) working(s State) bool {
	return s == StateInitializing || s == StateCompleting || slices.Contains(m.states, s)
}

// knows reports whether the state belongs to the lifecycle or to the flow.
func (m *Machine) knows(s State) bool {
	switch s {
	case StateConfiguring, StateValidating, StateReady, StatePaused, StateAwaitingInput, StateCompleted, StateCanceled, StateError:
		return true
	default:
		return m.working(s)
	}
}

// states returns the flow's own states in the order in which its rules name them.
func (f *Flow) states() []State {
	states := []State{f.Start}
	for _, rule := range f.Rules {
		for _, s := range []State{rule.From, rule.To} {
			if !slices.Contains(states, s) && !lifecycleState(s) {
				states = append(states, s)
			}
		}
	}
	return states
}

// oldest returns the oldest version whose logs the flow continues.
func (f *Flow) oldest() int {
	if f.Accepts > 0 {
		return f.Accepts
	}
	return f.Version
}

func lifecycleState(s State) bool {
	switch s {
	case StateConfiguring, StateValidating, StateReady, StateInitializing, StateRunning, StatePaused, StateAwaitingInput,
		StateCompleting, StateCompleted, StateCanceled, StateError, StatePrevious, StateUnchanged:
		return true
	default:
		return false
	}
}

// check reports what would make the machine stop or contradict itself.
func (m *Machine) check() error {
	f := m.flow
	bad := func(format string, args ...any) error {
		return &Error{Kind: provider.KindValidation, Op: "flow " + f.Name, Err: fmt.Errorf(format, args...)}
	}
	if f.Name == "" || f.Start == "" || lifecycleState(f.Start) {
		return bad("a flow has a name and a first state of its own")
	}
	if f.Version < 1 || f.Accepts > f.Version {
		return bad("a flow has a version from 1, and accepts none above it")
	}
	if f.Decode == nil {
		return bad("a flow has a Decode, which reads its configs")
	}
	if f.Freeze != nil && f.Thaw == nil {
		return bad("a flow with a Freeze has a Thaw, which reads its result")
	}
	for _, state := range m.states {
		if step, ok := f.Steps[state]; !ok || step.Next == nil {
			return bad("state %q has no step with a Next", state)
		}
	}
	for state := range f.Steps {
		if !m.working(state) {
			return bad("Steps: %w", Unknown("state", state, m.states...))
		}
	}
	if err := m.checkRules(bad); err != nil {
		return err
	}
	for _, state := range f.Timed {
		if !m.working(state) {
			return bad("Timed: %w", Unknown("state", state, m.states...))
		}
	}
	if err := f.checkReopening(); err != nil {
		return bad("%w", err)
	}
	return m.checkNames(bad)
}

// checkRules reports rules that could not apply, or that lead out of the flow's states.
func (m *Machine) checkRules(bad func(format string, args ...any) error) error {
	for _, rule := range m.flow.Rules {
		if (rule.When.OK == nil) != (rule.When.Name == "") {
			return bad("the guard of %s on %s has a name or a function, but not both", rule.From, rule.On)
		}
		if rule.To == StateUnchanged && !m.input(rule.On) {
			return bad("the rule of %s on %s leaves the state unchanged, which only an input may, and Inputs does not list it", rule.From, rule.On)
		}
		if lifecycleState(rule.To) && !works(rule.To) && rule.To != StateUnchanged {
			return bad("a rule of a flow leads to a working state, not to %s", rule.To)
		}
		if lifecycleState(rule.From) && !works(rule.From) && (rule.To != StateUnchanged || !waits(rule.From)) {
			return bad("a rule of a flow begins in a working state, not in %s, unless it leaves paused, awaitingInput or error unchanged", rule.From)
		}
	}
	return nil
}

// works reports whether a state of the lifecycle stands in rules for states in which calls are made.
func works(s State) bool { return s == StateRunning || s == StateCompleting || s == StateInitializing }

// waits reports whether a conversation that has begun, and is not over, is idle in the state.
func waits(s State) bool { return s == StatePaused || s == StateAwaitingInput || s == StateError }

// checkNames reports names of the flow that would never be found, or that stand for something else already.
func (m *Machine) checkNames(bad func(format string, args ...any) error) error {
	f := m.flow
	for name, schema := range order.ByKey(f.Schemas) {
		if schema == nil {
			return bad("the schema %q is nil", name)
		}
	}
	kinds := make(map[EventKind]bool)
	for _, sample := range f.Bodies {
		if t := reflect.TypeOf(sample); t == nil || t.Kind() != reflect.Pointer || NewBody(sample.EventKind()) != nil {
			return bad("a body is no pointer to a struct, or is of a kind that every flow has")
		}
		kind := sample.EventKind()
		if slices.Contains([]EventKind{"open", "error", "end"}, kind) {
			return bad("a body is of the kind %q, by which a browser that streams events knows its connection", kind)
		}
		if _, ok := sample.(AttemptEnd); !ok {
			return bad("the body of kind %q does not embed flow.Spend, so no log could hold it", kind)
		}
		if kinds[kind] {
			return bad("two bodies are of the kind %q", kind)
		}
		kinds[kind] = true
	}
	for _, on := range f.Inputs {
		if m.common[on] {
			return bad("the input %q is a trigger of the lifecycle: an input needs a name of its own", on)
		}
		if !slices.ContainsFunc(f.Rules, func(rule Rule) bool { return rule.On == on }) {
			return bad("the input %q has no rule, so every state would refuse it", on)
		}
	}
	for on, sample := range order.ByKey(f.Payloads) {
		if !slices.Contains(f.Inputs, on) || sample == nil {
			return bad("the payload of %q is nil, or of no input", on)
		}
	}
	return nil
}

// The guards of the lifecycle. They are pure functions of the record.
//
//nolint:gochecknoglobals // constants in all but syntax: nothing assigns to them
var (
	hasValidConfig       = Guard{"hasValidConfig", func(r *Record) bool { return r.valid }}
	allParticipantsReady = Guard{"allParticipantsReady", func(r *Record) bool {
		return r.settings != nil && !slices.Contains(r.Active(), "")
	}}
	hasTurn              = Guard{"hasTurn", func(r *Record) bool { return len(r.Turns) > 0 }}
	costWarningThreshold = Guard{"costWarningThreshold", func(r *Record) bool { return r.unconfirmed() }}
	hasOpenInquiry       = Guard{"hasOpenInquiry", func(r *Record) bool { return len(r.Inquiries) > 0 }}
	noOpenInquiry        = Guard{"noOpenInquiry", func(r *Record) bool {
		return len(r.Inquiries) == 0 || r.relieved && r.inquiry(InquiryCost) == nil // a model is asked, whoever else is
	}}
	costLimitExceeded = Guard{"costLimitExceeded", func(r *Record) bool { return r.limit == WarnHard }}
	shouldAutoStop    = Guard{"shouldAutoStop", func(r *Record) bool { return r.limit == WarnSoft }}
	canRetry          = Guard{"canRetry", func(r *Record) bool { return r.limit != WarnHard || r.raised() }}
	answeredLate      = Guard{"answeredLate", func(r *Record) bool {
		return r.limit == WarnHard && r.work == StateCompleting && len(r.Inquiries)+len(r.inFlight) == 0
	}}
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
