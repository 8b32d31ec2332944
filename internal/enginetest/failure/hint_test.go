package failure_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// amending returns an amendment of a field, by its key in JSON, that mends what mishaps do.
func amending(t *testing.T, field string) (a flow.Amendment) {
	t.Helper()
	key, of, _ := strings.Cut(field, ".")
	value := map[string]string{
		"models": `{"` + of + `":{"model":"test/other"}}`, "context": `"sliding"`, "turnTimeout": `"5m"`, "timeouts": `{"` + of + `":"5m"}`,
	}[key]
	require.NotEmpty(t, value, field)
	require.NoError(t, json.Unmarshal([]byte(`{"`+key+`":`+value+`}`), &a))
	return a
}

// mishap lets the provider fail with each kind: other models answer, and a reply takes four minutes in place of a timeout.
func mishap(ctx context.Context, req *provider.Request, kind provider.Kind) error {
	switch {
	case kind == provider.KindTimeout:
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(4 * time.Minute): // of the bubble
			return nil
		}
	case req.Model == "other":
		return nil
	default:
		return &provider.Error{Kind: kind, Status: 400, Message: "no"}
	}
}

// TestWhatAHintNamesMendsTheFailure: in each flow, each kind of failure of a call has its own hint. What it says is to be amended can be
// amended there, and nothing else is needed for a retry to lead the conversation to its end.
func TestWhatAHintNamesMendsTheFailure(t *testing.T) {
	never := &flow.RetryPolicy{Max: map[flow.Kind]int{
		provider.KindNetwork: 0, provider.KindRateLimit: 0, provider.KindAPI: 0, provider.KindTimeout: 0, provider.KindInvalidResponse: 0,
	}}
	stop := []flow.FailureRule{{Do: flow.OptionFail}}
	kinds := []provider.Kind{
		provider.KindNetwork, provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout, provider.KindContextOverflow,
		provider.KindAuthentication, provider.KindContentFilter, provider.KindRefusal, provider.KindInvalidResponse, provider.KindValidation,
		provider.KindUnknown,
	}
	ofDebate := func() flow.Config {
		c := flows.Debate("")
		c.Retry, c.OnFailure = never, stop
		return c
	}
	ofDeliberation := func() flow.Config {
		c := flows.Deliberation("")
		c.Retry, c.OnFailure = never, stop
		return c
	}
	for name, of := range map[string]struct {
		config func() flow.Config
		call   string // that fails
		time   string // that bounds it
	}{
		"debate":                     {ofDebate, "r1.opening.Ada", "turnTimeout"},
		"the judge of a debate":      {ofDebate, "verdict", "timeouts.verdict"},
		"deliberation":               {ofDeliberation, "r1.propose.ada", "turnTimeout"},
		"the judge of deliberations": {ofDeliberation, "synthesis", "timeouts.synthesis"},
		"arbiter": {func() flow.Config {
			c := flows.Arbitration("")
			c.Retry, c.OnFailure, c.MaxFailures = never, stop, 1
			return c
		}, "d1", "turnTimeout"},
	} {
		hints := make(map[string]provider.Kind)
		for _, kind := range kinds {
			t.Run(name+"/"+string(kind), stage.Bubbled(func(t *testing.T) {
				engine := flows.Engine(&store.Memory{}, func(ctx context.Context, req *provider.Request) error {
					if strings.Contains(req.ID, "/"+of.call) {
						return mishap(ctx, req, kind)
					}
					return nil
				})
				session := stage.Started(t, engine, of.config())
				record, err := session.Wait(t.Context())
				require.Error(t, err)
				require.NotNil(t, record.Failure, "%s", record.State)
				failure := record.Failure
				assert.Equal(t, kind, failure.Kind)
				assert.Empty(t, hints[failure.Hint()], failure.Hint())
				hints[failure.Hint()] = kind
				require.NotEmpty(t, failure.Amends(), "%s", kind)
				assert.True(t, failure.Retryable())
				assert.Equal(t, kind == provider.KindTimeout, failure.Amends()[0] == of.time, failure.Amends())
				require.NoError(t, session.Control(t.Context(), amending(t, failure.Amends()[0])))
				require.NoError(t, session.Retry(t.Context()))
				record = stage.Ended(t, session)
				assert.Equal(t, flow.StateCompleted, record.State)
			}))
		}
	}
}

// TestAHardLimitSaysWhichItIs, and to how much it is to be raised where that is known.
func TestAHardLimitSaysWhichItIs(t *testing.T) {
	for name, tc := range map[string]struct {
		budget     debate.Budget
		field      string
		says, hint string
	}{
		"calls": {debate.Budget{HardCalls: 4}, "budget.hardCalls", " of 4 calls", "^Amend budget.hardCalls to about [0-9]+ calls, beside the other limits, then retry.$"},
		"time": {
			debate.Budget{HardTime: time.Nanosecond}, "budget.hardTime", " of 1ns", "^Amend budget.hardTime to a higher limit, beside the others, then retry.$",
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Budget = &tc.budget
			_, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) {
				stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
					r.Delay = time.Millisecond
				})
			})
			record := stage.SessionRecord(t, session)
			assert.Equal(t, tc.field, record.Failure.Field)
			assert.Equal(t, []string{tc.field}, record.Failure.Amends())
			require.ErrorContains(t, record.Failure, tc.says)
			assert.Regexp(t, tc.hint, record.Failure.Hint())
		}))
	}
}

// TestWhatTheStateForbidsSaysWhatHelps: the hint names the operation that leads on.
func TestWhatTheStateForbidsSaysWhatHelps(t *testing.T) {
	hint := func(err error) string { return stage.RequireKind(t, err, provider.KindState).Hint() }
	engine := flows.Engine(&store.Memory{}, nil)
	session := stage.Started(t, engine, flows.Debate("over"))
	stage.Ended(t, session)
	assert.Equal(t, "Fork the conversation, which is over.", hint(session.Pause(t.Context())))
	assert.Equal(t, "Send nothing: the flow takes no input.", hint(engine.Control(t.Context(), "over", flow.Sent{Trigger: "note"})))

	_, stranded, _ := stage.StrandedWith(t, attended())
	assert.Equal(t, "Answer the open inquiries.", hint(stranded.Retry(t.Context())))
}

// attended is a debate that asks a person.
func attended() debate.Config {
	c := stage.TwoDebaters()
	c.Unattended = false
	return c
}
