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
func (l storedLog) index(t *testing.T, kind debate.EventKind, n int) int {
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
		assert.NotEqual(t, debate.EventChunk, event.Kind())
		if i > 0 {
			assert.False(t, event.At.Before(l.events[i-1].At))
		}
	}
	assert.Equal(t, debate.EventStart, l.events[0].Kind())
}

// A log that cannot have been written is an error that names the field; the machine's state never comes from it.
func TestLogsThatDoNotFold(t *testing.T) {
	l := playedLog(t, twoDebaters())
	intent := l.index(t, debate.EventIntent, 0)
	turn := l.index(t, debate.EventTurn, 0)
	assessment := l.index(t, debate.EventAssessment, 0)
	change := l.index(t, debate.EventTransition, 1)
	round := l.index(t, debate.EventRound, 1)
	for name, c := range map[string]struct {
		at     int
		change func(e *debate.Event)
		field  string
	}{
		"a number is left out":         {turn, func(e *debate.Event) { e.Seq++ }, "seq"},
		"a number comes twice":         {turn, func(e *debate.Event) { e.Seq-- }, "seq"},
		"no start":                     {0, func(e *debate.Event) { e.Body = &debate.Acknowledge{} }, "kind"},
		"a second start":               {turn, func(e *debate.Event) { e.Body = as[debate.Start](l.events[0]) }, "kind"},
		"an unknown kind":              {turn, func(e *debate.Event) { e.Body = &debate.Foreign{Kind: "song"} }, "kind"},
		"a chunk":                      {turn, func(e *debate.Event) { e.Body = &debate.Chunk{} }, "kind"},
		"a kind without its body":      {turn, func(e *debate.Event) { e.Body = nil }, "kind"},
		"a start without a config":     {0, func(e *debate.Event) { as[debate.Start](*e).Config = debate.Value{} }, "start.config"},
		"a start without a format":     {0, func(e *debate.Event) { as[debate.Start](*e).Frozen = debate.Value{} }, "start.frozen"},
		"a newer log":                  {0, func(e *debate.Event) { as[debate.Start](*e).Version = debate.LogVersion + 1 }, "start.version"},
		"a log of no version":          {0, func(e *debate.Event) { as[debate.Start](*e).Version = 0 }, "start.version"},
		"an unknown flow":              {0, func(e *debate.Event) { as[debate.Start](*e).Flow = "opera" }, "flow"},
		"a newer flow":                 {0, func(e *debate.Event) { as[debate.Start](*e).FlowVersion = 99 }, "flowVersion"},
		"from another state":           {change, func(e *debate.Event) { as[debate.Transition](*e).From = debate.StatePaused }, "transition.from"},
		"to an unknown state":          {change, func(e *debate.Event) { as[debate.Transition](*e).To = "limbo" }, "transition.to"},
		"to previous":                  {change, func(e *debate.Event) { as[debate.Transition](*e).To = debate.StatePrevious }, "transition.to"},
		"an error without a reason":    {change, func(e *debate.Event) { as[debate.Transition](*e).To = debate.StateError }, "transition.failure"},
		"a round before the last":      {round, func(e *debate.Event) { as[debate.Round](*e).N = 0 }, "round.n"},
		"an intent's attempt too high": {intent, func(e *debate.Event) { as[debate.Intent](*e).Attempt = 2 }, "intent.attempt"},
		"an intent's attempt too low":  {intent, func(e *debate.Event) { as[debate.Intent](*e).Attempt = 0 }, "intent.attempt"},
		"a negative reservation":       {intent, func(e *debate.Event) { as[debate.Intent](*e).Reserve = -1 }, "intent.reserve"},
		"an intent of a call in flight": {intent + 1, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: as[debate.Intent](l.events[intent])}
		}, "intent.call"},
		"a turn that nobody was asked for": {turn, func(e *debate.Event) { as[debate.Turn](*e).Call = "r9.song.Ada" }, "call"},
		"a turn of another attempt":        {turn, func(e *debate.Event) { as[debate.Turn](*e).Attempt = 7 }, "call"},
		"a turn that pays":                 {turn, func(e *debate.Event) { as[debate.Turn](*e).Cost = -1 }, "cost"},
		"an assessment nobody asked for":   {assessment, func(e *debate.Event) { as[debate.Assessment](*e).Call = "" }, "call"},
		"a question without a call": {turn, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: &debate.Inquiry{ID: "who?"}}
		}, "inquiry.id"},
		"a failure without a reason": {turn, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: &debate.Failure{Spend: as[debate.Turn](*e).Spend}}
		}, "failed.error"},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.copied(t)
			c.change(&events[c.at])
			_, err := l.engine.NewCore(l.id, events)
			assert.Equal(t, c.field, requireKind(t, err, debate.KindValidation).Field)
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
	assert.Equal(t, debate.StateConfiguring, core.Record().State)
}

// A clock that goes back does not turn the order of the facts.
func TestTimesAreInOrderWhateverTheClockSays(t *testing.T) {
	l := playedLog(t, twoDebaters())
	i := l.index(t, debate.EventIntent, 0)
	core, err := l.engine.NewCore(l.id, l.events[:i+1])
	require.NoError(t, err)
	out, err := core.Step(debate.Input{At: time.Unix(1, 0), Signal: debate.Result{Call: as[debate.Intent](l.events[i]).Call, Attempt: 1, Text: "Early."}})
	require.NoError(t, err)
	require.NotEmpty(t, out.Events)
	assert.False(t, out.Events[0].At.Before(l.events[i].At))
}

// An input that is refused, or that nobody waits for, changes nothing: neither the record nor what follows
// from the next input. Both are compared with those of a core that has never seen it.
func TestARefusedInputChangesNothing(t *testing.T) {
	config := twoDebaters()
	l := playedLog(t, config)
	begins := l.index(t, debate.EventIntent, 1) + 1
	done, open := as[debate.Intent](l.events[l.index(t, debate.EventIntent, 0)]), as[debate.Intent](l.events[begins-1])
	start, edit := *as[debate.Start](l.events[0]), debate.Edit{Config: config}
	otherwise := config
	otherwise.Topic = "Something else"
	network := &debate.Error{Kind: debate.KindNetwork}
	ignored := map[string]debate.Signal{
		"a result":       debate.Result{Call: open.Call, Attempt: 1, Text: "A word.", Usage: little},
		"a late result":  debate.Result{Call: done.Call, Attempt: 1, Text: "Again.", Usage: little},
		"a failure":      debate.Failed{Call: open.Call, Attempt: 1, Error: network},
		"a late failure": debate.Failed{Call: done.Call, Attempt: 1, Error: network},
		"lost":           debate.Lost{Call: open.Call, Attempt: 1},
		"lost before":    debate.Lost{Call: open.Call},
		"tick":           debate.Tick{},
		"opened":         debate.Opened{By: "somebody"},
	}
	signals := map[string]debate.Signal{
		"edit":             edit,
		"another edit":     debate.Edit{Flow: "none", Config: otherwise},
		"validate":         debate.Validate{},
		"validated":        debate.Validated{OK: true},
		"found invalid":    debate.Validated{OK: false},
		"start":            start,
		"an empty start":   debate.Start{},
		"pause":            debate.Pause{},
		"drain":            debate.Pause{Drain: true},
		"resume":           debate.Resume{},
		"stop":             debate.Stop{},
		"cancel":           debate.Cancel{},
		"retry":            debate.Retry{},
		"acknowledge":      debate.Acknowledge{},
		"answer":           debate.Answer{Inquiry: "who?", Text: "I"},
		"unknown trigger":  debate.Sent{Trigger: "sing"},
		"lifecycle's":      debate.Sent{Trigger: debate.TriggerCancel},
		"no signal at all": nil,
	}
	maps.Copy(signals, ignored)
	outcome := []string{"a result", "a failure", "lost"}
	for state, c := range map[debate.State]struct {
		events int             // of the log
		then   []debate.Signal // what is stepped after those
		takes  []string
		next   debate.Signal
	}{
		debate.StateConfiguring: {0, []debate.Signal{edit}, []string{"edit", "another edit", "validate", "cancel"}, debate.Validate{}},
		debate.StateValidating:  {0, []debate.Signal{edit, debate.Validate{}}, []string{"validated", "found invalid", "cancel"}, debate.Validated{OK: true}},
		debate.StateReady: {
			0,
			[]debate.Signal{edit, debate.Validate{}, debate.Validated{OK: true}},
			[]string{"edit", "another edit", "start", "cancel"},
			start,
		},
		debate.StateAwaitingResponses: {begins, nil, append(outcome, "pause", "drain", "stop", "cancel"), signals["a result"]},
		debate.StatePaused:            {begins, []debate.Signal{debate.Pause{}}, append(outcome, "resume", "stop", "cancel"), debate.Resume{}},
		debate.StateError: {
			begins,
			[]debate.Signal{debate.Failed{Call: open.Call, Attempt: 1, Error: &debate.Error{Kind: debate.KindQuota}}},
			[]string{"retry", "stop", "cancel"},
			debate.Retry{},
		},
		debate.StateCanceled:  {begins, []debate.Signal{debate.Cancel{}}, outcome, signals["lost"]},
		debate.StateCompleted: {len(l.events), nil, nil, debate.Tick{}},
	} {
		step := func(core *debate.Core, signal debate.Signal) (debate.Output, error) {
			return core.Step(debate.Input{At: l.events[len(l.events)-1].At.Add(time.Second), Signal: signal})
		}
		fresh := func(t *testing.T) *debate.Core { // a core that shares nothing with another one
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
					kind := debate.KindState
					if name == "an empty start" && state == debate.StateReady {
						kind = debate.KindValidation
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
	i := l.index(t, debate.EventIntent, 1)
	done, open := as[debate.Intent](l.events[l.index(t, debate.EventIntent, 0)]), as[debate.Intent](l.events[i])
	core, err := l.engine.NewCore(l.id, l.events[:i+1])
	require.NoError(t, err)
	for _, signal := range []debate.Signal{
		debate.Result{Call: done.Call, Attempt: 1, Text: "Again."},
		debate.Result{Call: open.Call, Attempt: 2, Text: "Early."},
		debate.Result{Call: "r9.song.Ada", Attempt: 1, Text: "La."},
		debate.Failed{Call: done.Call, Attempt: 1},
		debate.Lost{Call: open.Call},
		debate.Tick{},
	} {
		out, err := core.Step(debate.Input{At: time.Now(), Signal: signal})
		require.NoError(t, err)
		assert.Empty(t, out.Events)
		assert.Empty(t, out.Start)
	}
	_, err = core.Command(done.Call)
	requireKind(t, err, debate.KindState)
	command, err := core.Command(open.Call)
	require.NoError(t, err)
	assert.Equal(t, open.By, command.By)
}

// Nothing can be done to a debate that is over.
func TestAFinalDebateTakesNothing(t *testing.T) {
	l := playedLog(t, twoDebaters())
	for _, signal := range []debate.Signal{
		debate.Pause{},
		debate.Resume{},
		debate.Stop{},
		debate.Cancel{},
		debate.Retry{},
		debate.Edit{},
		debate.Start{},
		debate.Acknowledge{},
		debate.Answer{Text: "x"},
		debate.Sent{Trigger: "x"},
	} {
		core, err := l.engine.NewCore(l.id, l.events)
		require.NoError(t, err)
		_, err = core.Step(debate.Input{At: time.Now(), Signal: signal})
		requireKind(t, err, debate.KindState)
		assert.EqualValues(t, len(l.events), core.Record().Seq, "%T", signal)
	}
}

// A start that does not fold is refused, and a good one is taken after it.
func TestAStartThatDoesNotFold(t *testing.T) {
	l := playedLog(t, twoDebaters())
	core, err := l.engine.NewCore("new", nil)
	require.NoError(t, err)
	at := l.events[0].At
	for _, signal := range []debate.Signal{debate.Edit{Config: twoDebaters()}, debate.Validate{}, debate.Validated{OK: true}} {
		out, err := core.Step(debate.Input{At: at, Signal: signal})
		require.NoError(t, err)
		assert.Empty(t, out.Events, "nothing is logged before the start")
	}
	newer := *as[debate.Start](l.events[0])
	newer.Version = debate.LogVersion + 1
	for _, start := range []debate.Start{{}, newer} {
		_, err = core.Step(debate.Input{At: at, Signal: start})
		requireKind(t, err, debate.KindValidation)
		assert.Equal(t, debate.StateReady, core.Record().State)
	}
	out, err := core.Step(debate.Input{At: at, Signal: *as[debate.Start](l.events[0])})
	require.NoError(t, err)
	assert.Equal(t, debate.EventStart, out.Events[0].Kind())
	assert.Len(t, out.Start, 1)
}

// A flow continues the logs of the versions that it says it accepts.
func TestVersionsOfAFlow(t *testing.T) {
	config := twoDebaters()
	l := playedLog(t, config)
	events := l.copied(t)
	as[debate.Start](events[0]).Flow = "later"
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
			assert.Equal(t, "flowVersion", requireKind(t, err, debate.KindValidation).Field)
		})
	}
}
