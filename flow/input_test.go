package flow_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// sentOf returns the inputs of a record as they were sent.
func sentOf(r *debate.Record) (sent []flow.Sent) {
	for _, input := range r.Inputs {
		sent = append(sent, input.Sent)
	}
	return sent
}

// The rule that allows an input is the one that applies, whatever the input itself changes for the guard.
func TestInputsOfAFlow(t *testing.T) {
	f := stage.OneState(nil)
	f.Inputs = []debate.Trigger{stage.Nudge, "note", "once"}
	f.Rules = append(f.Rules, debate.Rule{From: stage.Asks, On: "note", To: flow.StateUnchanged})
	f.Rules = append(f.Rules, debate.Rule{From: stage.Asks, On: "once", To: flow.StateUnchanged, When: debate.Guard{
		Name: "isFirst", OK: func(r *debate.Record) bool { return len(r.Inputs) == 1 },
	}})
	f.Rules = append(f.Rules, debate.Rule{From: stage.Asks, On: stage.Nudge, To: stage.Rests, When: debate.Guard{
		Name: "hasNote", OK: func(r *debate.Record) bool { return len(r.Inputs) > 0 && r.Inputs[0].Trigger == "note" },
	}})
	f.Steps[stage.Asks] = flow.Step{Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return "", flow.Exit{}, false }}
	engine, _, config := stage.WithFlow(f)
	session, err := engine.New(stage.InFlow(engine, config))
	require.NoError(t, err)
	stage.RequireKind(t, session.Send(t.Context(), "note", nil), provider.KindState)
	require.NoError(t, session.Validate(t.Context()))
	require.NoError(t, session.Start(t.Context()))
	assert.Equal(t, stage.Asks, session.State(), "nothing is due: it waits")

	err = session.Send(t.Context(), stage.Nudge, nil)
	stage.RequireKind(t, err, provider.KindState)
	assert.ErrorContains(t, err, "hasNote")
	stage.RequireKind(t, session.Send(t.Context(), "shout", nil), provider.KindState)
	stage.RequireKind(t, session.Send(t.Context(), "note", func() {}), provider.KindValidation)
	require.NoError(t, session.Send(t.Context(), "note", map[string]int{"n": 1}))
	assert.Equal(t, stage.Asks, session.State(), "it is only recorded")
	require.NoError(t, session.Send(t.Context(), "once", nil))
	assert.Equal(t, stage.Asks, session.State())
	stage.RequireKind(t, session.Send(t.Context(), "once", nil), provider.KindState)
	require.NoError(t, session.Send(t.Context(), stage.Nudge, nil))

	record := stage.Ended(t, session)
	assert.Equal(t, []flow.Sent{{Trigger: "note", Payload: json.RawMessage(`{"n":1}`)}, {Trigger: "once"}, {Trigger: stage.Nudge}}, sentOf(record))
	assert.Contains(t, transitions(t, engine, session.ID()), stage.Rests)
	assert.Error(t, session.Send(t.Context(), "note", nil), "it is over")
}

// The table alone says where an input is legal. Where it is, an idle conversation stays idle; who continues it reads the input.
func TestAnInputIsLegalWhereTheTableSaysSo(t *testing.T) {
	all := []debate.State{stage.Asks, flow.StatePaused, flow.StateAwaitingInput, flow.StateError}
	for _, state := range all {
		t.Run(string(state), stage.Bubbled(func(t *testing.T) {
			var others []debate.State
			for _, other := range all {
				if other != state {
					others = append(others, other)
				}
			}
			engine, session, _ := stage.Reach(t, stage.Remarkable(others...), state)
			before := stage.SessionRecord(t, session)
			for _, err := range []error{
				session.Send(t.Context(), stage.Remark, nil), engine.Control(t.Context(), session.ID(), flow.Sent{Trigger: stage.Remark}),
			} {
				stage.RequireKind(t, err, provider.KindState)
				assert.ErrorContains(t, err, "remark: not possible in state "+string(state))
			}
			after := stage.SessionRecord(t, session)
			assert.Equal(t, before.Seq, after.Seq, "nothing is recorded")
			require.NoError(t, session.Close())

			from := state
			if state == stage.Asks {
				from = flow.StateRunning
			}
			_, session, source := stage.Reach(t, stage.Remarkable(from), state)
			defer session.Close()
			before = stage.SessionRecord(t, session)
			require.NoError(t, session.Send(t.Context(), stage.Remark, "louder"))
			after = stage.SessionRecord(t, session)
			assert.Equal(t, state, after.State)
			assert.Equal(t, before.Seq+1, after.Seq, "the input, and no transition")
			assert.NotNil(t, after.Waiting(), "nothing is revealed")
			sent := flow.Sent{Trigger: stage.Remark, Payload: json.RawMessage(`"louder"`)}
			assert.Equal(t, []flow.Received{{Sent: sent, Seq: after.Seq, At: after.LastAt, Round: after.Round, State: state}}, after.Inputs)

			switch state {
			case flow.StatePaused:
				require.NoError(t, session.Resume(t.Context()))
			case flow.StateError:
				require.NoError(t, session.Retry(t.Context()))
			case flow.StateAwaitingInput:
				require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: after.Inquiries[0].ID, Option: flow.OptionRetry}))
			}
			record := stage.Ended(t, session)
			assert.Equal(t, flow.StateCompleted, record.State)
			if state != stage.Asks {
				requests := source.Requests()
				assert.Equal(t, "Remarks: 1", requests[len(requests)-1].Last.Text)
			}
		}))
	}
}

// What a log says of an input stands in the record's JSON too.
func TestAnInputHasItsNumberTimeRoundAndState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now().UTC()
		config := stage.TwoDebaters()
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		f := stage.Notes()
		engine.Flows = map[string]*debate.Flow{f.Name: f}
		session := stage.Started(t, engine, flow.Named(f.Name, config))
		stage.Pass(2500 * time.Millisecond) // two speeches of a second are round 1
		require.NoError(t, session.Send(t.Context(), stage.Noted, map[string]int{"n": 1}))
		record := stage.Ended(t, session)
		require.Len(t, record.Inputs, 1)
		input := record.Inputs[0]
		data, err := json.Marshal(record)
		require.NoError(t, err)
		var read struct {
			Inputs []map[string]any `json:"inputs"`
		}
		require.NoError(t, json.Unmarshal(data, &read))
		assert.Equal(t, []map[string]any{{
			"trigger": "noted", "payload": map[string]any{"n": 1.0}, "seq": float64(input.Seq), "round": 1.0,
			"at": began.Add(2500 * time.Millisecond).Format(time.RFC3339Nano), "state": string(input.State),
		}}, read.Inputs)
		for event, err := range engine.Events(t.Context(), session.ID(), input.Seq-1) {
			require.NoError(t, err)
			assert.Equal(t, flow.EventSent, event.Kind())
			break
		}
	})
}

// An input that is legal now is something to wait for; one that is not, or that its guard refuses, is nothing.
func TestAFlowWaitsForAnInputThatIsLegal(t *testing.T) {
	for name, c := range map[string]struct {
		from  debate.State
		allow bool
		waits bool
	}{
		"legal": {stage.Asks, true, true}, "in another state": {flow.StatePaused, true, false}, "refused by its guard": {stage.Asks, false, false},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			f := waiting(nil, func(r *debate.Record) bool { return len(r.Inputs) > 1 })
			f.Inputs = []debate.Trigger{stage.Remark}
			f.Rules = append(f.Rules, debate.Rule{From: c.from, On: stage.Remark, To: flow.StateUnchanged, When: debate.Guard{
				Name: "open", OK: func(*debate.Record) bool { return c.allow },
			}})
			engine, _, config := stage.WithFlow(f)
			session := stage.Started(t, engine, stage.InFlow(engine, config))
			if !c.waits {
				_, err := waitAnHour(t, session)
				assert.ErrorContains(t, err, "no input is possible")
				return
			}
			for range 2 {
				assert.Equal(t, stage.Asks, session.State())
				require.NoError(t, session.Send(t.Context(), stage.Remark, nil))
			}
			record, err := waitAnHour(t, session)
			require.NoError(t, err)
			assert.Equal(t, flow.StateCompleted, record.State)
		}))
	}
}

// A rule that changes no state is drawn as an edge from each of its states to itself.
func TestUnchangingRulesAreDrawn(t *testing.T) {
	f := stage.Remarkable(flow.StateRunning, flow.StatePaused)
	f.Rules = append(f.Rules, debate.Rule{From: stage.Rests, On: stage.Done, To: stage.Rests, When: debate.Guard{
		Name: "again", OK: func(*debate.Record) bool { return false },
	}})
	mermaid, dot := f.Mermaid(), f.DOT()
	for _, line := range []string{"    asking --> asking: remark (unchanged)\n", "    resting --> resting: remark (unchanged), done [again]\n", "  paused --> paused: remark (unchanged)\n"} {
		assert.Contains(t, mermaid, line)
	}
	for _, line := range []string{`"asking" -> "asking" [label="remark (unchanged)"];`, `"paused" -> "paused" [label="remark (unchanged)"];`} {
		assert.Contains(t, dot, line)
	}
	assert.NotContains(t, mermaid+dot, string("> unchanged"))
}

// What Admit refuses is no fact, whoever sends it; the error is the flow's own, of the operation "send".
func TestAFlowAdmitsItsInputs(t *testing.T) {
	var asked int
	f := stage.Remarkable(flow.StateRunning, flow.StatePaused)
	f.Admit = func(r *debate.Record, s *flow.Sent) error {
		asked++
		var to string
		_ = json.Unmarshal(s.Payload, &to)
		switch {
		case to == "":
			return errors.New("names nobody")
		case to == "both":
			return errors.Join(&flow.Error{Field: "payload.a"}, &flow.Error{Field: "payload.b"})
		case r.State == flow.StatePaused:
			return &flow.Error{Kind: provider.KindState, Err: errors.New("not while it is paused")}
		case !slices.Contains(r.Active(), to):
			return fmt.Errorf("of %s: %w", s.Trigger, &flow.Error{Op: "roll", Field: "payload", Err: fmt.Errorf("nobody is called %q", to)})
		}
		return nil
	}
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, _ *stage.Company, join func() *stage.Member) {
		joins := func() *stage.Member {
			m := join()
			m.Flows = map[string]*debate.Flow{f.Name: f}
			return m
		}
		s := joins().Begun()
		stage.Pass(500 * time.Millisecond)
		other := joins()
		refused := func(payload string, kind debate.Kind, says string, at ...string) {
			t.Helper()
			before := stage.SessionRecord(t, s)
			sent := flow.Sent{Trigger: stage.Remark, Payload: json.RawMessage(payload)}
			for _, err := range []error{s.Control(t.Context(), sent), other.Control(t.Context(), s.ID(), sent)} {
				assert.Equal(t, "send", stage.RequireKind(t, err, kind).Op)
				assert.ErrorContains(t, err, says)
				if len(at) > 0 {
					assert.Equal(t, at, stage.FieldsOf(t, err))
				}
			}
			after := stage.SessionRecord(t, s)
			assert.Equal(t, before.Seq, after.Seq, "nothing is recorded")
		}
		refused(``, provider.KindValidation, "names nobody", "")
		refused(`"Zoe"`, provider.KindValidation, `nobody is called "Zoe"`, "")
		refused(`"both"`, provider.KindValidation, "", "payload.a", "payload.b")
		was := asked
		refused(`"Ada"x`, provider.KindValidation, "", "payload")
		stage.RequireKind(t, s.Send(t.Context(), "other", "Ada"), provider.KindState)
		assert.Equal(t, was, asked, "what is no input, or no JSON, is not shown to the flow")
		payload := []byte(`"Ada"`)
		require.NoError(t, other.Control(t.Context(), s.ID(), flow.Sent{Trigger: stage.Remark, Payload: payload}))
		copy(payload, `"Zoe"`)
		require.NoError(t, s.Pause(t.Context()))
		stage.Pass(time.Second)
		refused(`"Ada"`, provider.KindState, "not while it is paused")
		require.NoError(t, s.Resume(t.Context()))
		record := stage.Ended(t, s)
		assert.Equal(t, []flow.Sent{{Trigger: stage.Remark, Payload: json.RawMessage(`"Ada"`)}}, sentOf(record))
	})
}
