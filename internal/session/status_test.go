package session_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestWhatAParticipantDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.Retry = &debate.RetryPolicy{Jitter: 1} // or the moments below would be a matter of luck
		engine, p := stage.Engine(config)
		model := engine.Models["test/debater"]
		model.Window = 20_000
		engine.Models["test/debater"] = model
		stage.Slowly(p)
		reply, failed := p.Reply, 0
		p.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			if strings.Contains(req.ID, "r1.opening.Ben") && failed < 2 {
				failed++
				r.Err = &provider.Error{Kind: provider.KindRateLimit, Status: 429, RetryAfter: 30 * time.Second}
				if failed == 2 {
					r.Err = &provider.Error{Kind: provider.KindNetwork, NotSent: true}
				}
			}
			return r
		}
		session := stage.Started(t, engine, config)
		states := func() (ada, ben flow.ParticipantState) {
			record := stage.SessionRecord(t, session)
			all := record.Participants()
			return all[0], all[1]
		}

		stage.Pass(500 * time.Millisecond)
		ada, ben := states()
		assert.Equal(t, flow.StatusSpeaking, ada.Status)
		assert.Equal(t, flow.StatusActive, ben.Status)
		assert.Empty(t, ben.Model)

		stage.Pass(time.Second) // Ben has been turned away
		ada, ben = states()
		assert.Equal(t, flow.StatusActive, ada.Status)
		assert.Equal(t, 1, ada.Turns)
		assert.Equal(t, "test/debater", ada.Model)
		assert.InDelta(t, 100*150.0/20_000, ada.ContextUsed, 0.001)
		assert.Equal(t, flow.StatusRateLimited, ben.Status)
		assert.WithinDuration(t, time.Now().Add(30*time.Second), ben.RetryAt, 2*time.Second)
		assert.Equal(t, 1, ben.Account.Requests)

		stage.Pass(30 * time.Second)
		_, ben = states()
		assert.Equal(t, flow.StatusRetrying, ben.Status)

		record := stage.Ended(t, session)
		ben = record.Participant("Ben")
		assert.Equal(t, flow.StatusActive, ben.Status)
		assert.Equal(t, 3, ben.Turns)
		assert.Equal(t, 5, ben.Account.Requests)
		assert.Equal(t, "test/judge", record.Participant("judge").Model)
		assert.Greater(t, record.Duration(), 30*time.Second)

		var sum debate.Money
		for _, a := range record.SpentByModel() {
			sum += a.Cost
		}
		assert.Equal(t, record.Spent().Cost, sum)
		sum = 0
		for _, a := range record.SpentByParticipant() {
			sum += a.Cost
		}
		assert.Equal(t, record.Spent().Cost, sum)
		assert.Zero(t, record.SpentInRound(7).Requests)
		assert.Zero(t, record.Reserved())
	})
}

func TestAParticipantWhoseCallFailsForGood(t *testing.T) {
	for kind, want := range map[debate.Kind]flow.Status{
		provider.KindQuota:           flow.StatusFailed,
		provider.KindContextOverflow: flow.StatusContextExceeded,
	} {
		for _, attended := range []bool{false, true} {
			config := stage.TwoDebaters()
			config.Unattended = !attended
			engine, p := stage.Engine(config)
			p.Reply = func(*provider.Request) scripted.Reply {
				return scripted.Reply{Err: &provider.Error{Kind: kind, Status: 400}}
			}
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			record, err := session.Wait(t.Context())
			if attended {
				err = stage.Question(t, record, err).Failure
			}
			require.ErrorIs(t, err, &debate.Error{Kind: kind}, "%v", err)
			assert.Equal(t, want, record.Participant("Ada").Status)
			require.NoError(t, session.Close())
		}
	}
}

func TestTheLogHoldsNoText(t *testing.T) {
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	var log bytes.Buffer
	engine.Logger = slog.New(slog.NewTextHandler(&log, nil))
	reply, failed := p.Reply, false
	p.Reply = func(req *provider.Request) scripted.Reply {
		r := reply(req)
		if strings.Contains(req.ID, "r2.") && !failed {
			failed = true
			r.Err = &provider.Error{Kind: provider.KindInvalidResponse, Message: "something"}
		}
		return r
	}
	config.Retry = &debate.RetryPolicy{Base: time.Nanosecond, Jitter: time.Nanosecond}
	stage.Run(t, engine, config)
	assert.Contains(t, log.String(), "state=completed")
	assert.Contains(t, log.String(), "kind=invalid_response")
	assert.NotContains(t, log.String(), "speaks in round")
	assert.NotContains(t, log.String(), config.Topic)
}

// deriving is a provider that derives contexts from the one it is given, as net/http does.
type deriving struct {
	*scripted.Provider

	saw chan error
}

func (p deriving) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if _, bounded := ctx.Deadline(); !bounded {
		p.saw <- nil
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(inner, func() {})
	defer stop()
	select {
	case <-inner.Done():
		p.saw <- context.Cause(inner)
		return nil, ctx.Err()
	case <-time.After(time.Hour):
		return p.Provider.Generate(ctx, req, emit)
	}
}

func TestCallsEndInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.TurnTimeout = 90 * time.Second
		config.Retry = &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindTimeout: 0}}
		for _, most := range []int{0, 3} {
			engine, p := stage.Engine(config)
			engine.MaxCalls = most
			saw := make(chan error, 1)
			engine.Providers["test"] = deriving{Provider: p, saw: saw}
			began := time.Now()
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			_, err = session.Wait(t.Context())
			require.ErrorIs(t, err, &debate.Error{Kind: provider.KindTimeout}, "%v", err)
			assert.Equal(t, 90*time.Second, time.Since(began))
			require.ErrorIs(t, <-saw, context.DeadlineExceeded)
			require.NoError(t, session.Retry(t.Context()))
			stage.Pass(time.Second)
			require.NoError(t, session.Cancel(t.Context()))
			require.ErrorIs(t, <-saw, context.Canceled)
			require.NoError(t, session.Close())
		}
	})
}
