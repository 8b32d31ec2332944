package debate_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// chaired is a debate of three whom nobody judges, and in which somebody gives the floor.
func chaired(floor debate.Floor) debate.Config {
	config := stage.TwoDebaters()
	config.Judging, config.Floor = nil, &floor
	config.Participants = append(config.Participants, debate.Participant{Name: "Cid", Model: "test/debater", Position: "Let them decide."})
	return config
}

// gives decides who speaks next.
func gives(s *stage.Stepper, attempt int, to string) {
	call := s.InFlight()[0].Call
	text := stage.JSON(debate.FloorAnswer{Because: "It is time.", To: to})
	s.Feed(flow.Result{Call: call, Attempt: attempt, Text: text, Usage: stage.LittleUsage})
}

// A chair decides who speaks next, among those who have not spoken in the round.
func TestAChairGivesTheFloor(t *testing.T) {
	s := stage.Begun(t, chaired(debate.Floor{Model: "test/debater", Instructions: "Be brief."}))
	next := func() string { return s.InFlight()[0].Call }
	require.Equal(t, "r1.floor.1", next())
	command, err := s.Command("r1.floor.1")
	require.NoError(t, err)
	assert.Contains(t, command.Request.Last.Text, "Ada or Ben or Cid")
	assert.Contains(t, command.Request.System, "Be brief.")
	gives(s, 1, "Ben")
	require.Equal(t, "r1.opening.Ben", next())
	s.Says("r1.opening.Ben", 1)
	require.Equal(t, "r1.floor.2", next())
	gives(s, 1, "Ben")
	require.Len(t, s.Record().Rejections, 1, "who has spoken may not speak again")
	s.At = s.At.Add(time.Minute)
	s.Feed(flow.Tick{})
	gives(s, 2, "Cid")
	s.Says("r1.opening.Cid", 1)
	require.Equal(t, stage.AdasOpening, next(), "nobody else is left: nobody decides")
	s.Says(stage.AdasOpening, 1)
	require.Equal(t, "r2.floor.1", next())
	s.Fails("r2.floor.1", 1, flow.Error{Kind: provider.KindRefusal})
	require.Equal(t, "r2.rebuttal.Ada", next(), "without a decision the order decides")
	s.Says("r2.rebuttal.Ada", 1)
	require.Equal(t, "r2.floor.2", next())

	d := stage.View(s.Record())
	require.Len(t, d.Floors, 2)
	assert.Equal(t, debate.FloorAnswer{Because: "It is time.", To: "Cid"}, d.Floors[1].FloorAnswer)
	sum := 0.0
	for _, share := range d.Shares() {
		sum += share.Percent
	}
	assert.InDelta(t, 100, sum, 0.01)
	assert.Equal(t, debate.Share{Name: "Ada", Turns: 2, Words: 4, Percent: 50}, d.Shares()[0])
	var shown struct {
		Floors []debate.FloorAnswer `json:"floors"`
		Shares []debate.Share       `json:"shares"`
	}
	require.NoError(t, json.Unmarshal([]byte(stage.JSON(d)), &shown))
	assert.Len(t, shown.Floors, 2)
	assert.Len(t, shown.Shares, 3)
}

// A person gives the floor, who is told what is asked.
func TestAPersonGivesTheFloor(t *testing.T) {
	config := chaired(debate.Floor{Name: "Kim", Person: true})
	s := stage.Begun(t, config)
	q, open := s.Record().Question("r1.floor.1")
	require.True(t, open)
	assert.Equal(t, "Kim", q.To)
	assert.Contains(t, q.Question, config.Topic)
	assert.NotContains(t, q.Question, "JSON object")
	assert.Contains(t, q.Question, `The answer looks like this: {"because":"…","to":"Ada"}`)
	s.Feed(flow.Answer{Inquiry: q.ID, Text: stage.JSON(debate.FloorAnswer{Because: "He was asked.", To: "Cid"})})
	assert.Equal(t, "r1.opening.Cid", s.InFlight()[0].Call)

	for _, overdue := range []flow.Option{"", flow.OptionSkip} { // who is late leaves it to the order
		config.Floor.Term = flow.Term{Within: flow.Duration(time.Minute), Overdue: overdue}
		s := stage.Begun(t, config)
		s.At = s.At.Add(time.Minute)
		s.Feed(flow.Tick{})
		assert.Equal(t, []flow.Lost{{Call: stage.AdasOpening, Attempt: 1}}, s.InFlight())
	}
}

// A person who is late is asked once for each speech, though somebody has left: then the order decides.
func TestAPersonWhoIsLateIsAskedOnce(t *testing.T) {
	config := chaired(debate.Floor{Name: "Kim", Person: true, Term: flow.Term{Within: flow.Duration(time.Minute)}})
	config.Participants = append(config.Participants, debate.Participant{Name: "Dan", Model: "test/debater", Position: "Ask the shops."})
	config.OnFailure = stage.Dropping()
	s := stage.Begun(t, config)
	for n, to := range []string{"Cid", "Ada", "Ben"} {
		q, open := s.Record().Question(fmt.Sprintf("r1.floor.%d", n+1))
		require.True(t, open, "somebody who leaves in the middle of a speech has had the floor")
		s.Feed(flow.Answer{Inquiry: q.ID, Text: stage.JSON(debate.FloorAnswer{Because: "It is time.", To: to})})
		if to == "Cid" {
			s.Fails("r1.opening.Cid", 1, flow.Error{Kind: provider.KindRefusal})
			require.True(t, s.Record().IsDropped(to))
		} else {
			s.Says("r1.opening."+to, 1)
		}
	}
	s.Says("r1.opening.Dan", 1)
	for n, next := range []string{"Ada", "Ben"} {
		_, open := s.Record().Question(fmt.Sprintf("r2.floor.%d", n+1))
		require.True(t, open)
		s.At = s.At.Add(time.Minute)
		s.Feed(flow.Tick{})
		require.Equal(t, []flow.Lost{{Call: "r2.rebuttal." + next, Attempt: 1}}, s.InFlight())
		s.Says("r2.rebuttal."+next, 1)
	}
	assert.Equal(t, []flow.Lost{{Call: "r2.rebuttal.Dan", Attempt: 1}}, s.InFlight(), "nobody else is left: nobody decides")
}

// A function gives the floor, and is told who may have it.
func TestAFunctionGivesTheFloor(t *testing.T) {
	config := chaired(debate.Floor{Judge: "chair"})
	config.Rounds = 1
	engine, _ := stage.Engine(config)
	var told []debate.JudgeTask
	engine.Judges = map[string]debate.Judge{
		"chair": debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
			told = append(told, task)
			to := map[int]string{0: "Cid", 1: "Ben"}[len(task.Turns)]
			return json.RawMessage(stage.JSON(debate.FloorAnswer{Because: "It is time.", To: to})), nil
		}),
	}
	assert.Equal(t, []string{"r1 Cid", "r1 Ben", "r1 Ada"}, stage.Speakers(stage.Run(t, engine, config)))
	require.Len(t, told, 2)
	assert.Equal(t, debate.KindFloor, told[1].Kind)
	assert.Contains(t, told[1].Instruction, "Ada or Ben")
	assert.NotContains(t, string(told[1].Schema), "Cid")
}

// Models, functions, people and whoever reads the record have speeches in the order in which they were spoken, whoever has chosen it, with
// the answers out of turn between them. A chair in Go is told whom it may choose, and what was said in between.
func TestSpeechesStandInTheOrderOfTheFloor(t *testing.T) {
	config := chaired(debate.Floor{Judge: "chair"})
	config.Format, config.Rounds = format.FreeForm, 1
	config.Judging = &debate.Judging{
		Judges: []debate.JudgeConfig{{Name: "Cato", Judge: "cato"}, {Name: "Iris", Model: "test/judge"}},
		When:   debate.AtEnd, AllowSameFamily: true,
	}
	engine, _ := stage.Engine(config)
	engine.Judges = map[string]debate.Judge{"chair": stage.Outsider(nil), "cato": stage.Outsider(nil)}
	s := stage.BegunBy(t, engine, config)
	asked := func(call string) *flow.Command {
		command, err := s.Command(call)
		require.NoError(t, err)
		return command
	}
	told := func(call string) *debate.JudgeTask {
		task, err := flow.TaskOf[debate.JudgeTask](asked(call).Task)
		require.NoError(t, err)
		return task
	}
	chooses := func(call, to string) {
		s.Feed(flow.Result{Call: call, Attempt: 1, Text: stage.JSON(debate.FloorAnswer{Because: "It is time.", To: to})})
	}
	first := told("r1.floor.1")
	assert.Equal(t, []string{"Ada", "Ben", "Cid"}, first.Choices)
	assert.Empty(t, first.Notes)
	chooses("r1.floor.1", "Cid")
	s.Feed(question(1))
	s.Says("r1.opening.Cid", 1)
	s.Says("r1.aside.1.Ben", 1)
	second := told("r1.floor.2")
	assert.Equal(t, []string{"Ada", "Ben"}, second.Choices)
	require.Len(t, second.Notes, 1)
	assert.Equal(t, "Who pays for it, 1?", second.Notes[0].Text)
	chooses("r1.floor.2", "Ben")
	s.Says(stage.BensOpening, 1)
	s.Says(stage.AdasOpening, 1)

	order := []string{"r1.opening.Cid", "r1.aside.1.Ben", stage.BensOpening, stage.AdasOpening}
	calls := func(turns []*flow.Turn) (all []string) {
		for _, turn := range turns {
			all = append(all, turn.Call)
		}
		return all
	}
	cato := told("verdict.Cato")
	assert.Equal(t, order, calls(cato.Turns))
	assert.Empty(t, cato.Choices)
	assert.Equal(t, order, calls(s.Record().RoundTurns(1)))
	var read, seen []string
	for _, message := range asked("verdict.Iris").Request.Messages {
		read = append(read, message.Speaker)
	}
	assert.Equal(t, []string{"Cid", "Mo", "Ben", "Ben", "Ada"}, read)
	for _, passage := range s.Record().Reads("Ada") {
		seen = append(seen, passage.Speaker)
	}
	assert.Equal(t, read, seen)
}

// Where an order is given, or all speak at once, nobody decides.
func TestWhereNobodyGivesTheFloor(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"at once":       func(c *debate.Config) { c.Mode = debate.Simultaneous },
		"a fixed order": func(c *debate.Config) { c.Format, c.Participants = format.LincolnDouglas, c.Participants[:2] },
	} {
		config := chaired(debate.Floor{Model: "test/debater"})
		change(&config)
		engine, _ := stage.Engine(config)
		require.ErrorContains(t, engine.Validate(t.Context(), config), "floor: there is no order to decide", name)
	}
	for field, floor := range map[string]debate.Floor{
		"floor.model": {}, "floor.name": {Name: "Ada", Model: "test/debater"},
		"floor.within": {Model: "test/debater", Term: flow.Term{Within: 1}},
	} {
		config := chaired(floor)
		engine, _ := stage.Engine(config)
		require.ErrorContains(t, engine.Validate(t.Context(), config), field+":")
	}
}
