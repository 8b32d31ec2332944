package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestRefusedControlsChangeNothing(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		mend := c.Failing(stage.AdasOpening, &provider.Error{Kind: provider.KindQuota, Status: 429})
		other := join()
		refused := func(id string, state debate.State, signal flow.Signal, trigger string) {
			t.Helper()
			before := c.Log(id)
			err := other.Control(t.Context(), id, signal)
			stage.RequireKind(t, err, provider.KindState)
			require.ErrorContains(t, err, trigger)
			if state != "" {
				require.ErrorContains(t, err, string(state))
			}
			assert.Equal(t, before, c.Log(id))
		}
		s := join().Begun()
		stage.Pass(time.Second)
		refused(s.ID(), flow.StateError, flow.Resume{}, "resume")
		refused(s.ID(), flow.StateError, flow.Pause{}, "pause")
		refused(s.ID(), "", flow.Answer{Inquiry: "nobody.asked", Text: "This."}, "nobody.asked")
		refused(s.ID(), "", flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue}, flow.InquiryCost)
		refused(s.ID(), "", flow.Sent{Trigger: "dance"}, "dance")
		mend()
		require.NoError(t, s.Retry(t.Context()))
		stage.Pass(500 * time.Millisecond)
		refused(s.ID(), debate.StateAwaitingResponses, flow.Resume{}, "resume")
		refused(s.ID(), debate.StateAwaitingResponses, flow.Retry{}, "retry")
		stage.Ended(t, s)
		for trigger, signal := range map[string]flow.Signal{
			"pause": flow.Pause{}, "resume": flow.Resume{}, "stop": flow.Stop{}, "cancel": flow.Cancel{}, "retry": flow.Retry{},
		} {
			refused(s.ID(), flow.StateCompleted, signal, trigger)
		}
		c.Finished(s.ID())
	})
}

func TestAnAnswerThatDoesNotFitIsRefused(t *testing.T) {
	stage.InCompany(t, stage.Attended(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, inquiry, _ := inquiring(c, join())
		before := c.Log(s.ID())
		for field, answer := range map[string]flow.Answer{
			"option": {Inquiry: inquiry, Option: "dance"},
			"model":  {Inquiry: inquiry, Option: flow.OptionModel, Model: "nobody/model"},
			"by":     {Inquiry: inquiry, Option: flow.OptionDrop, By: "Ada"},
		} {
			failure := stage.RequireKind(t, join().Control(t.Context(), s.ID(), answer), provider.KindValidation)
			assert.Equal(t, field, failure.Field)
		}
		for _, model := range []string{"", "test", "/", "test/"} {
			err := join().Control(t.Context(), s.ID(), flow.Answer{Inquiry: inquiry, Option: flow.OptionModel, Model: model})
			assert.Equal(t, "model", stage.RequireKind(t, err, provider.KindValidation).Field, "%q", model)
		}
		assert.Equal(t, before, c.Log(s.ID()))
	})
}

func TestWhatIsNoControl(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s := join().Begun()
		stage.Pass(500 * time.Millisecond)
		before := c.Log(s.ID())
		start := *body.As[flow.Start](before[0])
		for _, signal := range []flow.Signal{
			nil, start,
			flow.Edit{Config: c.Config},
			flow.Validate{},
			flow.Validated{OK: true},
			flow.Tick{},
			flow.Opened{},
			flow.Result{Call: stage.AdasOpening, Attempt: 1, Text: "Forged."},
			flow.Failed{Call: stage.AdasOpening, Attempt: 1, Error: &debate.Error{Kind: provider.KindAPI}},
			flow.Lost{Call: stage.AdasOpening, Attempt: 1},
			&flow.Pause{},
		} {
			for _, id := range []string{s.ID(), "nobody-knows"} {
				stage.RequireKind(t, join().Control(t.Context(), id, signal), provider.KindValidation)
			}
		}
		assert.Equal(t, before, c.Log(s.ID()))
		for _, id := range []string{"nobody-knows", "", "../secret"} {
			for _, signal := range []flow.Signal{flow.Pause{}, flow.Answer{Inquiry: "i", Text: "t"}} {
				stage.RequireKind(t, join().Control(t.Context(), id, signal), provider.KindValidation)
			}
		}
		require.ErrorIs(t, join().Control(t.Context(), "nobody-knows", flow.Pause{}), debate.ErrNotFound)
		done, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, join().Control(done, s.ID(), flow.Pause{}), context.Canceled)
		assert.Equal(t, before, c.Log(s.ID()))
	})
}

// A pointer to a control is a control to the compiler. It is refused in the same words wherever it is given.
func TestAPointerToAControlIsRefused(t *testing.T) {
	stage.InCompany(t, stage.Attended(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, inquiry, _ := inquiring(c, join())
		other, before := join(), c.Log(s.ID())
		require.NoError(t, s.Close())
		answer := &flow.Answer{Inquiry: inquiry, Option: flow.OptionRetry}
		again := other.Opened(s.ID())
		controls := map[string]func(signal flow.Signal) error{
			"Engine.Control":  func(signal flow.Signal) error { return join().Control(t.Context(), s.ID(), signal) },
			"Session.Control": func(signal flow.Signal) error { return again.Control(t.Context(), signal) },
			"Engine.Advance": func(signal flow.Signal) error {
				_, err := join().Advance(t.Context(), s.ID(), "runtime", signal)
				return err
			},
		}
		for name, control := range controls {
			for what, signal := range map[string]flow.Signal{
				"flow.Answer": answer, "flow.Pause": &flow.Pause{}, "flow.Amendment": (*flow.Amendment)(nil),
			} {
				err := control(signal)
				require.ErrorContains(t, err, "give the value, a "+what+",", name)
				stage.RequireKind(t, err, provider.KindValidation)
			}
		}
		assert.Equal(t, before, c.Log(s.ID()))
		require.NoError(t, controls["Engine.Control"](*answer))
	})
}

// A control that meets a store which fails has an error, and the debate goes on.
func TestAControlOfAStoreThatFails(t *testing.T) {
	stage.InCompany(t, stage.TwoDebaters(), func(t *testing.T, c *stage.Company, join func() *stage.Member) {
		s, other := join().Begun(), join()
		stage.Pass(500 * time.Millisecond)
		for _, op := range []string{"read", "append"} {
			other.Goes(func(_ context.Context, which string, do func() error) error {
				if which == op {
					return stage.ErrBroken
				}
				return do()
			})
			require.ErrorIs(t, other.Control(t.Context(), s.ID(), flow.Pause{}), stage.ErrBroken)
		}
		stage.Ended(t, s)
		c.Finished(s.ID())
	})
}
