package debate_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	flowpkg "github.com/agonist-dev/debate/flow"
)

// storedLog is a debate as its store holds it.
type storedLog struct {
	engine *debate.Engine
	id     string
	events []debate.Event
}

// playedLog plays a debate to its end and yields its log.
func playedLog(t *testing.T, config debate.Config) storedLog {
	t.Helper()
	engine, _ := engineFor(config)
	return logOf(t, engine, run(t, engine, config).ID)
}

func logOf(t *testing.T, engine *debate.Engine, id string) storedLog {
	t.Helper()
	l := storedLog{engine: engine, id: id}
	snapshot := snapshotOf(t, engine, id)
	var read struct {
		Events []debate.Event `json:"events"`
	}
	require.NoError(t, json.Unmarshal(snapshot, &read))
	l.events = readBodies(read.Events)
	return l
}

// copied yields the events as a store on disk would: nothing is shared.
func (l storedLog) copied(t *testing.T) []debate.Event {
	t.Helper()
	data, err := json.Marshal(l.events)
	require.NoError(t, err)
	var events []debate.Event
	require.NoError(t, json.Unmarshal(data, &events))
	return readBodies(events)
}

// index yields the place of the n-th event of a kind, from 0.
func (l storedLog) index(t *testing.T, kind flowpkg.EventKind, n int) int {
	t.Helper()
	for i := range l.events {
		if l.events[i].Kind() == kind {
			if n == 0 {
				return i
			}
			n--
		}
	}
	require.Failf(t, "no such event", "%s", kind)
	return 0
}

func TestTheRecordIsTheFoldOfItsLog(t *testing.T) {
	config := twoDebaters()
	engine, _ := engineFor(config)
	live := run(t, engine, config)
	l := logOf(t, engine, live.ID)
	core, err := engine.NewCore(l.id, l.events)
	require.NoError(t, err)
	folded := core.Record()

	left, err := view(live).Canonical()
	require.NoError(t, err)
	right, err := view(folded).Canonical()
	require.NoError(t, err)
	assert.JSONEq(t, string(left), string(right))
	assert.Equal(t, live.Spent(), folded.Spent())
	assert.Equal(t, live.SpentByModel(), folded.SpentByModel())
	assert.Equal(t, live.SpentByParticipant(), folded.SpentByParticipant())
	assert.Equal(t, live.Evidence, folded.Evidence)
	assert.Equal(t, live.Seq, folded.Seq)
	assert.True(t, live.LastAt.Equal(folded.LastAt))
	assert.Equal(t, live.RoundTurns(2), folded.RoundTurns(2))
	assert.Zero(t, folded.Reserved(), "nothing is in flight")
	assert.Zero(t, folded.InFlight())

	var sum debate.Money
	for round := range 4 {
		sum += folded.SpentInRound(round).Cost
	}
	assert.Equal(t, folded.Spent().Cost, sum, "rounds share the spend among them")
	assert.Zero(t, folded.SpentInRound(-1))
	assert.Zero(t, folded.SpentInRound(99))
}

// Numbers go on without gaps, times do not go back, and no event is a chunk.
func TestALogIsNumbered(t *testing.T) {
	l := playedLog(t, twoDebaters())
	for i, event := range l.events {
		assert.EqualValues(t, i+1, event.Seq)
		assert.NotEqual(t, flowpkg.EventChunk, event.Kind())
		if i > 0 {
			assert.False(t, event.At.Before(l.events[i-1].At))
		}
	}
	assert.Equal(t, flowpkg.EventStart, l.events[0].Kind())
}

// A log that cannot have been written is an error that names the field; the machine's state never comes from it.
func TestLogsThatDoNotFold(t *testing.T) {
	l := playedLog(t, twoDebaters())
	intent := l.index(t, flowpkg.EventIntent, 0)
	turn := l.index(t, flowpkg.EventTurn, 0)
	assessment := l.index(t, debate.EventAssessment, 0)
	change := l.index(t, flowpkg.EventTransition, 1)
	round := l.index(t, flowpkg.EventRound, 1)
	for name, c := range map[string]struct {
		at     int
		change func(e *debate.Event)
		field  string
	}{
		"a number is left out":         {turn, func(e *debate.Event) { e.Seq++ }, "seq"},
		"a number comes twice":         {turn, func(e *debate.Event) { e.Seq-- }, "seq"},
		"no start":                     {0, func(e *debate.Event) { e.Body = &flowpkg.Acknowledge{} }, "kind"},
		"a second start":               {turn, func(e *debate.Event) { e.Body = as[flowpkg.Start](l.events[0]) }, "kind"},
		"an unknown kind":              {turn, func(e *debate.Event) { e.Body = &flowpkg.Foreign{Kind: "song"} }, "kind"},
		"a chunk":                      {turn, func(e *debate.Event) { e.Body = &flowpkg.Chunk{} }, "kind"},
		"a kind without its body":      {turn, func(e *debate.Event) { e.Body = nil }, "kind"},
		"a start without a config":     {0, func(e *debate.Event) { as[flowpkg.Start](*e).Config = flowpkg.Value{} }, "start.config"},
		"a start without a format":     {0, func(e *debate.Event) { as[flowpkg.Start](*e).Frozen = flowpkg.Value{} }, "start.frozen"},
		"a newer log":                  {0, func(e *debate.Event) { as[flowpkg.Start](*e).Version = flowpkg.LogVersion + 1 }, "start.version"},
		"a log of no version":          {0, func(e *debate.Event) { as[flowpkg.Start](*e).Version = 0 }, "start.version"},
		"an unknown flow":              {0, func(e *debate.Event) { as[flowpkg.Start](*e).Flow = "opera" }, "flow"},
		"a newer flow":                 {0, func(e *debate.Event) { as[flowpkg.Start](*e).FlowVersion = 99 }, "flowVersion"},
		"from another state":           {change, func(e *debate.Event) { as[flowpkg.Transition](*e).From = flowpkg.StatePaused }, "transition.from"},
		"to an unknown state":          {change, func(e *debate.Event) { as[flowpkg.Transition](*e).To = "limbo" }, "transition.to"},
		"to previous":                  {change, func(e *debate.Event) { as[flowpkg.Transition](*e).To = flowpkg.StatePrevious }, "transition.to"},
		"an error without a reason":    {change, func(e *debate.Event) { as[flowpkg.Transition](*e).To = flowpkg.StateError }, "transition.failure"},
		"a round before the last":      {round, func(e *debate.Event) { as[flowpkg.Round](*e).N = 0 }, "round.n"},
		"an intent's attempt too high": {intent, func(e *debate.Event) { as[flowpkg.Intent](*e).Attempt = 2 }, "intent.attempt"},
		"an intent's attempt too low":  {intent, func(e *debate.Event) { as[flowpkg.Intent](*e).Attempt = 0 }, "intent.attempt"},
		"a negative reservation":       {intent, func(e *debate.Event) { as[flowpkg.Intent](*e).Reserve = -1 }, "intent.reserve"},
		"an intent of a call in flight": {intent + 1, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: as[flowpkg.Intent](l.events[intent])}
		}, "intent.call"},
		"a turn that nobody was asked for": {turn, func(e *debate.Event) { as[debate.Turn](*e).Call = "r9.song.Ada" }, "call"},
		"a turn of another attempt":        {turn, func(e *debate.Event) { as[debate.Turn](*e).Attempt = 7 }, "call"},
		"a turn that pays":                 {turn, func(e *debate.Event) { as[debate.Turn](*e).Cost = -1 }, "cost"},
		"an assessment nobody asked for":   {assessment, func(e *debate.Event) { as[debate.Assessment](*e).Call = "" }, "call"},
		"a question without a call": {turn, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: &flowpkg.Inquiry{ID: "who?"}}
		}, "inquiry.id"},
		"a failure without a reason": {turn, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: &flowpkg.Failure{Spend: as[debate.Turn](*e).Spend}}
		}, "failed.error"},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.copied(t)
			c.change(&events[c.at])
			_, err := l.engine.NewCore(l.id, events)
			assert.Equal(t, c.field, requireKind(t, err, flowpkg.KindValidation).Field)
		})
	}
}

// Old logs load without their flow's help: every prefix of a log is a record, and goes on from there.
func TestEveryPrefixOfALogFolds(t *testing.T) {
	l := playedLog(t, twoDebaters())
	for n := 1; n <= len(l.events); n++ {
		core, err := l.engine.NewCore(l.id, l.events[:n])
		require.NoError(t, err, "%d events", n)
		assert.EqualValues(t, n, core.Record().Seq)
	}
	core, err := l.engine.NewCore(l.id, nil)
	require.NoError(t, err)
	assert.Equal(t, flowpkg.StateConfiguring, core.Record().State)
}

// A clock that goes back does not turn the order of the facts.
func TestTimesAreInOrderWhateverTheClockSays(t *testing.T) {
	l := playedLog(t, twoDebaters())
	i := l.index(t, flowpkg.EventIntent, 0)
	core, err := l.engine.NewCore(l.id, l.events[:i+1])
	require.NoError(t, err)
	out, err := core.Step(flowpkg.Input{At: time.Unix(1, 0), Signal: flowpkg.Result{Call: as[flowpkg.Intent](l.events[i]).Call, Attempt: 1, Text: "Early."}})
	require.NoError(t, err)
	require.NotEmpty(t, out.Events)
	assert.False(t, out.Events[0].At.Before(l.events[i].At))
}

// An input that is refused, or that nobody waits for, changes nothing: neither the record nor what follows
// from the next input. Both are compared with those of a core that has never seen it.
func TestARefusedInputChangesNothing(t *testing.T) {
	config := twoDebaters()
	l := playedLog(t, config)
	begins := l.index(t, flowpkg.EventIntent, 1) + 1
	done, open := as[flowpkg.Intent](l.events[l.index(t, flowpkg.EventIntent, 0)]), as[flowpkg.Intent](l.events[begins-1])
	start, edit := *as[flowpkg.Start](l.events[0]), flowpkg.Edit{Config: config}
	otherwise := config
	otherwise.Topic = "Something else"
	network := &debate.Error{Kind: flowpkg.KindNetwork}
	ignored := map[string]flowpkg.Signal{
		"a result":       flowpkg.Result{Call: open.Call, Attempt: 1, Text: "A word.", Usage: little},
		"a late result":  flowpkg.Result{Call: done.Call, Attempt: 1, Text: "Again.", Usage: little},
		"a failure":      flowpkg.Failed{Call: open.Call, Attempt: 1, Error: network},
		"a late failure": flowpkg.Failed{Call: done.Call, Attempt: 1, Error: network},
		"lost":           flowpkg.Lost{Call: open.Call, Attempt: 1},
		"lost before":    flowpkg.Lost{Call: open.Call},
		"tick":           flowpkg.Tick{},
		"opened":         flowpkg.Opened{By: "somebody"},
	}
	signals := map[string]flowpkg.Signal{
		"edit":             edit,
		"another edit":     flowpkg.Edit{Flow: "none", Config: otherwise},
		"validate":         flowpkg.Validate{},
		"validated":        flowpkg.Validated{OK: true},
		"found invalid":    flowpkg.Validated{OK: false},
		"start":            start,
		"an empty start":   flowpkg.Start{},
		"pause":            flowpkg.Pause{},
		"drain":            flowpkg.Pause{Drain: true},
		"resume":           flowpkg.Resume{},
		"stop":             flowpkg.Stop{},
		"cancel":           flowpkg.Cancel{},
		"retry":            flowpkg.Retry{},
		"acknowledge":      flowpkg.Acknowledge{},
		"answer":           flowpkg.Answer{Inquiry: "who?", Text: "I"},
		"unknown trigger":  flowpkg.Sent{Trigger: "sing"},
		"lifecycle's":      flowpkg.Sent{Trigger: flowpkg.TriggerCancel},
		"no signal at all": nil,
	}
	maps.Copy(signals, ignored)
	outcome := []string{"a result", "a failure", "lost"}
	for state, c := range map[debate.State]struct {
		events int              // of the log
		then   []flowpkg.Signal // what is stepped after those
		takes  []string
		next   flowpkg.Signal
	}{
		flowpkg.StateConfiguring: {0, []flowpkg.Signal{edit}, []string{"edit", "another edit", "validate", "cancel"}, flowpkg.Validate{}},
		flowpkg.StateValidating:  {0, []flowpkg.Signal{edit, flowpkg.Validate{}}, []string{"validated", "found invalid", "cancel"}, flowpkg.Validated{OK: true}},
		flowpkg.StateReady: {
			0,
			[]flowpkg.Signal{edit, flowpkg.Validate{}, flowpkg.Validated{OK: true}},
			[]string{"edit", "another edit", "start", "cancel"},
			start,
		},
		debate.StateAwaitingResponses: {begins, nil, append(outcome, "pause", "drain", "stop", "cancel"), signals["a result"]},
		flowpkg.StatePaused:           {begins, []flowpkg.Signal{flowpkg.Pause{}}, append(outcome, "resume", "stop", "cancel"), flowpkg.Resume{}},
		flowpkg.StateError: {
			begins,
			[]flowpkg.Signal{flowpkg.Failed{Call: open.Call, Attempt: 1, Error: &debate.Error{Kind: flowpkg.KindQuota}}},
			[]string{"retry", "stop", "cancel"},
			flowpkg.Retry{},
		},
		flowpkg.StateCanceled:  {begins, []flowpkg.Signal{flowpkg.Cancel{}}, outcome, signals["lost"]},
		flowpkg.StateCompleted: {len(l.events), nil, nil, flowpkg.Tick{}},
	} {
		step := func(core *flowpkg.Core, signal flowpkg.Signal) (flowpkg.Output, error) {
			return core.Step(flowpkg.Input{At: l.events[len(l.events)-1].At.Add(time.Second), Signal: signal})
		}
		fresh := func(t *testing.T) *flowpkg.Core { // a core that shares nothing with another one
			t.Helper()
			core, err := l.engine.NewCore(l.id, l.copied(t)[:c.events])
			require.NoError(t, err)
			for _, signal := range c.then {
				_, err := step(core, signal)
				require.NoError(t, err)
			}
			require.Equal(t, state, core.Record().State)
			return core
		}
		for name, signal := range signals {
			t.Run(string(state)+"/"+name, func(t *testing.T) {
				tried, untried := fresh(t), fresh(t)
				require.Equal(t, untried.Record(), tried.Record(), "they begin as the same")
				out, err := step(tried, signal)
				if slices.Contains(c.takes, name) {
					require.NoError(t, err)
					return
				}
				if _, ok := ignored[name]; ok {
					require.NoError(t, err)
				} else {
					kind := flowpkg.KindState
					if name == "an empty start" && state == flowpkg.StateReady {
						kind = flowpkg.KindValidation
					}
					requireKind(t, err, kind)
					assert.Zero(t, out)
				}
				assert.Empty(t, out.Events)
				assert.Empty(t, out.Abort)
				assert.Empty(t, out.Start)
				assert.Equal(t, untried.Record(), tried.Record(), "the record is as it was")
				want, wantErr := step(untried, c.next)
				got, gotErr := step(tried, c.next)
				assert.Equal(t, want, got)
				assert.Equal(t, wantErr, gotErr)
				assert.Equal(t, canonical(t, untried.Record()), canonical(t, tried.Record()))
			})
		}
	}
}

// Duplicates, results of outdated attempts and of calls that nobody made are ignored.
func TestResultsThatNobodyWaitsFor(t *testing.T) {
	l := playedLog(t, twoDebaters())
	i := l.index(t, flowpkg.EventIntent, 1)
	done, open := as[flowpkg.Intent](l.events[l.index(t, flowpkg.EventIntent, 0)]), as[flowpkg.Intent](l.events[i])
	core, err := l.engine.NewCore(l.id, l.events[:i+1])
	require.NoError(t, err)
	for _, signal := range []flowpkg.Signal{
		flowpkg.Result{Call: done.Call, Attempt: 1, Text: "Again."},
		flowpkg.Result{Call: open.Call, Attempt: 2, Text: "Early."},
		flowpkg.Result{Call: "r9.song.Ada", Attempt: 1, Text: "La."},
		flowpkg.Failed{Call: done.Call, Attempt: 1},
		flowpkg.Lost{Call: open.Call},
		flowpkg.Tick{},
	} {
		out, err := core.Step(flowpkg.Input{At: time.Now(), Signal: signal})
		require.NoError(t, err)
		assert.Empty(t, out.Events)
		assert.Empty(t, out.Start)
	}
	_, err = core.Command(done.Call)
	requireKind(t, err, flowpkg.KindState)
	command, err := core.Command(open.Call)
	require.NoError(t, err)
	assert.Equal(t, open.By, command.By)
}

// Nothing can be done to a debate that is over.
func TestAFinalDebateTakesNothing(t *testing.T) {
	l := playedLog(t, twoDebaters())
	for _, signal := range []flowpkg.Signal{
		flowpkg.Pause{},
		flowpkg.Resume{},
		flowpkg.Stop{},
		flowpkg.Cancel{},
		flowpkg.Retry{},
		flowpkg.Edit{},
		flowpkg.Start{},
		flowpkg.Acknowledge{},
		flowpkg.Answer{Text: "x"},
		flowpkg.Sent{Trigger: "x"},
	} {
		core, err := l.engine.NewCore(l.id, l.events)
		require.NoError(t, err)
		_, err = core.Step(flowpkg.Input{At: time.Now(), Signal: signal})
		requireKind(t, err, flowpkg.KindState)
		assert.EqualValues(t, len(l.events), core.Record().Seq, "%T", signal)
	}
}

// A start that does not fold is refused, and a good one is taken after it.
func TestAStartThatDoesNotFold(t *testing.T) {
	l := playedLog(t, twoDebaters())
	core, err := l.engine.NewCore("new", nil)
	require.NoError(t, err)
	at := l.events[0].At
	for _, signal := range []flowpkg.Signal{flowpkg.Edit{Config: twoDebaters()}, flowpkg.Validate{}, flowpkg.Validated{OK: true}} {
		out, err := core.Step(flowpkg.Input{At: at, Signal: signal})
		require.NoError(t, err)
		assert.Empty(t, out.Events, "nothing is logged before the start")
	}
	newer := *as[flowpkg.Start](l.events[0])
	newer.Version = flowpkg.LogVersion + 1
	for _, start := range []flowpkg.Start{{}, newer} {
		_, err = core.Step(flowpkg.Input{At: at, Signal: start})
		requireKind(t, err, flowpkg.KindValidation)
		assert.Equal(t, flowpkg.StateReady, core.Record().State)
	}
	out, err := core.Step(flowpkg.Input{At: at, Signal: *as[flowpkg.Start](l.events[0])})
	require.NoError(t, err)
	assert.Equal(t, flowpkg.EventStart, out.Events[0].Kind())
	assert.Len(t, out.Start, 1)
}

// A flow continues the logs of the versions that it says it accepts.
func TestVersionsOfAFlow(t *testing.T) {
	config := twoDebaters()
	l := playedLog(t, config)
	events := l.copied(t)
	as[flowpkg.Start](events[0]).Flow = "later"
	for name, c := range map[string]struct {
		version, accepts int
		opens            bool
	}{
		"the same":                {1, 0, true},
		"a later one":             {2, 0, false},
		"one that accepts it":     {2, 1, true},
		"one that accepts others": {3, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			flow := debate.DebateFlow()
			flow.Name, flow.Version, flow.Accepts = "later", c.version, c.accepts
			engine, _ := engineFor(config)
			engine.Flows = map[string]*debate.Flow{"later": flow}
			_, err := engine.NewCore(l.id, events)
			if c.opens {
				assert.NoError(t, err)
				return
			}
			assert.Equal(t, "flowVersion", requireKind(t, err, flowpkg.KindValidation).Field)
		})
	}
}
