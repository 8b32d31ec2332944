package failure_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/flow/flowtest"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/scripted"
)

// dialing returns a client that connects in this way.
func dialing(dial func(ctx context.Context) error) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return nil, dial(ctx)
	}}}
}

func refused(context.Context) error {
	return &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

// silent is a host that answers nothing for half a minute.
func silent() *http.Client {
	dialer := &net.Dialer{ControlContext: func(ctx context.Context, _, _ string, _ syscall.RawConn) error {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(30 * time.Second):
			return errors.New("nothing has come back")
		}
	}}
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, network, "127.0.0.1:9")
	}}}
}

// A provider that has never answered in a conversation is tried for 15 s at most. Then the error says which it is, where it should be,
// and what helps.
func TestAProviderThatWasNeverReached(t *testing.T) {
	unknown := func(context.Context) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "models.test", IsNotFound: true}}
	}
	byProxy := func() *http.Client {
		client := dialing(refused)
		client.Transport.(*http.Transport).Proxy = http.ProxyURL(&url.URL{Scheme: "http", Host: "proxy.test:3128"})
		return client
	}
	slowly := func(ctx context.Context) error {
		stage.Pass(8 * time.Second)
		return unknown(ctx)
	}
	hasty := func() *http.Client {
		client := silent()
		client.Timeout = 5 * time.Second
		return client
	}
	for name, tc := range map[string]struct {
		client  func() *http.Client
		timeout time.Duration // of a call
		says    string
	}{
		"refused":                         {func() *http.Client { return dialing(refused) }, 0, "connection refused"},
		"no such host":                    {func() *http.Client { return dialing(unknown) }, 0, "no such host"},
		"no such host, after 8 s":         {func() *http.Client { return dialing(slowly) }, 0, "no such host"},
		"a proxy refuses":                 {byProxy, 0, "proxyconnect"},
		"silence":                         {silent, 0, "within 9s"},
		"silence beyond a call's timeout": {silent, 5 * time.Second, "in time"},
		"silence beyond the client's":     {hasty, 0, "before the client's timeout has passed"},
	} {
		for _, attended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/attended: %t", name, attended), stage.Bubbled(func(t *testing.T) {
				config := stage.Patient(attended)
				config.TurnTimeout = tc.timeout
				engine, _ := stage.Engine(config)
				models := openaicompat.Compatible("https://models.test/v1", "key-canary-5f1d7a0c93be")
				models.Client = tc.client()
				engine.Providers["test"] = models
				began := time.Now()
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				started := time.Now()
				defer stage.Pass(time.Minute) // a dial goes on without its request
				defer session.Close()
				record, err := session.Wait(t.Context())
				assert.LessOrEqual(t, time.Since(started), 15*time.Second)
				if tc.timeout == 0 {
					assert.LessOrEqual(t, time.Since(began), 20*time.Second, "with the check of the models before")
				}
				if attended {
					q := stage.Question(t, record, err)
					err = q.Failure
					assert.Equal(t, 1, strings.Count(q.Question, "HTTPS_PROXY"), q.Question)
				}
				stage.RequireKind(t, err, provider.KindNetwork)
				for _, says := range []string{"the provider test was not reached in ", "https://models.test", tc.says, "HTTPS_PROXY"} {
					assert.ErrorContains(t, err, says)
				}
				assert.NotContains(t, err.Error(), "canary")
				for _, f := range record.Failures {
					assert.True(t, f.Unreached)
				}
				assert.Zero(t, record.Spent().Cost)
			}))
		}
	}
}

// failsWith lets requests fail with what fails returns, by their number; nil: the provider answers.
func failsWith(p *scripted.Provider, fails func(request int) error) {
	reply, n := p.Reply, atomic.Int64{}
	p.Reply = func(req *provider.Request) scripted.Reply {
		if err := fails(int(n.Add(1))); err != nil {
			return scripted.Reply{Err: err}
		}
		return reply(req)
	}
}

var errUnreached = &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "nobody is there"}

// Patience is for what has worked in this conversation. A refusal is an answer too, and so is the silence that follows a request.
func TestPatienceIsForWhatHasAnswered(t *testing.T) {
	for name, first := range map[string]error{
		"a reply":   nil,
		"a refusal": &provider.Error{Kind: provider.KindRateLimit, Status: 429, RetryAfter: time.Second, Message: "later"},
		"a silence": &provider.Error{Kind: provider.KindTimeout, Message: "no byte came for 5m"},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Patient(false)
			engine, p := stage.Engine(config)
			began := time.Now()
			failsWith(p, func(request int) error {
				switch {
				case request == 1:
					return first
				case time.Since(began) < 5*time.Minute:
					return errUnreached
				default:
					return nil
				}
			})
			record := stage.Run(t, engine, config)
			assert.Equal(t, flow.StateCompleted, record.State)
			assert.GreaterOrEqual(t, time.Since(began), 5*time.Minute)
		}))
	}
}

// A call that has waited in a queue until its time was over has not reached its provider. Its wait does not count either: the provider
// is tried for 15 s from the first time on that somebody tries to connect to it.
func TestAWaitInAQueueIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(false)
		engine, p := stage.Engine(config)
		var refused []time.Time
		failsWith(p, func(request int) error {
			if request == 1 {
				return &provider.Error{Kind: provider.KindTimeout, NotSent: true, Message: "no turn came"}
			}
			refused = append(refused, time.Now())
			return errUnreached
		})
		n := 0
		engine.Providers["test"] = stage.ProviderFunc(
			func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
				if n++; n <= 2 {
					resume := provider.Waiting(ctx)
					stage.Pass(2 * time.Minute)
					resume()
				}
				return p.Generate(ctx, req, emit)
			})
		session := stage.Started(t, engine, config)
		_, err := session.Wait(t.Context())
		assert.Regexp(t, `the provider test was not reached in 1?\d+s: nobody is there`, stage.RequireKind(t, err, provider.KindNetwork).Error())
		assert.Greater(t, len(refused), 1)
		assert.LessOrEqual(t, refused[len(refused)-1].Sub(refused[0]), 15*time.Second)
	})
}

// Nobody waits for the dead before a fallback of another provider is asked, nor for each call anew, and the retries of a policy end in time
// too.
func TestTheUnreachedIsNotTriedForLong(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"a fallback": func(c *debate.Config) { c.Participants[0].Fallbacks = []string{"test/debater"} },
		"a rule": func(c *debate.Config) {
			c.Participants, c.OnFailure = stage.Crew(5).Participants, stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
			c.Participants[1].Model, c.Participants[2].Model = "dead/debater", "dead/debater"
		},
		"many retries": func(c *debate.Config) {
			c.Retry = &flow.RetryPolicy{Max: map[flow.Kind]int{provider.KindNetwork: 1000}, Base: time.Second, Cap: time.Second, Jitter: 1}
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Patient(false)
			change(&config)
			config.Participants[0].Model = "dead/debater"
			engine, _ := stage.Engine(config)
			engine.Providers["dead"] = &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
				if config.Retry != nil {
					return scripted.Reply{Err: errUnreached}
				}
				return scripted.Reply{Err: errUnreached, Delay: 9 * time.Second}
			}}
			began := time.Now()
			session := stage.Started(t, engine, config)
			_, err := session.Wait(t.Context())
			assert.LessOrEqual(t, time.Since(began), 20*time.Second)
			assert.Equal(t, name == "a fallback", err == nil, "%v", err)
		}))
	}
}

// The time of a pause does not count, and a person who chooses to wait is obeyed.
func TestWhatIsTriedForLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(true)
		engine, p := stage.Engine(config)
		var over atomic.Bool
		var asked []time.Time
		failsWith(p, func(int) error {
			if over.Load() {
				return nil
			}
			asked = append(asked, time.Now())
			return errUnreached
		})
		session := stage.Started(t, engine, config)
		stage.Pass(3 * time.Second)
		require.NoError(t, session.Pause(t.Context()))
		stage.Pass(time.Hour)
		paused := len(asked)
		require.NoError(t, session.Resume(t.Context()))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		assert.Greater(t, len(asked), paused, "it is tried again after the pause")
		failure := stage.Question(t, record, err).Failure
		assert.ErrorContains(t, failure, "was not reached in ")
		assert.NotContains(t, failure.Error(), "was not reached in 1h")

		chosen := time.Now()
		require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionWait}))
		stage.Pass(5 * time.Minute)
		synctest.Wait()
		assert.True(t, slices.ContainsFunc(asked, func(at time.Time) bool { return at.Sub(chosen) > 4*time.Minute }), "it is waited for")
		over.Store(true)
		stage.Ended(t, session)
	})
}

// Who tries again has changed something: the provider is tried as long as at first, whoever decides so.
func TestARetryTriesTheUnreachedAsLongAsAtFirst(t *testing.T) {
	for name, again := range map[string]func(ctx context.Context, s *debate.Session, r *debate.Record) error{
		"the program": func(ctx context.Context, s *debate.Session, _ *debate.Record) error { return s.Retry(ctx) },
		"a person": func(ctx context.Context, s *debate.Session, r *debate.Record) error {
			return s.Answer(ctx, flow.Answer{Inquiry: r.Inquiries[0].ID, Option: flow.OptionRetry})
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.Patient(name == "a person")
			engine, p := stage.Engine(config)
			asked := 0
			failsWith(p, func(int) error {
				asked++
				return errUnreached
			})
			session := stage.Started(t, engine, config)
			record, err := session.Wait(t.Context())
			require.Error(t, err)
			first := asked
			require.Greater(t, first, 1)
			stage.Pass(time.Hour)
			began := time.Now()
			require.NoError(t, again(t.Context(), session, record))
			record, err = session.Wait(t.Context())
			if name == "a person" {
				err = stage.Question(t, record, err).Failure
			}
			assert.Regexp(t, `was not reached in 1?\ds: `, err.Error())
			assert.LessOrEqual(t, time.Since(began), 15*time.Second)
			assert.Equal(t, first, asked-first, "as often as at first")
		}))
	}
}

// Runtimes of others may say no more than that the provider was not reached.
func TestTheUnreachedWithoutAReason(t *testing.T) {
	config := stage.Patient(false)
	engine, _ := stage.Engine(config)
	h := flowtest.Begin(t, engine, config)
	for attempt := 1; h.Record().Failure == nil && attempt < 9; attempt++ {
		h.Do(flow.Failed{Call: stage.AdasOpening, Attempt: attempt, Error: &flow.Error{Kind: provider.KindNetwork}, Unreached: true})
	}
	require.NotNil(t, h.Record().Failure)
	assert.Regexp(t, `the provider test was not reached in \S+: no reason is known$`, h.Record().Failure.Error())
}

// That the time of code of the program is over is all that is said of it, whatever it was doing: only of a model's provider it helps to
// know that it could not be connected to.
func TestATimeoutOfAJudgeIsOne(t *testing.T) {
	for name, says := range map[string]error{"a dial": refused(t.Context()), "a provider": errUnreached} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Judging.Judges[0] = debate.JudgeConfig{Judge: "own"}
			engine, _ := stage.Engine(config)
			engine.Judges = map[string]debate.Judge{"own": debate.JudgeFunc(func(ctx context.Context, _ debate.JudgeTask) (json.RawMessage, error) {
				<-ctx.Done()
				return nil, says
			})}
			session := stage.Started(t, engine, config)
			_, err := session.Wait(t.Context())
			stage.RequireKind(t, err, provider.KindTimeout)
		}))
	}
}
