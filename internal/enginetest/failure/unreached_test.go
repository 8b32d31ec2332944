package failure_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
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
	} {
		for _, attended := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/attended: %t", name, attended), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
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
						err = stage.Question(t, record, err).Failure
					}
					stage.RequireKind(t, err, provider.KindNetwork)
					for _, says := range []string{"the provider test could not be reached in ", "https://models.test", tc.says, "HTTPS_PROXY"} {
						assert.ErrorContains(t, err, says)
					}
					assert.NotContains(t, err.Error(), "canary")
					for _, f := range record.Failures {
						assert.True(t, f.Unreached)
					}
				})
			})
		}
	}
}

// unreachedFrom lets the requests fail from the one on that this hits, with what it returns; nil: the provider answers.
func unreachedFrom(p *scripted.Provider, fails func(request int, req *provider.Request) error) {
	reply, n := p.Reply, atomic.Int64{}
	p.Reply = func(req *provider.Request) scripted.Reply {
		if err := fails(int(n.Add(1)), req); err != nil {
			return scripted.Reply{Err: err}
		}
		return reply(req)
	}
}

var errUnreached = &provider.Error{Kind: provider.KindNetwork, NotSent: true, Message: "nobody is there"}

// Patience is for what has worked in this conversation, and a refusal is an answer too.
func TestPatienceIsForWhatHasAnswered(t *testing.T) {
	busy := &provider.Error{Kind: provider.KindRateLimit, Status: 429, RetryAfter: time.Second, Message: "later"}
	for name, first := range map[string]error{"a reply": nil, "a refusal": busy} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := stage.Patient(false)
				engine, p := stage.Engine(config)
				began := time.Now()
				unreachedFrom(p, func(request int, _ *provider.Request) error {
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
			})
		})
	}
}

// Nobody waits for the dead before a fallback of another provider is asked, and the retries of a policy end in time too.
func TestTheUnreachedIsNotTriedForLong(t *testing.T) {
	for name, change := range map[string]func(*debate.Config){
		"a fallback": func(c *debate.Config) { c.Participants[0].Fallbacks = []string{"test/debater"} },
		"many retries": func(c *debate.Config) {
			c.Retry = &flow.RetryPolicy{Max: map[flow.Kind]int{provider.KindNetwork: 1000}, Base: time.Second, Cap: time.Second, Jitter: 1}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := stage.Patient(false)
				change(&config)
				config.Participants[0].Model = "dead/debater"
				engine, _ := stage.Engine(config)
				engine.Providers["dead"] = &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
					return scripted.Reply{Err: errUnreached}
				}}
				began := time.Now()
				session, err := engine.Start(t.Context(), config)
				require.NoError(t, err)
				defer session.Close()
				_, err = session.Wait(t.Context())
				assert.LessOrEqual(t, time.Since(began), 20*time.Second)
				assert.Equal(t, name == "a fallback", err == nil, "%v", err)
			})
		})
	}
}

// The time of a pause does not count, a person who chooses to wait is obeyed, and a retry begins anew.
func TestWhatIsTriedForLonger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.Patient(true)
		engine, p := stage.Engine(config)
		var over atomic.Bool
		var asked []time.Time
		unreachedFrom(p, func(int, *provider.Request) error {
			if over.Load() {
				return nil
			}
			asked = append(asked, time.Now())
			return errUnreached
		})
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		defer session.Close()
		stage.Pass(3 * time.Second)
		require.NoError(t, session.Pause(t.Context()))
		stage.Pass(time.Hour)
		paused := len(asked)
		require.NoError(t, session.Resume(t.Context()))
		record, err := session.Wait(t.Context())
		require.ErrorIs(t, err, debate.ErrAwaitingInput)
		assert.Greater(t, len(asked), paused, "it is tried again after the pause")
		failure := stage.Question(t, record, err).Failure
		assert.ErrorContains(t, failure, "could not be reached in ")
		assert.NotContains(t, failure.Error(), "could not be reached in 1h")

		chosen := time.Now()
		require.NoError(t, session.Choose(t.Context(), record.Inquiries[0].ID, flow.OptionWait))
		stage.Pass(5 * time.Minute)
		synctest.Wait()
		assert.True(t, slices.ContainsFunc(asked, func(at time.Time) bool { return at.Sub(chosen) > 4*time.Minute }), "it is waited for")
		over.Store(true)
		_, err = session.Wait(t.Context())
		require.NoError(t, err)
	})
}
