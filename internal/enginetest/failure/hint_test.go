package failure_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// amending returns an amendment of a field, by its key in JSON, that changes something.
func amending(t *testing.T, field, kind string) (a flow.Amendment) {
	t.Helper()
	key, who, _ := strings.Cut(field, ".")
	value := map[string]string{
		"models": `{"` + who + `":{"model":"test/other"}}`, "context": `"sliding"`, "turnTimeout": `"5m"`, "timeouts": `{"` + kind + `":"5m"}`,
		"summarizer": `"test/other"`, "roundTimeout": `"5m"`, "unattended": `false`,
	}[key]
	require.NotEmpty(t, value, field)
	require.NoError(t, json.Unmarshal([]byte(`{"`+key+`":`+value+`}`), &a))
	return a
}

// TestWhatAHintNamesMendsTheFailure: in each flow, each kind of failure of a call has its own hint. Every field that it says is to be
// amended can be amended there, and with the cause mended a retry leads the conversation to its end.
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
	for name, of := range map[string]struct {
		config func() flow.Config
		call   string // that fails
		kind   string // of that call
	}{
		"debate": {func() flow.Config {
			c := flows.Debate("")
			c.Retry, c.OnFailure = never, stop
			return c
		}, "r1.opening.Ada", "opening"},
		"deliberation": {func() flow.Config {
			c := flows.Deliberation("")
			c.Retry, c.OnFailure = never, stop
			return c
		}, "r1.propose.ada", "proposal"},
		"arbiter": {func() flow.Config {
			c := flows.Arbitration("")
			c.Retry, c.OnFailure, c.MaxFailures = never, stop, 1
			return c
		}, "d1", "decision"},
	} {
		hints := make(map[string]provider.Kind)
		for _, kind := range kinds {
			t.Run(name+"/"+string(kind), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var mended atomic.Bool
					engine := flows.Engine(&store.Memory{}, func(_ context.Context, req *provider.Request) error {
						if !mended.Load() && strings.Contains(req.ID, "/"+of.call) {
							return &provider.Error{Kind: kind, Status: 400, Message: "no"}
						}
						return nil
					})
					session, err := engine.Start(t.Context(), of.config())
					require.NoError(t, err)
					defer session.Close()
					record, err := session.Wait(t.Context())
					require.Error(t, err)
					require.NotNil(t, record.Failure, "%s", record.State)
					failure := record.Failure
					if failure.Field == "maxFailures" { // of an arbiter, which goes on after what passes
						assert.Contains(t, failure.Hint(), "maxFailures")
					} else {
						assert.Equal(t, kind, failure.Kind)
						assert.Empty(t, hints[failure.Hint()], failure.Hint())
						hints[failure.Hint()] = kind
						assert.NotEmpty(t, failure.Amends(), "%s", kind)
						assert.True(t, failure.Retryable())
					}
					for _, field := range failure.Amends() {
						require.NoError(t, session.Amend(t.Context(), amending(t, field, of.kind)), field)
					}
					mended.Store(true)
					require.NoError(t, session.Retry(t.Context()))
					record, err = session.Wait(t.Context())
					require.NoError(t, err)
					assert.Equal(t, flow.StateCompleted, record.State)
				})
			})
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
		"calls": {debate.Budget{HardCalls: 4}, "budget.hardCalls", " of 4 calls", "^Amend budget.hardCalls to about [0-9]+ calls, then retry.$"},
		"time": {
			debate.Budget{HardTime: time.Nanosecond}, "budget.hardTime", " of 1ns", "^Amend budget.hardTime to a higher limit, then retry.$",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := stage.TwoDebaters()
				config.Budget = &tc.budget
				_, session, _ := stage.Stranded(t, config, func(p *scripted.Provider) {
					reply := p.Reply
					p.Reply = func(req *provider.Request) scripted.Reply {
						r := reply(req)
						r.Delay = time.Millisecond
						return r
					}
				})
				record, err := session.Record(t.Context())
				require.NoError(t, err)
				assert.Equal(t, tc.field, record.Failure.Field)
				assert.Equal(t, []string{tc.field}, record.Failure.Amends())
				require.ErrorContains(t, record.Failure, tc.says)
				assert.Regexp(t, tc.hint, record.Failure.Hint())
			})
		})
	}
}

// TestWhatTheStateForbidsSaysWhatHelps: the hint names the operation that leads on.
func TestWhatTheStateForbidsSaysWhatHelps(t *testing.T) {
	hint := func(err error) string { return stage.RequireKind(t, err, provider.KindState).Hint() }
	engine := flows.Engine(&store.Memory{}, nil)
	session, err := engine.Start(t.Context(), flows.Debate("over"))
	require.NoError(t, err)
	defer session.Close()
	_, err = session.Wait(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "Fork the conversation, which is over.", hint(session.Pause(t.Context())))
	assert.Equal(t, "Send nothing: the flow takes no input.", hint(engine.Control(t.Context(), "over", flow.Sent{Trigger: "note"})))

	_, stranded, _ := stage.StrandedWith(t, attended())
	assert.Equal(t, "Answer what Record.Inquiries asks.", hint(stranded.Retry(t.Context())))
}

// attended is a debate that asks a person.
func attended() debate.Config {
	c := stage.TwoDebaters()
	c.Unattended = false
	return c
}
