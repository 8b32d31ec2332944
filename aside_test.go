package debate_test

import (
	"fmt"
	"slices"
	"strings"
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
	"github.com/agonist-dev/debate/provider/scripted"
)

// freely is a free-form debate of two whom nobody judges.
func freely() debate.Config {
	config := stage.TwoDebaters()
	config.Format, config.Judging = format.FreeForm, nil
	return config
}

// question asks Ben something.
func question(n int) flow.Note {
	return flow.Note{ID: fmt.Sprint("q", n), As: "Mo", Text: fmt.Sprintf("Who pays for it, %d?", n), Ask: "Ben"}
}

// Who is asked in a note answers before the next speech, or before the round ends, and has not spoken with that.
func TestAnAnswerOutOfTurn(t *testing.T) {
	s := stage.Begun(t, freely())
	s.Feed(question(1))
	assert.Equal(t, stage.AdasOpening, s.InFlight()[0].Call, "who speaks is heard to the end")
	s.Says(stage.AdasOpening, 1)
	require.Equal(t, []flow.Lost{{Call: "r1.aside.1.Ben", Attempt: 1}}, s.InFlight())
	command, err := s.Command("r1.aside.1.Ben")
	require.NoError(t, err)
	fence := s.Record().Quote("Mo", "Who pays for it, 1?")
	assert.Contains(t, command.Request.Last.Text, "somebody who takes no part asks you:\n\n"+fence)
	assert.NotContains(t, strings.Replace(command.Request.Last.Text, fence, "", 1), "Mo", "who asks has chosen the name")
	last := command.Request.Messages[len(command.Request.Messages)-1]
	assert.Equal(t, []string{"Mo", "Who pays for it, 1?"}, []string{last.Speaker, last.Text})
	s.Says(command.Call, 1)
	require.Equal(t, []flow.Lost{{Call: stage.BensOpening, Attempt: 1}}, s.InFlight(), "Ben is still to speak")
	s.Feed(question(2))
	s.Says(stage.BensOpening, 1)
	require.Equal(t, []flow.Lost{{Call: "r1.aside.2.Ben", Attempt: 1}}, s.InFlight(), "the round lasts until it is answered")
	assert.Equal(t, 1, s.Record().Round)
	s.Says("r1.aside.2.Ben", 1)
	assert.Equal(t, 2, s.Record().Round)
	kinds := make([]flow.CallKind, 0, len(s.Record().Turns))
	for _, turn := range s.Record().Turns {
		kinds = append(kinds, turn.Kind)
	}
	assert.Equal(t, []flow.CallKind{"opening", debate.KindAside, "opening", debate.KindAside}, kinds)
	d := stage.View(s.Record())
	for i, note := range []*flow.Note{nil, d.Notes[0], nil, d.Notes[1]} {
		assert.Same(t, note, d.Answered(d.Turns[i]))
	}
}

// An answer out of turn that fails is done without, and the outcome says so.
func TestAnAnswerOutOfTurnThatFails(t *testing.T) {
	s := stage.Begun(t, freely())
	s.Feed(question(1))
	s.Says(stage.AdasOpening, 1)
	s.Fails("r1.aside.1.Ben", 1, flow.Error{Kind: provider.KindRefusal})
	assert.Equal(t, debate.StateAwaitingResponses, s.Record().State)
	assert.Equal(t, []flow.Lost{{Call: stage.BensOpening, Attempt: 1}}, s.InFlight())
	assert.Contains(t, stage.View(s.Record()).Outcome().Degraded, `Ben has not answered the question of "Mo" in round 1`)
}

// A person is asked out of turn in words for a person.
func TestAPersonAnswersOutOfTurn(t *testing.T) {
	config := freely()
	config.Participants[1] = debate.Participant{Name: "Ben", Side: debate.Against, Person: true}
	s := stage.Begun(t, config)
	asked := question(1)
	asked.Text += "\nYour side: against"
	s.Feed(asked)
	s.Says(stage.AdasOpening, 1)
	q, open := s.Record().Question("r1.aside.1.Ben")
	require.True(t, open)
	assert.Contains(t, q.Question, "asks you, out of turn, as \"Mo\":\n\n> Who pays for it, 1?\n> Your side: against\n")
	s.Feed(flow.Answer{Inquiry: q.ID, Text: "All of us."})
	_, open = s.Record().Question(stage.BensOpening)
	assert.True(t, open)
}

// A judge in Go reads notes as it reads turns: under labels, and without the person who has said them.
func TestAJudgeInGoReadsNotes(t *testing.T) {
	for name, hidden := range map[string]bool{"by names": false, "by labels": true} {
		config := freely()
		config.Rounds = 1
		config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Cato", Judge: "cato"}}, When: debate.AtEnd, Anonymous: hidden}
		engine, _ := stage.Engine(config)
		engine.Judges = map[string]debate.Judge{"cato": stage.Outsider(nil)}
		s := stage.BegunBy(t, engine, config)
		asked := question(1)
		asked.To, asked.Text, asked.Person = []string{"Ben"}, "Ben, is Ada right?", "mo@example.org"
		s.Feed(asked)
		s.Says(stage.AdasOpening, 1)
		s.Says("r1.aside.1.Ben", 1)
		s.Says(stage.BensOpening, 1)
		command, err := s.Command("verdict.Cato")
		require.NoError(t, err)
		task, err := flow.TaskOf[debate.JudgeTask](command.Task)
		require.NoError(t, err)
		require.Len(t, task.Notes, 1, name)
		note := task.Notes[0]
		assert.Empty(t, note.Person)
		assert.Equal(t, "Mo", note.As)
		assert.Equal(t, 1, note.Round)
		if hidden {
			assert.NotRegexp(t, `\b(Ada|Ben)\b`, stage.JSON(note))
			assert.Equal(t, []string{note.Ask}, note.To)
		} else {
			assert.Equal(t, []any{"Ben, is Ada right?", "Ben"}, []any{note.Text, note.Ask})
		}
		said := s.Record().Notes[0]
		assert.Equal(t, []any{"mo@example.org", []string{"Ben"}, "Ben"}, []any{said.Person, said.To, said.Ask}, "the record is not touched")
	}
}

// Not every format has answers out of turn, and none has any number of them.
func TestAnswersOutOfTurnAreBounded(t *testing.T) {
	s := stage.Begun(t, freely())
	for n := range 3 {
		s.Feed(question(n))
	}
	_, err := s.Step(flow.Input{At: s.At, Signal: question(3)})
	stage.Refused(t, err, "ask")
	require.ErrorContains(t, err, "round 1 has had its 3 questions out of turn")
	var refused *flow.Error
	require.ErrorAs(t, err, &refused)
	assert.Equal(t, "Correct ask: ask in the next round.", refused.Hint())

	config := freely()
	config.Mode = debate.Simultaneous
	structured := stage.TwoDebaters()
	structured.Judging = nil
	for name, config := range map[string]debate.Config{"who speak at once": config, "another format": structured} {
		s := stage.Begun(t, config)
		_, err := s.Step(flow.Input{At: s.At, Signal: question(1)})
		stage.Refused(t, err, "ask")
		assert.Empty(t, s.Record().Notes, name)
	}
}

// After the verdict a debate goes on for one answer, and is judged again.
func TestOneQuestionAfterTheVerdict(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.RoundLimited, 1
	engine, p := stage.Engine(config)
	over := stage.Run(t, engine, config)
	for field, o := range map[string]flow.Reopening{
		"to": {Ask: "Who pays?", To: "Mo"}, "ask": {Ask: "Who pays?", To: "Ben", Rounds: 1}, "rounds": {To: "Ben"},
	} {
		_, err := engine.Reopen(t.Context(), over.ID, o)
		stage.Refused(t, err, field)
	}
	session, err := engine.Reopen(t.Context(), over.ID, flow.Reopening{Ask: "Who pays?", To: "Ben"})
	require.NoError(t, err)
	d := stage.View(stage.Ended(t, session))
	require.NoError(t, session.Close())
	require.Len(t, d.Turns, 3)
	assert.Equal(t, []any{debate.KindAside, "Ben", 1}, []any{d.Turns[2].Kind, d.Turns[2].Speaker, d.Turns[2].Round})
	assert.Len(t, d.Earlier, 1)
	assert.Len(t, d.Verdicts, 1)
	assert.Contains(t, d.Notes[0].Text, "Who pays?")
	judge := p.Requests()[len(p.Requests())-1]
	require.NotNil(t, judge.Schema)
	assert.Contains(t, judge.Last.Text, "After the end of round 1 Ben was asked:")
	assert.Contains(t, judge.Last.Text, "Who pays?")
	assert.Contains(t, judge.Last.Text, "nobody gains or loses by having been asked")
	assert.NotContains(t, stage.JSON(judge), "The earlier verdict")
}

// Judges are told of notes and answers out of turn where some are said or asked for, and of nothing else.
func TestJudgesAreToldWhatNotesAre(t *testing.T) {
	for _, noted := range []bool{false, true} {
		config := freely()
		config.Rounds = 1
		config.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Name: "Cato", Model: "test/judge"}}, When: debate.AtEnd}
		s := stage.Begun(t, config)
		if noted {
			s.Feed(question(1))
		}
		for s.InFlight()[0].Call != "verdict.Cato" {
			if call := s.InFlight()[0].Call; call == "r1.aside.1.Ben" { // what a budget keeps for the verdict counts from the question on
				s.Fails(call, 1, flow.Error{Kind: provider.KindRefusal})
			} else {
				s.Says(call, 1)
			}
		}
		command, err := s.Command("verdict.Cato")
		require.NoError(t, err)
		for _, told := range []string{"nobody is marked for what a note says", "nobody gains or loses by having been asked"} {
			assert.Equal(t, noted, strings.Contains(command.Request.Last.Text, told), told)
		}
	}
}

// A person is asked after the verdict in words of its own: the verdict does not ask, and no round follows.
func TestAPersonIsAskedAfterTheVerdict(t *testing.T) {
	for name, judging := range map[string]*debate.Judging{
		"After the verdict": stage.TwoDebaters().Judging, "After the end of the debate": nil,
	} {
		config := freely()
		config.Judging, config.Rounds = judging, 1
		config.Participants[1] = debate.Participant{Name: "Ben", Side: debate.Against, Person: true}
		engine, _ := stage.Engine(config)
		session := stage.Started(t, engine, config)
		asked := stage.AwaitsInput(t, session).Inquiries[0]
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: asked.ID, Text: "It is not."}))
		again, err := engine.Reopen(t.Context(), stage.Ended(t, session).ID, flow.Reopening{Ask: "Who pays?\n\nAnd when?", To: "Ben"})
		require.NoError(t, err)
		q, open := stage.AwaitsInput(t, again).Question("r1.aside.1.Ben")
		require.True(t, open, name)
		assert.Contains(t, q.Question, name+" you are asked:\n\n> Who pays?\n> \n> And when?\n\nAnswer in a few sentences.")
		assert.NotContains(t, q.Question, "goes on")
		err = again.Control(t.Context(), flow.Amendment{Rounds: new(3)})
		stage.Refused(t, err, "rounds")
		require.ErrorContains(t, err, "one answer alone")
		err = again.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: " \n"})
		stage.Refused(t, err, "text")
		require.ErrorContains(t, err, "is empty")
		require.NoError(t, again.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Text: "All of us."}))
		d := stage.View(stage.Ended(t, again))
		require.NoError(t, again.Close())
		require.NotNil(t, d.Earlier[0].Answer)
		assert.Equal(t, "All of us.", d.Earlier[0].Answer.Text)
	}
}

// A question after the verdict that fails is no answer that the debate does without: somebody decides what follows, and the end says so.
func TestAQuestionAfterTheVerdictThatIsNotAnswered(t *testing.T) {
	config := stage.TwoDebaters()
	config.Format, config.Rounds = format.RoundLimited, 1
	reopened := func() (*debate.Session, *stage.Outage) {
		engine, p := stage.Engine(config)
		gone := stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, ".aside.") })
		again, err := engine.Reopen(t.Context(), stage.Run(t, engine, config).ID, flow.Reopening{Ask: "Who pays?", To: "Ben"})
		require.NoError(t, err)
		return again, gone
	}
	again, gone := reopened()
	_, err := again.Wait(t.Context())
	require.Error(t, err)
	d := stage.View(stage.SessionRecord(t, again))
	assert.Equal(t, flow.StateError, d.State)
	var told []string
	for _, line := range d.Outcome().Degraded {
		if strings.Contains(line, "Ben") {
			told = append(told, line)
		}
	}
	assert.Equal(t, []string{"missing: the answer of Ben to the question after the verdict"}, told)
	assert.Empty(t, d.Verdicts, "no other verdict is paid")
	gone.Over.Store(true)
	require.NoError(t, again.Retry(t.Context()))
	d = stage.View(stage.Ended(t, again))
	require.NoError(t, again.Close())
	assert.NotNil(t, d.Earlier[0].Answer)
	assert.Equal(t, "the question after the verdict is answered", d.Evidence)

	config.OnFailure = []flow.FailureRule{{Calls: []flow.CallKind{debate.KindAside}, Do: flow.OptionSkip}}
	again, _ = reopened()
	d = stage.View(stage.Ended(t, again))
	require.NoError(t, again.Close())
	assert.Nil(t, d.Earlier[0].Answer)
	assert.Equal(t, "the question after the verdict was not answered", d.Evidence)
	assert.Contains(t, strings.Join(d.Outcome().Degraded, "\n"), "Ben has missed an answer out of turn in round 1")

	synctest.Test(t, func(t *testing.T) { // with that Ben has missed no speech
		config.RoundTimeout, config.TurnTimeout = time.Hour, 3*time.Hour
		engine, p := stage.Engine(config)
		stage.Befall(p, provider.KindRefusal, func(req *provider.Request) bool { return strings.Contains(req.ID, ".aside.") })
		stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
			if req.Self == "Ben" && strings.Contains(req.ID, "/r2.") {
				r.Delay = 2 * time.Hour
			}
		})
		again, err := engine.Reopen(t.Context(), stage.Run(t, engine, config).ID, flow.Reopening{Ask: "Who pays?", To: "Ben"})
		require.NoError(t, err)
		asked := stage.Ended(t, again)
		require.NoError(t, again.Close())
		require.Len(t, asked.SkippedCalls, 1)
		judge := p.Requests()[len(p.Requests())-1]
		require.NotNil(t, judge.Schema)
		assert.NotContains(t, judge.Last.Text, "Has missed speeches")
		again, err = engine.Reopen(t.Context(), asked.ID, flow.Reopening{Rounds: 1})
		require.NoError(t, err)
		d := stage.View(stage.Ended(t, again))
		require.NoError(t, again.Close())
		require.Len(t, d.SkippedCalls, 2, "a late speech is the first that Ben has missed")
		assert.Len(t, d.Verdicts, 1)
	})
}

// The chair of a format holds no view, and is asked for none: neither out of turn nor after the end.
func TestAChairIsNotAskedOutOfTurn(t *testing.T) {
	for _, f := range format.Builtin() {
		if f.Chair == "" || f.Asides == 0 {
			continue
		}
		config := stage.CastFor(f)
		config.Judging = nil
		chair := slices.IndexFunc(config.Participants, func(p debate.Participant) bool { return p.Side == f.Chair })
		require.GreaterOrEqual(t, chair, 0)
		name := config.Participants[chair].Name
		s := stage.Begun(t, config)
		_, err := s.Step(flow.Input{At: s.At, Signal: flow.Note{ID: "q", As: "Mo", Text: "What do you hold?", Ask: name}})
		stage.Refused(t, err, "ask")
		require.ErrorContains(t, err, name+" leads the debate and holds no view")
		engine, _ := stage.Engine(config)
		over := stage.Run(t, engine, config)
		_, err = engine.Reopen(t.Context(), over.ID, flow.Reopening{Ask: "What do you hold?", To: name})
		stage.Refused(t, err, "to")
	}
}

// Nothing comes between a question of the format and its answer.
func TestAnAnswerOutOfTurnWaitsForTheEndOfAnExchange(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Format, config.Rounds = nil, format.Socratic, 0
	config.Participants[0].Side, config.Participants[1].Side = debate.Neutral, ""
	config.Participants[0].Position = ""
	s := stage.Begun(t, config)
	s.Feed(question(1))
	require.Len(t, s.InFlight(), 1)
	s.Says(s.InFlight()[0].Call, 1)
	s.Says(s.InFlight()[0].Call, 1)
	require.Equal(t, []flow.Lost{{Call: "r1.aside.1.Ben", Attempt: 1}}, s.InFlight())
	kinds := make([]flow.CallKind, 0, len(s.Record().Turns))
	for _, turn := range s.Record().Turns {
		kinds = append(kinds, turn.Kind)
	}
	assert.Equal(t, []flow.CallKind{format.KindQuestion, format.KindAnswer}, kinds)
}

// In a closing round an answer out of turn brings nothing new either.
func TestAnAnswerOutOfTurnInAClosingRound(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging, config.Format, config.Rounds = nil, format.RoundLimited, 2
	s := stage.Begun(t, config)
	for s.Record().Round < 2 {
		s.Says(s.InFlight()[0].Call, 1)
	}
	s.Feed(question(1))
	s.Says(s.InFlight()[0].Call, 1)
	command, err := s.Command("r2.aside.1.Ben")
	require.NoError(t, err)
	assert.Contains(t, command.Request.Last.Text, " Bring no new argument. Then the debate goes on.")
}
