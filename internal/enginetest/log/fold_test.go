package log_test

import (
	"maps"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestTheRecordIsTheFoldOfItsLog(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	live := stage.Run(t, engine, config)
	l := stage.LogOf(t, engine, live.ID)
	core := stage.CoreOf(t, engine, l.ID, l.Events)
	folded := core.Record()

	left, err := stage.View(live).Canonical()
	require.NoError(t, err)
	right, err := stage.View(folded).Canonical()
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
	l := stage.PlayedLog(t, stage.TwoDebaters())
	for i, event := range l.Events {
		assert.EqualValues(t, i+1, event.Seq)
		assert.NotEqual(t, flow.EventChunk, event.Kind())
		if i > 0 {
			assert.False(t, event.At.Before(l.Events[i-1].At))
		}
	}
	assert.Equal(t, flow.EventStart, l.Events[0].Kind())
}

// A log that cannot have been written is an error that names the field; the machine's state never comes from it.
func TestLogsThatDoNotFold(t *testing.T) {
	t.Parallel()
	l := stage.PlayedLog(t, stage.TwoDebaters())
	intent := l.Index(t, flow.EventIntent, 0)
	turn := l.Index(t, flow.EventTurn, 0)
	assessment := l.Index(t, debate.EventAssessment, 0)
	change := l.Index(t, flow.EventTransition, 1)
	round := l.Index(t, flow.EventRound, 1)
	for name, c := range map[string]struct {
		at     int
		change func(e *debate.Event)
		field  string
	}{
		"a number is left out":        {turn, func(e *debate.Event) { e.Seq++ }, "seq"},
		"a number comes twice":        {turn, func(e *debate.Event) { e.Seq-- }, "seq"},
		"no start":                    {0, func(e *debate.Event) { e.Body = &flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue} }, "kind"},
		"a second start":              {turn, func(e *debate.Event) { e.Body = body.As[flow.Start](l.Events[0]) }, "kind"},
		"an unknown kind":             {turn, func(e *debate.Event) { e.Body = &flow.Foreign{Kind: "song"} }, "kind"},
		"a chunk":                     {turn, func(e *debate.Event) { e.Body = &flow.Chunk{} }, "kind"},
		"a kind without its body":     {turn, func(e *debate.Event) { e.Body = nil }, "kind"},
		"a start without a config":    {0, func(e *debate.Event) { body.As[flow.Start](*e).Config = flow.Value{} }, "start.config"},
		"a start without a format":    {0, func(e *debate.Event) { body.As[flow.Start](*e).Frozen = flow.Value{} }, "start.frozen"},
		"a newer log":                 {0, func(e *debate.Event) { body.As[flow.Start](*e).Version = flow.LogVersion + 1 }, "start.version"},
		"a log of no version":         {0, func(e *debate.Event) { body.As[flow.Start](*e).Version = 0 }, "start.version"},
		"an unknown flow":             {0, func(e *debate.Event) { body.As[flow.Start](*e).Flow = "opera" }, "flow"},
		"a newer flow":                {0, func(e *debate.Event) { body.As[flow.Start](*e).FlowVersion = 99 }, "flowVersion"},
		"for a call that nobody made": {change, func(e *debate.Event) { body.As[flow.Transition](*e).Call = "r9.song.Ada" }, "transition.call"},
		"from another state":          {change, func(e *debate.Event) { body.As[flow.Transition](*e).From = flow.StatePaused }, "transition.from"},
		"to an unknown state":         {change, func(e *debate.Event) { body.As[flow.Transition](*e).To = "limbo" }, "transition.to"},
		"to previous":                 {change, func(e *debate.Event) { body.As[flow.Transition](*e).To = flow.StatePrevious }, "transition.to"},
		"an error without a reason":   {change, func(e *debate.Event) { body.As[flow.Transition](*e).To = flow.StateError }, "transition.failure"},
		"a negative wait": {0, func(e *debate.Event) {
			body.As[flow.Start](*e).Settings.Retry = &flow.RetryPolicy{Base: -1 << 62, Max: map[debate.Kind]int{provider.KindNetwork: 9e18}}
		}, "start.settings.retry.base"},
		"a negative number of rounds": {0, func(e *debate.Event) { body.As[flow.Start](*e).Settings.Rounds = -1 }, "start.settings.rounds"},
		"an amended negative wait": {turn, func(e *debate.Event) {
			e.Body = &flow.Amendment{Retry: &flow.RetryPolicy{Cap: -1}}
		}, "amended.retry.cap"},
		"an amended negative time": {turn, func(e *debate.Event) {
			e.Body = &flow.Amendment{Timeouts: map[flow.CallKind]flow.Duration{"opening": -1}}
		}, "amended.timeouts.opening"},
		"a round of another number":    {round, func(e *debate.Event) { body.As[flow.Round](*e).N++ }, "round.n"},
		"a round without end":          {round, func(e *debate.Event) { body.As[flow.Round](*e).N = math.MaxInt }, "round.n"},
		"a round before the last":      {round, func(e *debate.Event) { body.As[flow.Round](*e).N = 0 }, "round.n"},
		"an intent's attempt too high": {intent, func(e *debate.Event) { body.As[flow.Intent](*e).Attempt = 2 }, "intent.attempt"},
		"an intent's attempt too low":  {intent, func(e *debate.Event) { body.As[flow.Intent](*e).Attempt = 0 }, "intent.attempt"},
		"a negative reservation":       {intent, func(e *debate.Event) { body.As[flow.Intent](*e).Reserve = -1 }, "intent.reserve"},
		"an intent of a call in flight": {intent + 1, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: body.As[flow.Intent](l.Events[intent])}
		}, "intent.call"},
		"a turn that nobody was asked for": {turn, func(e *debate.Event) { body.As[debate.Turn](*e).Call = "r9.song.Ada" }, "call"},
		"a turn of another attempt":        {turn, func(e *debate.Event) { body.As[debate.Turn](*e).Attempt = 7 }, "call"},
		"a turn that pays":                 {turn, func(e *debate.Event) { body.As[debate.Turn](*e).Cost = -1 }, "cost"},
		"an assessment nobody asked for":   {assessment, func(e *debate.Event) { body.As[debate.Assessment](*e).Call = "" }, "call"},
		"a question without a call": {turn, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: &flow.Inquiry{ID: "who?"}}
		}, "inquiry.id"},
		"a failure without a reason": {turn, func(e *debate.Event) {
			*e = debate.Event{Seq: e.Seq, Body: &flow.Failure{Spend: body.As[debate.Turn](*e).Spend}}
		}, "failed.error"},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.Copied(t)
			c.change(&events[c.at])
			_, err := kernel.Of(t, l.Engine).NewCore(l.ID, events)
			assert.Equal(t, c.field, stage.RequireKind(t, err, provider.KindValidation).Field)
		})
	}
}

// Old logs load without their flow's help: every prefix of a log is a record, and goes on from there.
func TestEveryPrefixOfALogFolds(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	for n := 1; n <= len(l.Events); n++ {
		core, err := kernel.Of(t, l.Engine).NewCore(l.ID, l.Events[:n])
		require.NoError(t, err, "%d events", n)
		assert.EqualValues(t, n, core.Record().Seq)
	}
	core := stage.CoreOf(t, l.Engine, l.ID, nil)
	assert.Equal(t, flow.StateConfiguring, core.Record().State)
}

// A clock that goes back does not turn the order of the facts.
func TestTimesAreInOrderWhateverTheClockSays(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	i := l.Index(t, flow.EventIntent, 0)
	core := stage.CoreOf(t, l.Engine, l.ID, l.Events[:i+1])
	out, err := core.Step(flow.Input{At: time.Unix(1, 0), Signal: flow.Result{Call: body.As[flow.Intent](l.Events[i]).Call, Attempt: 1, Text: "Early."}})
	require.NoError(t, err)
	require.NotEmpty(t, out.Events)
	assert.False(t, out.Events[0].At.Before(l.Events[i].At))
}

// A core whose inputs are an hour behind its log waits as long as it would otherwise, by the clock of its inputs.
func TestAClockBehindTheLogDelaysNothing(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	i := l.Index(t, flow.EventIntent, 0)
	core := stage.CoreOf(t, l.Engine, l.ID, l.Events[:i+1])
	behind := l.Events[i].At.Add(-time.Hour)
	failed := flow.Failed{Call: body.As[flow.Intent](l.Events[i]).Call, Attempt: 1, Error: &debate.Error{Kind: provider.KindNetwork}}
	out, err := core.Step(flow.Input{At: behind, Signal: failed})
	require.NoError(t, err)
	require.WithinRange(t, out.Wait, behind.Add(time.Second), behind.Add(time.Minute))
	out, err = core.Step(flow.Input{At: out.Wait, Signal: flow.Tick{}})
	require.NoError(t, err)
	assert.Len(t, out.Start, 1)
}

// An input that is refused, or that nobody waits for, changes nothing: neither the record nor what follows
// from the next input. Both are compared with those of a core that has never seen it.
func TestARefusedInputChangesNothing(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config := stage.TwoDebaters()
	l := stage.PlayedLog(t, config)
	engine := kernel.Of(t, l.Engine)
	begins := l.Index(t, flow.EventIntent, 1) + 1
	done, open := body.As[flow.Intent](l.Events[l.Index(t, flow.EventIntent, 0)]), body.As[flow.Intent](l.Events[begins-1])
	start, edit := *body.As[flow.Start](l.Events[0]), flow.Edit{Config: config}
	otherwise := config
	otherwise.Topic = "Something else"
	network := &debate.Error{Kind: provider.KindNetwork}
	ignored := map[string]flow.Signal{
		"a result":       flow.Result{Call: open.Call, Attempt: 1, Text: "A word.", Usage: stage.LittleUsage},
		"a late result":  flow.Result{Call: done.Call, Attempt: 1, Text: "Again.", Usage: stage.LittleUsage},
		"a failure":      flow.Failed{Call: open.Call, Attempt: 1, Error: network},
		"a late failure": flow.Failed{Call: done.Call, Attempt: 1, Error: network},
		"lost":           flow.Lost{Call: open.Call, Attempt: 1},
		"lost before":    flow.Lost{Call: open.Call},
		"tick":           flow.Tick{},
		"opened":         flow.Opened{By: "somebody"},
	}
	signals := map[string]flow.Signal{
		"edit":             edit,
		"another edit":     flow.Edit{Flow: "none", Config: otherwise},
		"validate":         flow.Validate{},
		"validated":        flow.Validated{OK: true},
		"found invalid":    flow.Validated{OK: false},
		"start":            start,
		"an empty start":   flow.Start{},
		"pause":            flow.Pause{},
		"drain":            flow.Pause{Drain: true},
		"resume":           flow.Resume{},
		"stop":             flow.Stop{},
		"cancel":           flow.Cancel{},
		"retry":            flow.Retry{},
		"acknowledge":      flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue},
		"answer":           flow.Answer{Inquiry: "who?", Text: "I"},
		"unknown trigger":  flow.Sent{Trigger: "sing"},
		"lifecycle's":      flow.Sent{Trigger: flow.TriggerCancel},
		"no signal at all": nil,
	}
	maps.Copy(signals, ignored)
	outcome := []string{"a result", "a failure", "lost"}
	for state, c := range map[debate.State]struct {
		events int           // of the log
		then   []flow.Signal // what is stepped after those
		takes  []string
		next   flow.Signal
	}{
		flow.StateConfiguring: {0, []flow.Signal{edit}, []string{"edit", "another edit", "validate", "cancel"}, flow.Validate{}},
		flow.StateValidating:  {0, []flow.Signal{edit, flow.Validate{}}, []string{"validated", "found invalid", "cancel"}, flow.Validated{OK: true}},
		flow.StateReady: {
			0,
			[]flow.Signal{edit, flow.Validate{}, flow.Validated{OK: true}},
			[]string{"edit", "another edit", "start", "cancel"},
			start,
		},
		debate.StateAwaitingResponses: {begins, nil, append(outcome, "pause", "drain", "stop", "cancel"), signals["a result"]},
		flow.StatePaused:              {begins, []flow.Signal{flow.Pause{}}, append(outcome, "resume", "stop", "cancel"), flow.Resume{}},
		flow.StateError: {
			begins,
			[]flow.Signal{flow.Failed{Call: open.Call, Attempt: 1, Error: &debate.Error{Kind: provider.KindQuota}}},
			[]string{"retry", "stop", "cancel"},
			flow.Retry{},
		},
		flow.StateCanceled:  {begins, []flow.Signal{flow.Cancel{}}, outcome, signals["lost"]},
		flow.StateCompleted: {len(l.Events), nil, nil, flow.Tick{}},
	} {
		step := func(core *flow.Core, signal flow.Signal) (flow.Output, error) {
			return core.Step(flow.Input{At: l.Events[len(l.Events)-1].At.Add(time.Second), Signal: signal})
		}
		fresh := func(t *testing.T) *flow.Core { // a core that shares nothing but the rules with another one
			t.Helper()
			begun := stage.StoredLog{Events: l.Events[:c.events]}
			core, err := engine.NewCore(l.ID, begun.Copied(t))
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
					kind := provider.KindState
					if name == "no signal at all" || name == "an empty start" && state == flow.StateReady {
						kind = provider.KindValidation
					}
					stage.RequireKind(t, err, kind)
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
				assert.Equal(t, stage.Canonical(t, untried.Record()), stage.Canonical(t, tried.Record()))
			})
		}
	}
}

// Duplicates, results of outdated attempts and of calls that nobody made are ignored.
func TestResultsThatNobodyWaitsFor(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	i := l.Index(t, flow.EventIntent, 1)
	done, open := body.As[flow.Intent](l.Events[l.Index(t, flow.EventIntent, 0)]), body.As[flow.Intent](l.Events[i])
	core := stage.CoreOf(t, l.Engine, l.ID, l.Events[:i+1])
	for _, signal := range []flow.Signal{
		flow.Result{Call: done.Call, Attempt: 1, Text: "Again."},
		flow.Result{Call: open.Call, Attempt: 2, Text: "Early."},
		flow.Result{Call: "r9.song.Ada", Attempt: 1, Text: "La."},
		flow.Failed{Call: done.Call, Attempt: 1},
		flow.Lost{Call: open.Call},
		flow.Tick{},
	} {
		out, err := core.Step(flow.Input{At: time.Now(), Signal: signal})
		require.NoError(t, err)
		assert.Empty(t, out.Events)
		assert.Empty(t, out.Start)
	}
	_, err := core.Command(done.Call)
	stage.RequireKind(t, err, provider.KindState)
	command, err := core.Command(open.Call)
	require.NoError(t, err)
	assert.Equal(t, open.By, command.By)
}

// Nothing can be done to a debate that is over.
func TestAFinalDebateTakesNothing(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	for _, signal := range []flow.Signal{
		flow.Pause{},
		flow.Resume{},
		flow.Stop{},
		flow.Cancel{},
		flow.Retry{},
		flow.Edit{},
		flow.Start{},
		flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue},
		flow.Answer{Text: "x"},
		flow.Sent{Trigger: "x"},
	} {
		core := stage.CoreOf(t, l.Engine, l.ID, l.Events)
		_, err := core.Step(flow.Input{At: time.Now(), Signal: signal})
		stage.RequireKind(t, err, provider.KindState)
		assert.EqualValues(t, len(l.Events), core.Record().Seq, "%T", signal)
	}
}

// A start that does not fold is refused, and a good one is taken after it.
func TestAStartThatDoesNotFold(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	core, err := kernel.Of(t, l.Engine).NewCore("new", nil)
	require.NoError(t, err)
	at := l.Events[0].At
	for _, signal := range []flow.Signal{flow.Edit{Config: stage.TwoDebaters()}, flow.Validate{}, flow.Validated{OK: true}} {
		out, err := core.Step(flow.Input{At: at, Signal: signal})
		require.NoError(t, err)
		assert.Empty(t, out.Events, "nothing is logged before the start")
	}
	newer := *body.As[flow.Start](l.Events[0])
	newer.Version = flow.LogVersion + 1
	for _, start := range []flow.Start{{}, newer} {
		_, err = core.Step(flow.Input{At: at, Signal: start})
		stage.RequireKind(t, err, provider.KindValidation)
		assert.Equal(t, flow.StateReady, core.Record().State)
	}
	out, err := core.Step(flow.Input{At: at, Signal: *body.As[flow.Start](l.Events[0])})
	require.NoError(t, err)
	assert.Equal(t, flow.EventStart, out.Events[0].Kind())
	assert.Len(t, out.Start, 1)
}

// A flow continues the logs of the versions that it says it accepts.
func TestVersionsOfAFlow(t *testing.T) {
	config := stage.TwoDebaters()
	l := stage.PlayedLog(t, config)
	events := l.Copied(t)
	body.As[flow.Start](events[0]).Flow = "later"
	for name, c := range map[string]struct {
		version, accepts int
		opens            bool
	}{
		"the same":                {2, 0, true},
		"a later one":             {3, 0, false},
		"one that accepts it":     {3, 2, true},
		"one that accepts others": {4, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := debate.DebateFlow()
			f.Name, f.Version, f.Accepts = "later", c.version, c.accepts
			engine, _ := stage.Engine(config)
			engine.Flows = map[string]*debate.Flow{"later": f}
			_, err := kernel.Of(t, engine).NewCore(l.ID, events)
			if c.opens {
				assert.NoError(t, err)
				return
			}
			assert.Equal(t, "flowVersion", stage.RequireKind(t, err, provider.KindValidation).Field)
		})
	}
}
