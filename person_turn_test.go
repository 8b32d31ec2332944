package debate_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// withAda is a debate of Ada, a person, and Ben, a model, whom nobody judges.
func withAda(term flow.Term) debate.Config {
	config := stage.TwoDebaters()
	config.Judging = nil
	config.Participants[0] = debate.Participant{Name: "Ada", Side: debate.For, Position: "Yes, ban them.", Person: true, Term: term}
	return config
}

// A person debates a model, and is shown what was said and what is asked, but no prompt.
func TestAPersonDebates(t *testing.T) {
	const canary = "for models alone"
	config := withAda(flow.Term{})
	config.Prompts = map[string]string{"turn": canary}
	config.Language = "German"
	config.Participants[0].Instructions = "Name your sources."
	config.Participants[1].Persona, config.Participants[1].Instructions = canary, canary
	s := stage.Begun(t, config)
	for i := range 3 {
		require.Equal(t, flow.StateAwaitingInput, s.Record().State)
		q, open := s.Record().Question(s.Record().Inquiries[0].ID)
		require.True(t, open)
		for _, part := range []string{
			"It is your turn, Ada", []string{"opening, round 1 of 3", "rebuttal, round 2 of 3", "closing, round 3 of 3"}[i],
			config.Topic, "Your side: for", "Yes, ban them.", "German", "Name your sources.",
			[]string{"Say what you hold", "Answer what the others have argued", "Say what the debate has shown"}[i],
		} {
			assert.Contains(t, q.Question, part)
		}
		require.Len(t, q.Reads, 2*i)
		assert.Equal(t, q.Reads, s.Record().Reads("Ada"), "a question shows what may be read in any case")
		for k, passage := range q.Reads {
			assert.Equal(t, k%2 == 0, passage.Own)
			assert.Equal(t, k, passage.Turn)
		}
		assert.Equal(t, 8*s.Record().Settings().MaxTokens, q.Max)
		data, err := json.Marshal([]any{q, s.Record().Inquiries})
		require.NoError(t, err)
		assert.NotContains(t, string(data), canary)
		s.Feed(flow.Answer{Inquiry: q.ID, Text: "A word of mine.", Person: "ada@example.org"})
		command, err := s.Command(s.InFlight()[0].Call)
		require.NoError(t, err)
		last := command.Request.Messages[len(command.Request.Messages)-1]
		assert.Equal(t, []string{"Ada", "A word of mine."}, []string{last.Speaker, last.Text})
		data, err = json.Marshal(command.Request)
		require.NoError(t, err)
		assert.NotContains(t, string(data), "example.org")
		s.Says(command.Call, command.Attempt)
	}
	assert.Equal(t, flow.StateCompleted, s.Record().State)
	assert.Equal(t, []string{"r1 Ada", "r1 Ben", "r2 Ada", "r2 Ben", "r3 Ada", "r3 Ben"}, stage.Speakers(s.Record()))
}

// Of repetition only the speeches of models count: a person beside them does not hide that all of these repeat.
func TestAPersonDoesNotHideRepetition(t *testing.T) {
	config := withAda(flow.Term{})
	config.Rounds, config.StopOn = 5, []format.Detector{format.DetectDiminishing}
	s := stage.Begun(t, config)
	for !s.Record().Final() {
		require.Len(t, s.Record().Inquiries, 1)
		s.Feed(flow.Answer{Inquiry: s.Record().Inquiries[0].ID, Text: "Here is a reason, and it is the same as ever."})
		require.Len(t, s.InFlight(), 1)
		s.Says(s.InFlight()[0].Call, 1)
	}
	assert.Equal(t, flow.EndReason(format.DetectDiminishing), s.Record().Reason)
	assert.Equal(t, 3, s.Record().Round, "Ben has repeated himself in the second and the third round")
}

// A member of the audience who asks is told so in words for a person, too.
func TestAPersonInTheAudienceAsks(t *testing.T) {
	const canary = "for models alone"
	config := stage.TwoDebaters()
	config.Format, config.Judging, config.Rounds = "", nil, 2
	config.CustomFormat = &format.Format{Name: "hearing", End: format.EndByRounds, Phases: []format.Phase{{
		Name: "hearing", First: 1, Last: -1, Slots: []format.Slot{
			{Who: "audience:1", Kind: format.KindQuestion, To: "for:1"},
			{Who: "for:1", Kind: format.KindAnswer, To: "audience:1"},
			{Who: "against:1"},
		},
	}}}
	config.Prompts, config.Language = map[string]string{"turn": canary, "ballot": canary + "\n\n{{.Fields}}"}, "German"
	config.Audience = &debate.Audience{
		Members: []debate.Member{{Name: "Kim", Person: true, Instructions: "Ask about money."}}, Instructions: "Do not shout.",
	}
	s := stage.Begun(t, config)
	q, open := s.Record().Question("vote.before.Kim")
	require.True(t, open)
	for _, words := range []string{canary, "JSON object"} {
		assert.NotContains(t, q.Question, words)
	}
	_, example, _ := strings.Cut(q.Question, "The answer looks like this: ")
	example, _, _ = strings.Cut(example, "\n")
	s.Feed(flow.Answer{Inquiry: q.ID, Text: example})
	q, open = s.Record().Question("r1.hearing.1.Kim")
	require.True(t, open)
	for _, part := range []string{
		"It is your turn, Kim: question, round 1 of 2.", config.Topic, "You speak to Ada.", "Ask one question.", "Write in German.",
		"Do not shout.\nAsk about money.",
	} {
		assert.Contains(t, q.Question, part)
	}
	assert.NotContains(t, q.Question, canary)
	s.Feed(flow.Answer{Inquiry: q.ID, Text: "Who pays for it?"})
	assert.Equal(t, []flow.Lost{{Call: "r1.hearing.2.Ada", Attempt: 1}}, s.InFlight())
}

// Who is late is replaced for one speech, and comes back.
func TestAPersonIsReplacedAndComesBack(t *testing.T) {
	s := stage.Begun(t, withAda(flow.Term{Within: flow.Duration(10 * time.Minute), StandIn: "test/debater"}))
	s.At = s.At.Add(10 * time.Minute)
	assert.Equal(t, []string{stage.AdasOpening}, s.Feed(flow.Tick{}).Start)
	command, err := s.Command(stage.AdasOpening)
	require.NoError(t, err)
	assert.Equal(t, s.Record().Text("system.Ada"), command.Request.System, "the model is told what Ada would be")
	_, err = s.Step(flow.Input{At: s.At, Signal: flow.Answer{Inquiry: stage.AdasOpening, Text: "Here I am."}})
	var first *flow.AnsweredError
	require.ErrorAs(t, err, &first)
	s.Says(stage.AdasOpening, 2)
	reads := s.Record().Reads("Ada")
	require.Len(t, reads, 1, "nobody asks her now, and she reads what was said for her")
	assert.True(t, reads[0].Own)
	assert.True(t, s.Record().Turns[reads[0].Turn].StandIn)
	command, err = s.Command(stage.BensOpening)
	require.NoError(t, err)
	assert.Equal(t, "round 1, opening, a model stood in", command.Request.Messages[0].Label, "Ben is told who speaks")
	s.Says(stage.BensOpening, 1)
	q, open := s.Record().Question("r2.rebuttal.Ada")
	require.True(t, open, "the person is asked again")
	require.Len(t, q.Reads, 2)
	assert.True(t, q.Reads[0].Own, "what was said in one's place is one's own")
	assert.Equal(t, []string{"round 1, opening, a model stood in", "round 1, opening"}, []string{q.Reads[0].Label, q.Reads[1].Label})
	s.Feed(flow.Answer{Inquiry: q.ID, Text: "I am back."})
	for i, by := range []bool{true, false, false} { // as functions read the turns, and those who only watch
		turn := s.Record().Turns[i]
		public := flow.Spend{Call: turn.Call, Attempt: turn.Attempt, StandIn: by}
		assert.Equal(t, public, s.Record().Readable()[i].Spend)
		shown, ok := flow.Event{Body: turn}.Spectator()
		require.True(t, ok)
		seen, ok := shown.Body.(*flow.Turn)
		require.True(t, ok)
		assert.Equal(t, public, seen.Spend)
	}
	assert.Equal(t, []string{"test/debater", "test/debater", ""}, []string{
		s.Record().Turns[0].Model, s.Record().Turns[1].Model, s.Record().Turns[2].Model,
	})
}

// A person needs no process that waits. One process starts the debate and ends, a worker lets a model stand in when the person is late, and
// the person comes back in a third. The list says who is asked, and since when.
func TestAPersonDebatesAcrossProcesses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := withAda(flow.Term{Within: flow.Duration(10 * time.Minute), StandIn: "test/debater"})
		config.ID = "across"
		c := stage.NewCompany(t, config)
		host, worker, desk, began := c.Member(), c.Member(), c.Member(), time.Now()
		asked := func(call string) {
			for {
				if _, open := c.Record(config.ID).Question(call); open {
					return
				}
				stage.Pass(time.Second)
				require.Less(t, time.Since(began), time.Hour, call)
			}
		}
		host.Begun()
		asked(stage.AdasOpening)
		require.NoError(t, host.Shutdown(t.Context()))
		var asking []string
		for info, err := range desk.List(t.Context(), store.Filter{Asking: true}) {
			require.NoError(t, err)
			asking = append(asking, info.ID)
			assert.Equal(t, 1, info.Asks)
			assert.WithinDuration(t, began, info.AskedAt, time.Minute)
		}
		assert.Equal(t, []string{config.ID}, asking)

		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { assert.NoError(t, worker.Work(ctx, debate.Work{})) })
		asked("r2.rebuttal.Ada")
		assert.Greater(t, time.Since(began), 10*time.Minute)
		var first *flow.AnsweredError
		require.ErrorAs(t, desk.Control(t.Context(), config.ID, flow.Answer{Inquiry: stage.AdasOpening, Text: "Here I am."}), &first)
		assert.Equal(t, "test/debater", first.Answer.Model)
		for _, call := range []string{"r2.rebuttal.Ada", "r3.closing.Ada"} {
			asked(call)
			require.NoError(t, desk.Control(t.Context(), config.ID, flow.Answer{Inquiry: call, Text: "I am back.", Person: "ada"}))
		}
		for !c.Record(config.ID).Final() {
			stage.Pass(time.Second)
			require.Less(t, time.Since(began), time.Hour)
		}
		cancel()
		group.Wait()
		var models []string
		for _, turn := range c.Record(config.ID).Turns {
			if turn.Speaker == "Ada" {
				models = append(models, turn.Model)
			}
		}
		assert.Equal(t, []string{"test/debater", "", ""}, models)
		assert.Empty(t, c.Repeated(), "no attempt is made twice")
	})
}

// A process that is killed right after it has saved a question loses nothing of the person's time: the log says when that is over.
func TestAKilledProcessLosesNoTimeOfAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := withAda(flow.Term{Within: flow.Duration(10 * time.Minute), StandIn: "test/debater"})
		config.ID = "killed"
		config.Mode = debate.Simultaneous
		c := stage.NewCompany(t, config)
		host, worker, began := c.Member(), c.Member(), time.Now()
		c.Saved = func(m *stage.Member, events []flow.Event) {
			for i := range events {
				if moved, ok := events[i].Body.(*flow.Transition); ok && moved.To == flow.StateAwaitingInput && m == host {
					m.Die()
				}
			}
		}
		host.Begun()
		w := stage.Works(t.Context(), worker.Engine, debate.Work{})
		for len(c.Record(config.ID).Turns) < 2 {
			stage.Pass(time.Second)
			require.Less(t, time.Since(began), time.Hour)
		}
		assert.InDelta(t, 10*time.Minute, time.Since(began), float64(time.Minute))
		for _, turn := range c.Record(config.ID).Turns {
			assert.Equal(t, "test/debater", turn.Model)
		}
		require.NoError(t, w.End())
	})
}

// An answer counts once it is saved, also if its caller is gone by then. The time of the others goes on.
func TestAnAnswerWhoseCallerIsGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID, config.Judging = "gone", &debate.Judging{When: debate.AtEnd}
		for _, name := range []string{"Zoe", "Yan"} {
			term := flow.Term{Within: flow.Duration(time.Hour), Overdue: flow.OptionSkip}
			config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Name: name, Person: true, Term: term})
		}
		c := stage.NewCompany(t, config)
		host, desk := c.Member(), c.Member()
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		c.Saved = func(m *stage.Member, _ []flow.Event) {
			if m == desk {
				leave()
			}
		}
		question := stage.AwaitsInput(t, host.Begun()).Inquiries[0]
		require.NoError(t, host.Shutdown(t.Context()))
		_, example, _ := strings.Cut(question.Question, "looks like this: ")
		require.NoError(t, desk.Control(ctx, config.ID, flow.Answer{Inquiry: question.ID, Text: example}))
		for info, err := range desk.List(t.Context(), store.Filter{Asking: true}) {
			require.NoError(t, err)
			assert.Equal(t, 1, info.Asks)
			assert.Positive(t, int64(info.Alarm), "the other's time is watched")
		}
		assert.Equal(t, flow.StateAwaitingInput, c.Record(config.ID).State)
	})
}

// A model that is given to a person's seat is asked at once, also what the person is asked. Whoever is asked by then ends the attempt if
// the person gets the seat back.
func TestAModelTakesTheSeatOfAPersonWhoIsAsked(t *testing.T) {
	to := func(model string) flow.Amendment {
		return flow.Amendment{Models: map[string]flow.ModelChoice{"Ada": {Model: model}}}
	}
	for name, given := range map[string]func(s *stage.Stepper) []string{
		"at once": func(s *stage.Stepper) []string { return s.Feed(to("test/debater")).Start },
		"in a pause": func(s *stage.Stepper) []string {
			s.Feed(flow.Pause{Drain: true})
			s.Feed(to("test/debater"))
			return s.Feed(flow.Resume{}).Start
		},
		"in another process": func(s *stage.Stepper) []string {
			_, err := s.StepRemote(flow.Input{At: s.At, Signal: to("test/debater")})
			require.NoError(t, err)
			return s.Feed(flow.Tick{}).Start
		},
	} {
		for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} { // alone, and beside a model
			t.Run(name+", "+string(mode), func(t *testing.T) {
				config := withAda(flow.Term{Within: flow.Duration(time.Hour), StandIn: "test/judge"})
				config.Mode = mode
				s := stage.Begun(t, config)
				_, open := s.Record().Question(stage.AdasOpening)
				require.True(t, open)
				assert.Equal(t, []string{stage.AdasOpening}, given(s))
				_, err := s.Step(flow.Input{At: s.At, Signal: flow.Answer{Inquiry: stage.AdasOpening, Text: "Here I am."}})
				stage.RequireKind(t, err, provider.KindState)
				s.Feed(to(""))
				s.At = s.At.Add(2 * time.Hour)
				s.Feed(flow.Tick{})
				assert.Empty(t, s.Record().Inquiries, "the model speaks")
				s.Says(stage.AdasOpening, 2)
				s.Says(stage.BensOpening, 1)
				require.Len(t, s.Record().Turns, 2)
				for _, turn := range s.Record().Turns {
					assert.Equal(t, "test/debater", turn.Model)
					assert.Equal(t, turn.Speaker == "Ada", turn.StandIn, "it has spoken for the person, who has the seat again")
				}
				_, open = s.Record().Question("r2.rebuttal.Ada")
				assert.True(t, open, "the person has the seat again")
			})
		}
	}
}

// Nor does that model wait for somebody else who is asked at that time.
func TestAModelThatTakesASeatWaitsForNobody(t *testing.T) {
	config := withAda(flow.Term{Within: flow.Duration(time.Hour), StandIn: "test/debater"})
	config.Participants[1] = debate.Participant{Name: "Ben", Side: debate.Against, Position: "No, price them.", Person: true}
	config.Mode = debate.Simultaneous
	s := stage.Begun(t, config)
	require.Equal(t, flow.StateAwaitingInput, s.Record().State)
	require.Len(t, s.Record().Inquiries, 2)
	out := s.Feed(flow.Amendment{Models: map[string]flow.ModelChoice{"Ada": {Model: "test/debater"}}})
	assert.Equal(t, []string{stage.AdasOpening}, out.Start)
	_, open := s.Record().Question(stage.BensOpening)
	assert.True(t, open, "Ben is asked as before")
	s.Says(stage.AdasOpening, 2)
	assert.Equal(t, flow.StateAwaitingInput, s.Record().State)
	s.Feed(flow.Answer{Inquiry: stage.BensOpening, Text: "A word of mine."})
	assert.Equal(t, 2, s.Record().Round)
}

// A fork asks anew whom its original was asking, under its own config: nobody is late who has never seen the question.
func TestAForkAsksAPersonAnew(t *testing.T) {
	for _, overdue := range []flow.Option{flow.OptionStandIn, flow.OptionSkip, flow.OptionFail} {
		t.Run(string(overdue), stage.Bubbled(func(t *testing.T) {
			config := withAda(flow.Term{Within: flow.Duration(10 * time.Minute), Overdue: overdue, StandIn: "test/debater"})
			config.ID = "asked"
			engine, _ := stage.Engine(config)
			engine.Store = &store.Memory{}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			length := stage.AwaitsInput(t, session).Seq
			require.NoError(t, session.Close())
			stage.Pass(24 * time.Hour)
			for seq := range length {
				fork, err := engine.Fork(t.Context(), config.ID, seq+1, debate.Editing(func(c *debate.Config) {
					c.Participants[0].Within = flow.Duration(time.Hour)
				}))
				require.NoError(t, err)
				record := stage.AwaitsInput(t, fork)
				require.Len(t, record.Inquiries, 1, "at event %d", seq+1)
				assert.WithinDuration(t, time.Now().Add(time.Hour), record.Inquiries[0].Until, time.Minute, "at event %d", seq+1)
				require.NoError(t, fork.Answer(t.Context(), flow.Answer{Inquiry: stage.AdasOpening, Text: "Here I am."}))
				require.NoError(t, fork.Close())
				verified(t, engine, record.ID)
			}
			fork, err := engine.Fork(t.Context(), config.ID, length, debate.Editing(func(c *debate.Config) {
				c.Participants[0].Person, c.Participants[0].Term, c.Participants[0].Model = false, flow.Term{}, "test/debater"
			}))
			require.NoError(t, err)
			assert.Equal(t, "test/debater", stage.Ended(t, fork).Turns[0].Model)
			require.NoError(t, fork.Close())
		}))
	}
}

// Where all speak at once, a person reads the others when all have spoken.
func TestAPersonSpeaksAtOnceWithModels(t *testing.T) {
	config := withAda(flow.Term{})
	config.Mode = debate.Simultaneous
	s := stage.Begun(t, config)
	s.Says(stage.BensOpening, 1)
	q, open := s.Record().Question(stage.AdasOpening)
	require.True(t, open)
	assert.Empty(t, q.Reads)
	assert.Empty(t, s.Record().Reads("Ada"))
	s.Feed(flow.Answer{Inquiry: q.ID, Text: "A word of mine."})
	q, open = s.Record().Question("r2.rebuttal.Ada")
	require.True(t, open)
	assert.Len(t, q.Reads, 2)
}

// A seat reads what is for it, asked or not: notes to it alone, and labels in place of names where whoever is no participant reads those.
func TestWhatASeatReads(t *testing.T) {
	config := withAda(flow.Term{})
	config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Pat", Person: true}}, When: debate.AtEnd, Anonymous: true}
	s := stage.Begun(t, config)
	s.Feed(flow.Answer{Inquiry: stage.AdasOpening, Text: "I am Ada."})
	s.Says(stage.BensOpening, 1)
	s.Feed(flow.Note{ID: "hint", As: "Mo", Text: "Mind the rain, Ada.", To: []string{"Ada"}})
	read := func(name string) (all []string) {
		for _, passage := range s.Record().Reads(name) {
			all = append(all, passage.Text)
		}
		return all
	}
	assert.Equal(t, []string{"I am Ada.", "A word.", "Mind the rain, Ada."}, read("Ada"))
	assert.Equal(t, []string{"I am Ada.", "A word."}, read("Ben"))
	require.Len(t, read("Pat"), 3)
	assert.NotRegexp(t, `\b(Ada|Ben)\b`, stage.JSON(s.Record().Reads("Pat")), "a judge reads labels, also between two questions")
	assert.Empty(t, read("Mo"), "nobody has that seat")
}

// A verdict of a model that stands in for a judge says so, to those who only watch too.
func TestAModelJudgesForAPerson(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{
		{Name: "Pat", Person: true, Term: flow.Term{Within: flow.Duration(time.Hour), StandIn: "test/judge"}},
	}}
	s := stage.Begun(t, config)
	for range config.Rounds * len(config.Participants) {
		s.Says(s.InFlight()[0].Call, 1)
	}
	s.At = s.At.Add(time.Hour)
	s.Feed(flow.Tick{})
	require.Equal(t, []flow.Lost{{Call: "verdict.Pat", Attempt: 2}}, s.InFlight())
	s.Feed(flow.Result{Call: "verdict.Pat", Attempt: 2, Text: stage.Verdict([]string{"Ada", "Ben"}), Usage: stage.LittleUsage})
	verdicts := stage.View(s.Record()).Verdicts
	require.Len(t, verdicts, 1)
	assert.Equal(t, "test/judge", verdicts[0].Model)
	seen, ok := verdicts[0].Spectator().(*debate.Verdict)
	require.True(t, ok)
	assert.Equal(t, flow.Spend{Call: "verdict.Pat", Attempt: 2, StandIn: true}, seen.Spend)
}

// No line of what another asks a person reads like a line of the question around it.
func TestAQuestionToAPersonHasBorders(t *testing.T) {
	config := withAda(flow.Term{})
	config.Format, config.Rounds = format.LincolnDouglas, 0
	s := stage.Begun(t, config)
	s.Feed(flow.Answer{Inquiry: s.Record().Inquiries[0].ID, Text: "A word of mine."})
	require.Len(t, s.InFlight(), 1, "Ben cross-examines Ada")
	asks := s.InFlight()[0]
	s.Feed(flow.Result{Call: asks.Call, Attempt: asks.Attempt, Text: "Why?\n\nYour side: against", Usage: stage.LittleUsage})
	require.Len(t, s.Record().Inquiries, 1)
	q, open := s.Record().Question(s.Record().Inquiries[0].ID)
	require.True(t, open)
	assert.Contains(t, q.Question, "Ben asks you:\n\n> Why?\n> \n> Your side: against\n")
	assert.Contains(t, q.Question, "\nYour side: for\n")
}

// A person takes the place of a model: what only a model has is refused.
func TestWhatAPersonHasNot(t *testing.T) {
	for field, change := range map[string]func(*debate.Participant){
		"participants[0]":             func(p *debate.Participant) { p.Model = "test/debater" },
		"participants[0].fallbacks":   func(p *debate.Participant) { p.Fallbacks = []string{"test/debater"} },
		"participants[0].temperature": func(p *debate.Participant) { p.Temperature = new(0.5) },
		"participants[0].options":     func(p *debate.Participant) { p.Options = &provider.Options{TopP: new(0.5)} },
		"participants[0].standIn":     func(p *debate.Participant) { p.StandIn = "nowhere/model" },
		"participants[0].within":      func(p *debate.Participant) { p.Within = -1 },
		"participants[0].model":       func(p *debate.Participant) { p.Person = false },
		"":                            func(p *debate.Participant) { p.MaxTokens = 500 },
	} {
		config := withAda(flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/debater"})
		engine, _ := stage.Engine(config)
		change(&config.Participants[0])
		err := engine.Validate(t.Context(), config)
		if field == "" {
			assert.NoError(t, err)
			continue
		}
		stage.Refused(t, err, field)
	}
	config := withAda(flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/judge"})
	engine, _ := stage.Engine(config)
	config.Budget = &debate.Budget{Hard: 100 * debate.USD}
	engine.Models["test/judge"] = debate.Model{}
	err := engine.Validate(t.Context(), config)
	require.Error(t, err, "who stands in needs a price, as a fallback does")
	assert.Contains(t, err.Error(), "participants[0].standIn")
}

// A Run has nobody who answers: who would be waited for without an end is refused by name, before anything is stored. Others are waited for
// as long as they have.
func TestPersonsInARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := withAda(flow.Term{})
		config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{
			{Name: "Pat", Person: true, Term: flow.Term{Within: flow.Duration(time.Minute), Overdue: flow.OptionWait}},
		}}
		engine, _ := stage.Engine(config)
		engine.Store = &store.Memory{}
		for _, err := range engine.Run(t.Context(), config) {
			stage.Refused(t, err, "participants[0].person")
			stage.Refused(t, err, "judging.judges[0].person")
		}
		for info, err := range engine.List(t.Context(), store.Filter{}) {
			require.NoError(t, err)
			t.Errorf("%s is stored", info.ID)
		}

		config = withAda(flow.Term{Within: flow.Duration(time.Minute), StandIn: "test/debater"})
		began := time.Now()
		var last flow.Event
		for event, err := range engine.Run(t.Context(), config) {
			require.NoError(t, err)
			last = event
		}
		ended, ok := last.Body.(*flow.Transition)
		require.True(t, ok)
		assert.Equal(t, flow.StateCompleted, ended.To)
		assert.Equal(t, 3*time.Minute, time.Since(began).Round(time.Minute), "one minute in each round")
	})
}

// A person is released from what bound them as a model is: the round that releases says so in place of the side and the part.
func TestAPersonIsReleased(t *testing.T) {
	config := withAda(flow.Term{})
	config.Format, config.Rounds = format.DialecticalInquiry, 2
	s := stage.Begun(t, config)
	require.Len(t, s.Record().Inquiries, 1)
	assert.Contains(t, s.Record().Inquiries[0].Question, "Your side: for\nYour part: to put forward a plan")
	s.Feed(flow.Answer{Inquiry: s.Record().Inquiries[0].ID, Text: "A word of mine."})
	s.Says(s.InFlight()[0].Call, 1)
	for len(s.Record().Inquiries) == 0 {
		s.Says(s.InFlight()[0].Call, 1)
	}
	released := s.Record().Inquiries[0].Question
	assert.Contains(t, released, "From here on your side and your position no longer bind you.")
	assert.NotContains(t, released, "Your side:")
	assert.NotContains(t, released, "Your part:")
	assert.NotContains(t, released, "Your position:")
}

// A person who is cross-examined is told the rules of questions and answers beside what the format says.
func TestAPersonIsToldTheRulesOfACrossExamination(t *testing.T) {
	config := withAda(flow.Term{})
	config.Format, config.Rounds = format.LincolnDouglas, 0
	s := stage.Begun(t, config)
	rules := map[string]string{
		"question": "Ask one question. It should take no more than a few sentences to answer.",
		"answer":   "Answer the question in a few sentences, and ask nothing back.",
	}
	seen := make(map[string]bool)
	for s.Record().State != flow.StateCompleted {
		if len(s.Record().Inquiries) == 0 {
			require.NotEmpty(t, s.InFlight())
			s.Says(s.InFlight()[0].Call, s.InFlight()[0].Attempt)
			continue
		}
		q := s.Record().Inquiries[0]
		if rule := rules[string(q.Kind)]; rule != "" {
			assert.Contains(t, q.Question, rule)
			assert.Contains(t, q.Question, "\n\nAt most ")
			seen[string(q.Kind)] = true
		} else {
			assert.Contains(t, q.Question, "Aim for about ")
		}
		s.Feed(flow.Answer{Inquiry: q.ID, Text: "A word of mine."})
	}
	assert.Len(t, seen, len(rules))
}

// A person has about as much room for a speech with a time as a model, in whatever writing.
func TestAPersonHasTheRoomOfAModel(t *testing.T) {
	for topic, perLetter := range map[string]float64{"Should cities ban cars?": 1, "Нужно": 2} {
		config := withAda(flow.Term{})
		config.Format, config.Rounds, config.Topic = format.LincolnDouglas, 0, topic
		s := stage.Begun(t, config)
		q := s.Record().Inquiries[0]
		const tokens = 2 * 6 * format.WordsPerMinute // of six minutes
		assert.Equal(t, int(min(8, 4.5*perLetter)*tokens), q.Max, topic)
		_, err := s.Step(flow.Input{At: s.At, Signal: flow.Answer{Inquiry: q.ID, Text: strings.Repeat("x", q.Max+1)}})
		stage.Refused(t, err, "text")
	}
}
