package failure_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Logs that say what cannot have happened to an inquiry are refused, by name of the field.
func TestInquiriesThatDoNotFold(t *testing.T) {
	config := stage.TwoDebaters()
	config.Unattended = false
	engine, p := stage.Engine(config)
	stage.Befall(p, provider.KindAuthentication, stage.Said("Ben", 1))
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record := stage.AwaitsInput(t, session)
	require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionModel, Model: "test/spare"}))
	stage.Ended(t, session)
	l := stage.LogOf(t, engine, record.ID)
	inquiry, answer := l.Index(t, flow.EventInquiry, 0), l.Index(t, flow.EventAnswer, 0)
	for name, tc := range map[string]struct {
		at     int
		change func(e *debate.Event)
		field  string
	}{
		"about a call that is done":     {inquiry, func(e *debate.Event) { body.As[flow.Inquiry](*e).About[0].Call = "r1.opening.Ada" }, "inquiry.about"},
		"about a call that nobody made": {inquiry, func(e *debate.Event) { body.As[flow.Inquiry](*e).About[0].Call = "r9.song.Ada" }, "inquiry.about"},
		"about nothing":                 {inquiry, func(e *debate.Event) { body.As[flow.Inquiry](*e).About[0].Call = "" }, "inquiry.about"},
		"about the call of another":     {inquiry, func(e *debate.Event) { body.As[flow.Inquiry](*e).About[0].By = "Ada" }, "inquiry.about"},
		"twice about one call": {inquiry, func(e *debate.Event) {
			q := body.As[flow.Inquiry](*e)
			q.About = append(q.About, q.About[0])
		}, "inquiry.about"},
		"without an option": {inquiry, func(e *debate.Event) { body.As[flow.Inquiry](*e).Options = nil }, "inquiry.id"},
		"replaced by one about a call that is done": {answer, func(e *debate.Event) {
			again := *body.As[flow.Inquiry](l.Events[inquiry])
			again.About = []flow.FailedCall{{Call: "r1.opening.Ada", By: "Ada", Options: again.Options}}
			*e = debate.Event{Seq: e.Seq, Body: &again}
		}, "inquiry.about"},
		"about one of the same id": {answer, func(e *debate.Event) {
			again := *body.As[flow.Inquiry](l.Events[inquiry])
			again.ID = "another"
			*e = debate.Event{Seq: e.Seq, Body: &again}
		}, "inquiry.about"},
		"an option that was not offered": {answer, func(e *debate.Event) { body.As[flow.Answer](*e).Option = flow.OptionDrop }, "answer.option"},
		"an option that nobody knows":    {answer, func(e *debate.Event) { body.As[flow.Answer](*e).Option = "dance" }, "answer.option"},
		"an unknown inquiry":             {answer, func(e *debate.Event) { body.As[flow.Answer](*e).Inquiry = "ask.nothing.1" }, "answer.option"},
		"a model that is not known":      {answer, func(e *debate.Event) { body.As[flow.Answer](*e).Row = nil }, "answer.model"},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.Copied(t)
			tc.change(&events[tc.at])
			_, err := kernel.Of(t, l.Engine).NewCore(l.ID, events)
			assert.Equal(t, tc.field, stage.RequireKind(t, err, provider.KindValidation).Field)
		})
	}
	t.Run("answered twice", func(t *testing.T) {
		events := l.Copied(t)[:answer+1]
		again := events[answer]
		again.Seq++
		_, err := kernel.Of(t, l.Engine).NewCore(l.ID, append(events, again))
		assert.Equal(t, "answer.option", stage.RequireKind(t, err, provider.KindValidation).Field)
	})
}

// eventful is the log of a debate in which as much as possible has happened.
func eventful(t *testing.T) stage.StoredLog {
	t.Helper()
	config, engine, p := windy("test/spare")
	config.Format, config.Rounds = format.FreeForm, 4
	config.Participants[1].Position = ""
	config.Participants = append(config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
	config.AssignPositions = &debate.AssignPositions{}
	config.OnFailure = []debate.FailureRule{{Kinds: []debate.Kind{provider.KindRefusal}, Do: flow.OptionSkip}, stage.Dropping()[0]}
	config.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/judge"}, {Model: "test/judge"}}}
	config.Judging.Judges = append(config.Judging.Judges, debate.JudgeConfig{Model: "test/judge"})
	config.Judging.Quorum = 2
	config.Judging.Anonymous = false
	config.Watch = []format.Detector{format.DetectRepetition, format.DetectDiminishing, format.DetectDrift}
	stage.Abiding(p)
	answer := p.Reply
	p.Reply = func(req *provider.Request) scripted.Reply {
		switch {
		case req.Schema != nil && req.Schema.Name == "assign":
			return scripted.Reply{Text: stage.Placed(req, stage.JSON(stage.PlanOf("Close every street at noon.", "Let each quarter vote for itself.")))}
		case req.Schema != nil && req.Schema.Name == "ballot":
			return scripted.Reply{Text: `{"vote":"for","reasoning":"It is time."}`}
		default:
			return answer(req)
		}
	}
	stage.Befall(p, provider.KindContextOverflow, large("debater", "Ben", 8_000))
	stage.Befall(p, provider.KindAuthentication, stage.Said("Cyd", 3))
	stage.Befall(p, provider.KindRefusal, stage.Requested("judge", "r2.assessment.judge-2"))
	record := stage.Run(t, engine, config)
	l := stage.LogOf(t, engine, record.ID)
	kinds := stage.KindsOf(l.Events)
	for _, kind := range []flow.EventKind{
		debate.EventAssigned, debate.EventBallot, flow.EventSummary, flow.EventInquiry, flow.EventAnswer, flow.EventDropped, flow.EventFailed,
		flow.EventSkipped, flow.EventWarning, debate.EventVerdict,
	} {
		require.Contains(t, kinds, kind)
	}
	return l
}

// A question about a call that has failed says why: its options depend on that.
func TestAQuestionAboutNoFailureDoesNotFold(t *testing.T) {
	l := eventful(t)
	events := l.Copied(t)
	at := slices.IndexFunc(events, func(e debate.Event) bool {
		return body.As[flow.Inquiry](e) != nil && len(body.As[flow.Inquiry](e).Options) > 0
	})
	body.As[flow.Inquiry](events[at]).Failure = nil
	_, err := kernel.Of(t, l.Engine).NewCore(l.ID, events)
	assert.Equal(t, "inquiry.failure", stage.RequireKind(t, err, provider.KindValidation).Field)
}

// Whatever is changed in a log, and whatever is done then, nothing panics.
func TestChangedLogsOfAnEventfulDebate(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	l := eventful(t)
	var tree []any
	require.NoError(t, json.Unmarshal([]byte(stage.JSON(l.Events)), &tree))
	all := slices.DeleteFunc(stage.Nodes("", tree), func(n stage.Node) bool {
		return strings.Contains(n.Path, "[0].body.texts.") || strings.Contains(n.Path, "[0].body.models.")
	})
	dice := rand.New(rand.NewPCG(7, 11))
	values := []any{nil, true, -1, 0, 3, 1 << 15, "", "x", "Ada", "judge", "end", "model", string(flow.StateError), []any{}, map[string]any{}, []any{"x"}}
	for range 600 / longform.Fewer() {
		one, value := all[dice.IntN(len(all))], values[dice.IntN(len(values))]
		var event int
		_, err := fmt.Sscanf(one.Path, "[%d]", &event)
		require.NoError(t, err)
		one.Put(value)
		provoke(t, l, stage.JSON(tree[:event+1+dice.IntN(len(tree)-event)]), fmt.Sprintf("%s = %v", one.Path, value))
		one.Put(one.Value)
	}
}

// provoke reads a log and does with the debate whatever a host can.
func provoke(t *testing.T, l stage.StoredLog, log, what string) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v\n%s", what, r, debug.Stack())
		}
	}()
	var events []debate.Event
	if json.Unmarshal([]byte(log), &events) != nil {
		return
	}
	core, err := kernel.Of(t, l.Engine).NewCore(l.ID, events)
	if err != nil {
		stage.RequireKind(t, err, provider.KindValidation)
		return
	}
	r := core.Record()
	look := func() {
		_, _ = stage.View(r).Canonical()
		_, _, _, _ = stage.View(r).Outcome(), stage.View(r).Swing(), stage.View(r).Judges(), stage.View(r).Recused()
		_, _, _ = stage.View(r).Contestants(), r.Participants(), stage.View(r).Findings(r.Round)
	}
	look()
	signals := []flow.Signal{flow.Tick{}}
	for _, lost := range core.InFlight() {
		signals = append(signals, lost)
	}
	for _, q := range r.Inquiries {
		signals = append(signals, flow.Answer{Inquiry: q.ID, Text: "{}"})
		for _, option := range append(slices.Clone(q.Options), "dance") {
			signals = append(signals, flow.Answer{Inquiry: q.ID, Option: option, Model: "test/spare", Row: &debate.Model{}})
		}
	}
	signals = append(signals, flow.Pause{}, flow.Resume{}, flow.Retry{}, flow.Stop{}, flow.Cancel{})
	for _, signal := range signals {
		out, err := core.Step(flow.Input{At: time.Now(), Signal: signal})
		if err != nil {
			continue
		}
		for _, call := range out.Start {
			_, _ = core.Command(call)
		}
		look()
	}
}
