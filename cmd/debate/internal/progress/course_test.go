package progress_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/progress"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
)

func fold(bodies ...flow.Body) *progress.Course {
	var c progress.Course
	for i, body := range bodies {
		c.Fold(&flow.Event{Seq: int64(i + 1), At: begun, Body: body})
	}
	return &c
}

func chunk(offset int, text string) *flow.Chunk {
	return &flow.Chunk{Call: id(deliberation.KindProposal, "ada", ""), By: "ada", Offset: offset, Text: text, Parts: 1}
}

// TestTail: the end of a streaming text, however its chunks come.
func TestTail(t *testing.T) {
	begin := ask(deliberation.KindProposal, "ada", "")
	long := strings.Repeat("words and ", 2000)
	tests := map[string]struct {
		bodies []flow.Body
		want   string
	}{
		"in a row":           {[]flow.Body{chunk(0, "one "), chunk(4, "two")}, "one two"},
		"a replacement":      {[]flow.Body{chunk(0, "one two"), chunk(4, "three")}, "one three"},
		"a gap":              {[]flow.Body{chunk(0, "one"), chunk(9, "late")}, "late"},
		"thoughts":           {[]flow.Body{&flow.Chunk{Call: begin.Call, Text: "hm", Reasoning: true}}, ""},
		"a structured reply": {[]flow.Body{&flow.Chunk{Call: begin.Call, Text: "{", Schema: "vote"}}, ""},
		"a new attempt":      {[]flow.Body{chunk(0, "one"), begin, chunk(0, "two")}, "two"},
		"of somebody else":   {[]flow.Body{&flow.Chunk{Call: "x", Text: "no"}}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			c := fold(append([]flow.Body{begin}, tt.bodies...)...)
			require.Len(t, c.Actors, 1)
			assert.Equal(t, tt.want, c.Actors[0].Jobs[0].Tail())
		})
	}
	c := fold(begin)
	for at := 0; at < len(long); at += 100 {
		c.Fold(&flow.Event{Body: chunk(at, long[at:at+100])})
		require.LessOrEqual(t, len(c.Actors[0].Jobs[0].Tail()), 8<<10)
	}
	assert.True(t, strings.HasSuffix(c.Actors[0].Jobs[0].Tail(), "words and words and"))
}

// TestNamesOfAStoredConfig: a start that was read from a store holds the config as JSON.
func TestNamesOfAStoredConfig(t *testing.T) {
	stored := start(deliberation.FlowName, "a", "b")
	stored.Config.Go = nil
	stored.Config.JSON = []byte(`{"problem":"p","agents":[{"id":"a","name":"Ada","model":"m/m"},{"id":"b","model":"m/m"}]}`)
	c := fold(stored, &flow.Transition{To: deliberation.StateCritiquing, Calls: 2}, ask(deliberation.KindCritique, "b", "a"))
	assert.Equal(t, []string{"Ada", "b"}, []string{c.Actors[0].Name, c.Actors[1].Name})
	assert.Equal(t, "critique of Ada", c.Thing(c.Actors[1].Jobs[0]))
	assert.Equal(t, "judge", c.Name("judge"))

	other := start("debate", "a")
	other.Config.Go, other.Config.JSON = nil, []byte(`{"topic":"t"}`)
	assert.Equal(t, "a", fold(other).Name("a"))
}

// TestCourse: names, pauses and the counts of a phase.
func TestCourse(t *testing.T) {
	named := start(deliberation.FlowName, "a")
	named.Config.Go = &deliberation.Config{Agents: []deliberation.Agent{{ID: "a", Name: "Ada\x1b"}}}
	c := fold(named, &flow.Transition{To: deliberation.StateProposing, Calls: 2}, ask(deliberation.KindProposal, "a", ""),
		say(deliberation.KindProposal, "a"), &flow.Transition{To: flow.StatePaused, On: flow.TriggerPause})
	assert.Equal(t, "Ada", c.Actors[0].Name)
	assert.Equal(t, "Proposals (1/2)", c.PhaseWord()+" "+c.Count())
	assert.True(t, c.Halted())
	c.Fold(&flow.Event{Body: &flow.Transition{From: flow.StatePaused, To: deliberation.StateProposing, On: flow.TriggerResume}})
	assert.Equal(t, "(1/2)", c.Count(), "a pause does not begin the phase anew")
	assert.False(t, c.Halted())

	again := ask(deliberation.KindProposal, "a", "")
	c.Fold(&flow.Event{Body: again})
	c.Fold(&flow.Event{Body: &flow.Rejection{Spend: flow.Spend{Call: again.Call}, By: "a"}})
	assert.False(t, c.Actors[0].Jobs[0].InFlight)
	c.Fold(&flow.Event{Body: &flow.Intent{Call: again.Call, Attempt: 2, Reask: true, By: "a", Kind: deliberation.KindProposal}})
	require.Len(t, c.Actors[0].Jobs, 1, "it is the same call")
	assert.True(t, c.Actors[0].Jobs[0].InFlight)
	c.Fold(&flow.Event{Body: &flow.Turn{Spend: flow.Spend{Call: again.Call}, Speaker: "a"}})
	assert.Empty(t, c.Actors[0].Jobs)
	assert.Equal(t, "(2/2)", c.Count())

	c.Fold(&flow.Event{Body: &flow.Intent{Call: "b", Attempt: 2, Reask: true, By: "a", Kind: deliberation.KindProposal}})
	c.Fold(&flow.Event{Body: &flow.Rejection{Spend: flow.Spend{Call: "b"}, By: "a", Final: true}})
	assert.Empty(t, c.Actors[0].Jobs, "nobody is asked a third time")
	assert.Equal(t, "the answer was not accepted", c.Actors[0].Failed)
}

// TestPlansAreJoined: what agents who work at the same time say of the plan is joined as the record joins it, in the order of their selection,
// whoever was faster. What a person changes in the plan is seen too.
func TestPlansAreJoined(t *testing.T) {
	reports := func(by, steps string) *flow.Turn {
		turn := say(arbiter.KindExecution, by)
		turn.Data = []byte(`{"success":true,"output":"done","planUpdates":{"steps":[` + steps + `]}}`)
		return turn
	}
	c := fold(start(arbiter.FlowName, "ada", "ben"), &flow.Transition{To: arbiter.StateExecuting, Calls: 2},
		ask(arbiter.KindExecution, "ada", ""), ask(arbiter.KindExecution, "ben", ""),
		reports("ben", `{"index":0,"description":"test","status":"complete"},{"index":1,"description":"ship"}`),
		reports("ada", `{"index":0,"description":"think\u001b"}`))
	assert.Empty(t, c.Plan.Steps, "the agents are still at work")
	c.Fold(&flow.Event{Body: &flow.Transition{From: arbiter.StateExecuting, To: arbiter.StateEvaluating, Calls: 1}})
	steps := func() (all []string) {
		for _, s := range c.Plan.Steps {
			all = append(all, s.Description+": "+string(s.Status))
		}
		return all
	}
	assert.Equal(t, []string{"think: pending", "test: complete", "ship: pending"}, steps())

	c.Fold(&flow.Event{Body: &flow.Sent{Trigger: arbiter.TriggerSkipStep}})
	c.Fold(&flow.Event{Body: &flow.Sent{Trigger: arbiter.TriggerRerunStep, Payload: []byte(`{"step":1}`)}})
	c.Fold(&flow.Event{Body: &flow.Sent{Trigger: arbiter.TriggerSkipStep, Payload: []byte(`{"step":7}`)}})
	assert.Equal(t, []string{"think: skipped", "test: pending", "ship: pending"}, steps())
	assert.Equal(t, 1, c.Plan.CurrentStepIndex)
}

// TestFigures: how figures are written.
func TestFigures(t *testing.T) {
	assert.Equal(t, []string{"0", "999", "1,000", "-1,234,567"}, []string{
		progress.Number(0), progress.Number(999), progress.Number(1000), progress.Number(-1234567),
	})
}

// TestClean: what could control a terminal is removed.
func TestClean(t *testing.T) {
	assert.Equal(t, "a ␛b c", progress.Clean("a\x1b \u009b31mb\r\n\u202e\tc\x00\x7f"))
	assert.Equal(t, "␛red␛ ␛end", progress.Clean("\x1b[31mred\x1b[0m \x1b]0;title\aend"))
	assert.Equal(t, "␛52;c;", progress.Clean("\x1b]52;c;"))
	assert.Equal(t, "a\n\tb", progress.Text("a\r\n\tb\x07"))
	assert.Equal(t, " a  b c d", progress.Line(" a  b\r\nc\td\x1b"))
}

// TestBrokenOff: a call that a stop has broken off is not shown any more, in whichever order the log says so. One that a pause
// has broken off is.
func TestBrokenOff(t *testing.T) {
	begin := ask(deliberation.KindCritique, "ada", "ben")
	void := &flow.Failure{Spend: flow.Spend{Call: begin.Call}, By: "ada", Void: true}
	stop := &flow.Transition{From: deliberation.StateCritiquing, To: flow.StateCompleting, On: flow.TriggerStop}
	pause := &flow.Transition{From: deliberation.StateCritiquing, To: flow.StatePaused, On: flow.TriggerPause}
	critiquing := &flow.Transition{To: deliberation.StateCritiquing}
	assert.Empty(t, fold(critiquing, begin, stop, void).Actors[0].Jobs)
	assert.Empty(t, fold(critiquing, begin, void, stop).Actors[0].Jobs)
	assert.Len(t, fold(critiquing, begin, pause, void).Actors[0].Jobs, 1)
	assert.Len(t, fold(critiquing, begin, stop).Actors[0].Jobs, 1, "its result may still come")
	assert.Empty(t, fold(critiquing, begin, &flow.Withdrawn{Call: begin.Call, By: "ada"}, void).Actors[0].Jobs, "the flow no longer wants it")
}

// TestQuestionsThatAreClosed: a question that nobody waits for any more is not open, whatever has closed it.
func TestQuestionsThatAreClosed(t *testing.T) {
	const call = "r1.opening.Ada"
	begin := []flow.Body{
		start("debate", "Ada", "Ben"), &flow.Transition{To: "awaitingResponses"},
		&flow.Intent{Call: call, Attempt: 1, Kind: "opening", By: "Ada"},
		&flow.Inquiry{ID: call, Kind: "opening", To: "Ada", Question: "Your turn."},
		&flow.Inquiry{ID: "use.1", To: "Ben", Use: &flow.PendingUse{For: "r1.opening.Ben"}, Options: []flow.Option{flow.OptionApprove}},
	}
	c := fold(begin...)
	assert.True(t, c.Asked(call))
	assert.Zero(t, c.InFlight(), "nobody waits for a person to end a call")
	assert.True(t, c.Settled(), "a person costs nothing")
	for name, tc := range map[string]struct {
		body flow.Body
		open int
	}{
		"an answer":          {&flow.Answer{Inquiry: call}, 1},
		"no answer in time":  {&flow.Failure{Spend: flow.Spend{Call: call, Attempt: 1}, By: "Ada", Final: true}, 1},
		"not wanted":         {&flow.Withdrawn{Call: call, By: "Ada"}, 1},
		"left out":           {&flow.Skipped{Call: call, By: "Ada"}, 1},
		"the user of a tool": {&flow.Withdrawn{Call: "r1.opening.Ben", By: "Ben"}, 1},
		"a pause":            {&flow.Transition{To: flow.StatePaused, On: flow.TriggerPause}, 2},
		"the end of rounds":  {&flow.Transition{To: flow.StateCompleting, On: flow.TriggerStop}, 0},
		"the end":            {&flow.Transition{To: flow.StateCanceled}, 0},
	} {
		assert.Len(t, fold(append(slices.Clip(begin), tc.body)...).Inquiries, tc.open, name)
	}
}
