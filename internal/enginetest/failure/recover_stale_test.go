package failure_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// A question is open when something else leads to the error state. Retry makes the call again that was asked about: the
// question is settled with it, and an answer that comes late changes nothing.
func TestRetrySettlesTheQuestionsAboutItsCalls(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		befall func(req *provider.Request) scripted.Reply // Ben's, who is slower than Ada
		mend   *flow.Amendment
	}{
		"another failure": {
			func(c *debate.Config) {
				c.OnFailure = stage.Rules(debate.FailureRule{Kinds: []debate.Kind{provider.KindAuthentication}, Do: flow.OptionFail})
			},
			func(*provider.Request) scripted.Reply {
				return scripted.Reply{Delay: time.Second, Err: &provider.Error{Kind: provider.KindAuthentication, Message: "no"}}
			},
			nil,
		},
		"the hard limit": {
			func(c *debate.Config) { c.Budget, c.TurnTimeout = &debate.Budget{HardTime: time.Hour}, 3*time.Hour },
			func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "At last.", Delay: 2 * time.Hour} },
			&flow.Amendment{Budget: &debate.Budget{HardTime: 100 * time.Hour}},
		},
	} {
		for _, option := range []flow.Option{flow.OptionSkip, flow.OptionDrop, flow.OptionRetry} {
			t.Run(name+"/"+string(option), stage.Bubbled(func(t *testing.T) {
				config := stage.Crew(3)
				config.Mode, config.Unattended = debate.Simultaneous, false
				tc.change(&config)
				engine, p := stage.Engine(config)
				stage.Abiding(p)
				reply, mended := p.Reply, false
				p.Reply = func(req *provider.Request) scripted.Reply {
					switch {
					case mended || req.Schema != nil:
					case req.Self == "Ada":
						return scripted.Reply{Err: &provider.Error{Kind: provider.KindRefusal, Message: "no"}}
					case req.Self == "Ben":
						return tc.befall(req)
					}
					return reply(req)
				}
				session := stage.Started(t, engine, config)
				record, err := session.Wait(t.Context())
				require.Error(t, err)
				require.Equal(t, flow.StateError, record.State)
				require.Len(t, record.Inquiries, 1)
				question := record.Inquiries[0].ID
				mended = true
				if tc.mend != nil {
					require.NoError(t, session.Control(t.Context(), *tc.mend))
				}
				require.NoError(t, session.Retry(t.Context()))
				record = stage.SessionRecord(t, session)
				assert.Empty(t, record.Inquiries)
				stage.RequireKind(t, session.Answer(t.Context(), flow.Answer{Inquiry: question, Option: option, By: "Ada"}), provider.KindState)
				record = stage.Ended(t, session)
				assert.Len(t, record.Turns, 9)
				assert.Empty(t, record.Dropped())
			}))
		}
	}
}

// A log may hold a question about a call that is made again all the same. A choice about it is refused, and breaks nothing.
func TestAChoiceAboutACallThatIsNotFailedIsRefused(t *testing.T) {
	config := stage.Crew(3)
	config.Unattended = false
	engine, p := stage.Engine(config)
	stage.Befall(p, provider.KindRefusal, stage.Said("Ada", 1))
	session := stage.Started(t, engine, config)
	record := stage.AwaitsInput(t, session)
	require.Len(t, record.Inquiries, 1)
	l := stage.LogOf(t, engine, record.ID)
	last := l.Events[len(l.Events)-1]
	again := *body.As[flow.Intent](l.Events[l.Index(t, flow.EventIntent, 0)])
	again.Attempt++
	last.Seq, last.Body = last.Seq+1, &again
	for _, option := range record.Inquiries[0].Options {
		core := stage.CoreOf(t, engine, "hostile", append(l.Copied(t), last))
		_, err := core.Step(flow.Input{At: last.At, Signal: flow.Answer{Inquiry: record.Inquiries[0].ID, Option: option, Model: "test/spare"}})
		stage.RequireKind(t, err, provider.KindState)
		require.NoError(t, core.Err())
	}
}
