package flow_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// sayers is a conversation in which those of whom a term is given are persons, and the others are models. All are asked at once.
func sayers(t *testing.T, terms map[string]flow.Term, change func(*debate.Config, *flow.Call)) *stage.Stepper {
	t.Helper()
	f := stage.OneState(func(r *debate.Record) []*flow.Call {
		var calls []*flow.Call
		for i, name := range r.Active() {
			call := &flow.Call{
				ID: "say." + name, Kind: "word", Slot: i, System: canary, Last: func(*flow.Record) string { return canary },
				OnFail: flow.OnFail{Skip: flow.RuleToo},
			}
			model := stage.ModelOf(r, name)
			seat := flow.Seat{By: name, Model: &model}
			if term, person := terms[name]; person {
				seat = flow.Seat{By: name, Model: new(string), Person: true, Term: &term}
			}
			seat.AskIn(r, call)
			if call.Person != nil {
				call.Person.Ask = func(*flow.Record) string { return "What do you say, " + name + "?" }
			}
			if change != nil {
				change(nil, call)
			}
			if !r.Done(call.ID) && !r.Skipped(call.ID) {
				calls = append(calls, call)
			}
		}
		return calls
	})
	engine, _, config := stage.WithFlow(f)
	if change != nil {
		change(&config, nil)
	}
	return stage.BegunBy(t, engine, stage.InFlow(engine, config))
}

// canary stands in all that only models are told.
const canary = "for no person's eyes"

// What follows when a person's time is over is the same whether or not a model speaks meanwhile.
func TestAPersonsTimeIsOver(t *testing.T) {
	const within = flow.Duration(10 * time.Minute)
	for name, tc := range map[string]struct {
		term flow.Term
		want string
	}{
		"somebody stands in":    {flow.Term{Within: within, StandIn: "test/debater"}, "asked again"},
		"the call is skipped":   {flow.Term{Within: within, Overdue: flow.OptionSkip}, "skipped"},
		"the conversation ends": {flow.Term{Within: within, Overdue: flow.OptionFail}, "error"},
		"it is waited for":      {flow.Term{Within: within, Overdue: flow.OptionWait}, "open"},
		"nothing is said":       {flow.Term{Within: within}, "error"}, // by the rules of the conversation
		"no time is given":      {flow.Term{}, "open"},
	} {
		for _, beside := range []bool{false, true} {
			s := sayers(t, map[string]flow.Term{"Ada": tc.term}, nil)
			if !beside {
				s.Says("say.Ben", 1)
				require.Equal(t, flow.StateAwaitingInput, s.Record().State, name)
			}
			began := s.At
			s.At = began.Add(10*time.Minute - time.Second)
			out := s.Feed(flow.Tick{})
			assert.Empty(t, out.Events, "%s: not before the time", name)
			if tc.term.Within > 0 && tc.term.Overdue != flow.OptionWait {
				assert.Equal(t, began.Add(10*time.Minute), out.Wait, "%s: a tick is due", name)
			} else {
				assert.Zero(t, out.Wait, name)
			}
			s.At = began.Add(10 * time.Minute)
			out = s.Feed(flow.Tick{})
			r, got := s.Record(), "nothing"
			_, open := r.Question("say.Ada")
			switch {
			case open:
				got = "open"
			case r.Skipped("say.Ada"):
				got = "skipped"
			case r.State == flow.StateError:
				got = "error"
				assert.Equal(t, provider.KindTimeout, r.Failure.Kind, name)
				assert.Equal(t, "within", r.Failure.Field, name)
				assert.Contains(t, r.Failure.Error(), "Ada has not answered within 10m0s", name)
			case r.Asking("say.Ada"):
				got = "asked again"
				assert.Equal(t, []string{"say.Ada"}, out.Start, name)
				command, err := s.Command("say.Ada")
				require.NoError(t, err)
				assert.Equal(t, "debater", command.Request.Model, name)
				assert.Equal(t, canary, command.Request.Last.Text, "%s: a model is asked as a model", name)
			}
			assert.Equal(t, tc.want, got, "%s, beside a model: %t", name, beside)
		}
	}
}

// Of two persons who are asked at once one is late: nothing waits for the other.
func TestOneOfTwoPersonsIsLate(t *testing.T) {
	s := sayers(t, map[string]flow.Term{"Ada": {Within: flow.Duration(time.Minute), StandIn: "test/debater"}, "Ben": {}}, nil)
	require.Equal(t, flow.StateAwaitingInput, s.Record().State)
	assert.Equal(t, s.At.Add(time.Minute), s.Wake())
	s.At = s.At.Add(time.Minute)
	assert.Equal(t, []string{"say.Ada"}, s.Feed(flow.Tick{}).Start)
	assert.Equal(t, stage.Asks, s.Record().State)
	s.Says("say.Ada", 2)
	assert.Equal(t, flow.StateAwaitingInput, s.Record().State)
	_, open := s.Record().Question("say.Ben")
	assert.True(t, open)
	assert.Zero(t, s.Wake())
	s.Feed(flow.Answer{Inquiry: "say.Ben", Text: "No."})
	assert.Equal(t, flow.StateCompleted, s.Record().State)
}

// An answer counts until the log says what follows. Then who answers learns what has taken its place.
func TestAnAnswerAfterTheTime(t *testing.T) {
	term := flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/debater"}
	s := sayers(t, map[string]flow.Term{"Ada": term}, nil)
	s.At = s.At.Add(time.Hour)
	s.Feed(flow.Answer{Inquiry: "say.Ada", Text: "Late, but here."})
	require.Len(t, s.Record().Turns, 1)
	assert.Equal(t, "Late, but here.", s.Record().Turns[0].Text)

	s = sayers(t, map[string]flow.Term{"Ada": term}, nil)
	s.At = s.At.Add(time.Minute)
	s.Feed(flow.Tick{})
	_, err := s.Step(flow.Input{At: s.At.Add(time.Second), Signal: flow.Answer{Inquiry: "say.Ada", Text: "Too late."}})
	var first *flow.AnsweredError
	require.ErrorAs(t, err, &first)
	assert.Equal(t, flow.Answer{Inquiry: "say.Ada", Option: flow.OptionStandIn, Model: "test/debater", Rule: true}, first.Answer)
	assert.Equal(t, s.At, first.At)

	s = sayers(t, map[string]flow.Term{"Ada": {Within: term.Within, Overdue: flow.OptionFail}}, nil)
	s.At = s.At.Add(time.Minute)
	s.Feed(flow.Tick{})
	_, err = s.Step(flow.Input{At: s.At, Signal: flow.Answer{Inquiry: "say.Ada", Text: "Too late."}})
	stage.RequireKind(t, err, provider.KindState)
	require.ErrorContains(t, err, "the time for an answer")
	s.Feed(flow.Retry{})
	q, open := s.Record().Question("say.Ada")
	require.True(t, open)
	assert.Equal(t, s.At.Add(time.Minute), q.Until, "asked again, the person has all of the time")
}

// After a pause a person has some time left, and never less than was left before.
func TestAPersonHasSomeTimeAfterAPause(t *testing.T) {
	for name, tc := range map[string]struct{ within, pause, resume, until time.Duration }{
		"over in the pause":  {time.Hour, 0, 2 * time.Hour, 2*time.Hour + 6*time.Minute},
		"no less than":       {5 * time.Minute, time.Minute, 6 * time.Minute, 7 * time.Minute},
		"short":              {30 * time.Second, 0, time.Hour, time.Hour + 30*time.Second},
		"enough is left":     {time.Hour, 0, time.Minute, time.Hour},
		"less than the rest": {time.Hour, 0, 55 * time.Minute, 61 * time.Minute},
	} {
		s := sayers(t, map[string]flow.Term{"Ada": {Within: flow.Duration(tc.within), Overdue: flow.OptionFail}, "Ben": {}}, nil)
		began := s.At
		s.At = began.Add(tc.pause)
		s.Feed(flow.Pause{})
		assert.Zero(t, s.Wake(), "%s: nothing is over in a pause", name)
		s.At = began.Add(tc.resume)
		s.Feed(flow.Resume{})
		q, open := s.Record().Question("say.Ada")
		require.True(t, open, name)
		assert.Equal(t, tc.until, q.Until.Sub(began), name)
		assert.Len(t, s.Record().Inquiries, 2, name)
	}
}

// So it is where the process that has asked is gone, with a call in flight, and others pause and resume.
func TestAPersonHasSomeTimeAfterAPauseElsewhere(t *testing.T) {
	s := sayers(t, map[string]flow.Term{"Ada": {Within: flow.Duration(5 * time.Minute), Overdue: flow.OptionFail}}, nil)
	began := s.At
	_, err := s.StepRemote(flow.Input{At: began.Add(time.Minute), Signal: flow.Pause{}})
	require.NoError(t, err)
	require.Equal(t, 1, s.Record().InFlight())
	_, err = s.StepRemote(flow.Input{At: began.Add(2 * time.Hour), Signal: flow.Resume{}})
	require.NoError(t, err)
	q, open := s.Record().Question("say.Ada")
	require.True(t, open)
	assert.Equal(t, 2*time.Hour+time.Minute, q.Until.Sub(began))
}

// A person decides about a call that another has not answered in time.
func TestAPersonDecidesAboutALateOne(t *testing.T) {
	s := sayers(t, map[string]flow.Term{"Ada": {Within: flow.Duration(time.Minute)}}, func(c *debate.Config, _ *flow.Call) {
		if c != nil {
			c.Unattended = false
		}
	})
	s.Says("say.Ben", 1)
	s.At = s.At.Add(time.Minute)
	s.Feed(flow.Tick{})
	require.Len(t, s.Record().Inquiries, 1)
	assert.Equal(t, []flow.Option{flow.OptionRetry, flow.OptionModel, flow.OptionSkip, flow.OptionEnd}, s.Record().Inquiries[0].Options)
	s.Feed(flow.Answer{Inquiry: s.Record().Inquiries[0].ID, Option: flow.OptionRetry})
	q, open := s.Record().Question("say.Ada")
	require.True(t, open)
	assert.Equal(t, s.At.Add(time.Minute), q.Until)
}

// The time of a round stands still while a person is asked, also beside a model that speaks.
func TestTheTimeOfARoundStandsWhileAPersonIsAsked(t *testing.T) {
	f := stage.OneState(func(r *debate.Record) []*flow.Call {
		var calls []*flow.Call
		for _, call := range []*flow.Call{
			{ID: "say.Ada", Kind: "word", By: "Ada", Round: 1, Performer: flow.ByPerson},
			{ID: "say.Ben", Kind: "word", By: "Ben", Round: 1, Model: "test/debater", Slot: 1},
		} {
			if !r.Done(call.ID) && !r.Skipped(call.ID) && !r.Late() {
				calls = append(calls, call)
			}
		}
		return calls
	})
	f.Timed = []debate.State{stage.Asks}
	f.Steps[flow.StateInitializing] = flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) {
		return flow.TriggerInitialized, flow.Exit{Round: &flow.Round{N: 1, Of: 1, Calls: 2}}, true
	}}
	engine, _, config := stage.WithFlow(f)
	config.RoundTimeout = 10 * time.Minute
	for where, answers := range map[string]func(*flow.Core, flow.Input) (flow.Output, error){
		"here": (*flow.Core).Step, "in another process": (*flow.Core).StepRemote,
	} {
		s := stage.BegunBy(t, engine, stage.InFlow(engine, config))
		began := s.At
		s.At = began.Add(time.Hour)
		s.Feed(flow.Tick{})
		assert.Empty(t, s.Record().SkippedCalls, where)
		_, err := answers(s.Core, flow.Input{At: s.At, Signal: flow.Answer{Inquiry: "say.Ada", Text: "At last."}})
		require.NoError(t, err)
		s.At = began.Add(time.Hour + 10*time.Minute - time.Second)
		s.Feed(flow.Tick{})
		assert.Empty(t, s.Record().SkippedCalls, "%s: Ben has the whole time of the round", where)
		s.At = began.Add(time.Hour + 10*time.Minute)
		s.Feed(flow.Tick{})
		assert.True(t, s.Record().Skipped("say.Ben"), where)
	}
}

// A person is shown what was said and what is asked, and nothing of what only models are told. How long the answer may be stands in the
// question, and a longer one is refused.
func TestWhatAPersonIsShown(t *testing.T) {
	s := sayers(t, map[string]flow.Term{"Ben": {}}, func(_ *debate.Config, call *flow.Call) {
		if call == nil {
			return
		}
		if call.MaxTokens = 10; call.By == "Ben" {
			call.NotBefore = time.Date(2026, 1, 1, 1, 0, 0, 0, time.UTC)
		}
	})
	s.Says("say.Ada", 1)
	s.At = s.At.Add(time.Hour)
	s.Feed(flow.Tick{})
	q, ok := s.Record().Question("say.Ben")
	require.True(t, ok)
	assert.Equal(t, "What do you say, Ben?", q.Question)
	assert.Equal(t, []flow.Passage{{Speaker: "Ada", Label: "word", Text: "A word.", Note: -1}}, q.Reads)
	_, asked := s.Record().Question("say.Ada")
	assert.False(t, asked)
	for _, shown := range []any{q, s.Record().Inquiries, &flow.AwaitingInputError{Inquiries: s.Record().Inquiries}} {
		data, err := json.Marshal(shown)
		require.NoError(t, err)
		assert.NotContains(t, string(data), canary)
		assert.NotContains(t, string(data), s.Record().Start().Seed)
	}
	assert.NotContains(t, (&flow.AwaitingInputError{Inquiries: s.Record().Inquiries}).Error(), canary)

	assert.Equal(t, 80, q.Max)
	_, err := s.Step(flow.Input{At: s.At, Signal: flow.Answer{Inquiry: "say.Ben", Text: strings.Repeat("x", 81)}})
	assert.Equal(t, "text", stage.RequireKind(t, err, provider.KindValidation).Field)
	require.ErrorContains(t, err, "81 bytes: at most 80")
	s.Feed(flow.Answer{Inquiry: "say.Ben", Text: strings.Repeat("x", 80)})
	assert.False(t, s.Record().Turns[1].Cut)
}

// A config says how long a person has where a person is asked, and nowhere else.
func TestTermsOfSeats(t *testing.T) {
	for name, tc := range map[string]struct {
		person bool
		term   flow.Term
		field  string
	}{
		"a model with a time":          {false, flow.Term{Within: 1}, "judge.within"},
		"a model with a stand-in":      {false, flow.Term{StandIn: "test/m"}, "judge.standIn"},
		"a model that is overdue":      {false, flow.Term{Overdue: flow.OptionSkip}, "judge.overdue"},
		"a stand-in without a time":    {true, flow.Term{StandIn: "test/m"}, "judge.standIn"},
		"overdue without a time":       {true, flow.Term{Overdue: flow.OptionFail}, "judge.within"},
		"no stand-in":                  {true, flow.Term{Within: 1, Overdue: flow.OptionStandIn}, "judge.standIn"},
		"a stand-in that is no model":  {true, flow.Term{Within: 1, StandIn: "m"}, "judge.standIn"},
		"another option":               {true, flow.Term{Within: 1, Overdue: flow.OptionDrop}, "judge.overdue"},
		"a negative time":              {true, flow.Term{Within: -1}, "judge.within"},
		"a time":                       {true, flow.Term{Within: 1}, ""},
		"a stand-in":                   {true, flow.Term{Within: 1, StandIn: "test/m"}, ""},
		"a stand-in where it is late":  {true, flow.Term{Within: 1, Overdue: flow.OptionWait, StandIn: "test/m"}, ""},
		"a person without any of them": {true, flow.Term{}, ""},
	} {
		model := ""
		if !tc.person {
			model = "test/m"
		}
		var f flow.Findings
		flow.Seat{Field: "judge", By: "ada", Model: &model, Person: tc.person, Term: &tc.term}.Check(&f, nil)
		var fields []string
		for _, err := range f {
			var failure *flow.Error
			require.ErrorAs(t, err, &failure)
			fields = append(fields, failure.Field)
		}
		if tc.field == "" {
			assert.Empty(t, fields, name)
		} else {
			assert.Equal(t, []string{tc.field}, fields, name)
		}
	}
}

// A judge who was replaced by a model gets the seat back.
func TestASeatIsGivenBack(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging.Judges = []debate.JudgeConfig{{Name: "Pat", Person: true}}
	s := stage.Begun(t, config)
	s.Feed(flow.Amendment{Models: map[string]flow.ModelChoice{"Pat": {Model: "test/debater"}}})
	assert.Equal(t, "test/debater", s.Record().Replacement("Pat"))
	s.Feed(flow.Amendment{Models: map[string]flow.ModelChoice{"Pat": {}}})
	assert.Empty(t, s.Record().Replacement("Pat"))
	for _, name := range []string{"Pat", "Ada"} { // who has it, and who is a model
		_, err := s.Step(flow.Input{At: s.At, Signal: flow.Amendment{Models: map[string]flow.ModelChoice{name: {}}}})
		stage.Refused(t, err, "models."+name)
	}
}

// The log says who has asked for a control, apart from the reason.
func TestWhoHasAskedForAControl(t *testing.T) {
	config := stage.TwoDebaters()
	s := stage.Begun(t, config)
	patience := flow.Duration(time.Minute)
	for _, signal := range []flow.Signal{
		flow.Pause{Drain: true, Reason: "lunch", Person: "Pat"},
		flow.Resume{Reason: "lunch", Person: "Pat"},
		flow.Amendment{Patience: &patience, Person: "Pat"},
		flow.Stop{Reason: "lunch", Person: "Pat"},
	} {
		out := s.Feed(signal)
		require.NotEmpty(t, out.Events)
		switch body := out.Events[0].Body.(type) {
		case *flow.Transition:
			assert.Equal(t, "Pat", body.Person)
			assert.NotContains(t, body.Evidence, "Pat")
			assert.Contains(t, body.Evidence, "lunch")
		case *flow.Amendment:
			assert.Equal(t, "Pat", body.Person)
		default:
			t.Errorf("%T records no control", body)
		}
	}
	s = stage.Begun(t, config)
	for _, signal := range []flow.Signal{
		flow.Pause{Person: "Pat\nBen"},
		flow.Cancel{Person: "Pat\nBen"},
		flow.Amendment{Patience: &patience, Person: "Pat\nBen"},
		flow.Note{ID: "n1", Person: "Pat\nBen", Text: "x"},
	} {
		_, err := s.Step(flow.Input{At: s.At, Signal: signal})
		stage.Refused(t, err, "person")
	}
	_, err := s.Step(flow.Input{At: s.At, Signal: flow.Amendment{Person: "Pat"}})
	require.ErrorContains(t, err, "is empty")
}

// The log says how many inquiries are open, since when, and until when, where that changes. Lists need not read the rest.
func TestTheLogCountsOpenQuestions(t *testing.T) {
	s := sayers(t, map[string]flow.Term{"Ada": {Within: flow.Duration(time.Hour), Overdue: flow.OptionSkip}, "Ben": {}}, nil)
	began := s.At
	last := func(out flow.Output) flow.Body { return out.Events[len(out.Events)-1].Body }
	s.At = began.Add(time.Minute)
	s.Feed(flow.Pause{})
	s.At = began.Add(59 * time.Minute)
	out := s.Feed(flow.Resume{})
	assert.Equal(t, &flow.Questions{Open: 2, Since: began, Wake: began.Add(65 * time.Minute)}, last(out),
		"a question that has more time is as old as before")
	out = s.Feed(flow.Answer{Inquiry: "say.Ben", Text: "No."})
	assert.Equal(t, &flow.Questions{Open: 1, Since: began, Wake: began.Add(65 * time.Minute)}, last(out))
	assert.Empty(t, s.Feed(flow.Tick{}).Events)
	s.At = began.Add(2 * time.Hour)
	out = s.Feed(flow.Tick{})
	assert.Equal(t, flow.StateCompleted, s.Record().State)
	assert.NotEqual(t, flow.EventQuestions, last(out).EventKind(), "what is over has no questions")
}
