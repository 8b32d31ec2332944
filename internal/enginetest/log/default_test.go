package log_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// No line may hold a key, or a text.
const (
	key  = "sk-canary5f1d7a0c93be"
	song = "what the canary sings"
)

// setDefault replaces the default logger until the end of the test.
func setDefault(t *testing.T, logger *slog.Logger) {
	t.Helper()
	former := slog.Default()
	t.Cleanup(func() { slog.SetDefault(former) })
	slog.SetDefault(logger)
}

// mishap is what befalls a debate, and what is said of it without a Logger.
type mishap struct {
	befalls func(*scripted.Provider)
	change  func(*debate.Config)
	during  flow.Signal // what the host program does in the second round; nil: nothing
	says    []string    // one line each, in this order; nil: nothing is said
}

// mishaps are all that a person should know of, and what nobody needs to know.
func mishaps() map[string]mishap {
	failing := func(kind provider.Kind, after time.Duration, hits func(*provider.Request) bool) func(*scripted.Provider) {
		return func(p *scripted.Provider) {
			reply := p.Reply
			var failed atomic.Bool
			p.Reply = func(req *provider.Request) scripted.Reply {
				if hits(req) && failed.CompareAndSwap(false, true) {
					return scripted.Reply{Err: &provider.Error{Kind: kind, RetryAfter: after, Code: song, Message: song + key}}
				}
				return reply(req)
			}
		}
	}
	judging := func(old, now string) func(*scripted.Provider) {
		return func(p *scripted.Provider) {
			stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) {
				r.Text = strings.Replace(r.Text, old, now, 1)
			})
		}
	}
	inFormat := func(name string, on ...format.Detector) func(*debate.Config) {
		return func(c *debate.Config) { c.Format, c.Rounds, c.StopOn = name, 5, on }
	}
	ben, judge := stage.Said("Ben", 2), func(req *provider.Request) bool { return strings.Contains(req.ID, "/verdict") }
	return map[string]mishap{
		"nothing":      {},
		"a short wait": {befalls: failing(provider.KindAPI, time.Millisecond, ben)},
		"a judge who wishes to end": {
			befalls: judging(`"shouldContinue":true`, `"shouldContinue":false,"ending":"It is settled."`), change: inFormat(format.FreeForm),
		},
		"a judge who sees convergence": {
			befalls: judging(`"flags":{"convergenceReached":false`, `"ending":"It is settled.","flags":{"convergenceReached":true`), change: inFormat(format.ConvergenceSeeker),
		},
		"a detector": {
			befalls: judging(`"drifting":false`, `"drifting":true`), change: inFormat(format.FreeForm, format.DetectDrift),
			says: []string{`msg="ended early".* reason=drift by=detector`},
		},
		"a stop": {
			during: flow.Stop{Reason: song},
			says:   []string{`msg="ended early".* state=completing on=stop reason=host by=host`},
		},
		"a cancellation": {
			during: flow.Cancel{Reason: song},
			says:   []string{`msg="ended early".* state=canceled on=cancel reason=host by=host`},
		},
		"a pause": {during: flow.Pause{Reason: song}},
		"a person who is late": {
			change: func(c *debate.Config) {
				ada := &c.Participants[0]
				ada.Model, ada.Person, ada.Term = "", true, flow.Term{Within: flow.Duration(time.Second), StandIn: "test/debater"}
			},
			during: flow.Pause{Reason: song}, // a model speaks in Ada's place by then
		},
		"a long wait": {
			befalls: failing(provider.KindRateLimit, 30*time.Second, ben),
			says:    []string{`msg="attempt failed".* call=r2\.rebuttal\.Ben .*kind=rate_limit model=test/debater final=false wait=3`},
		},
		"an outage": {
			befalls: failing(provider.KindNetwork, 0, ben),
			change: func(c *debate.Config) {
				c.Patience, c.Retry = time.Minute, &debate.RetryPolicy{Max: map[debate.Kind]int{provider.KindNetwork: 0}, Base: 10 * time.Second}
			},
			says: []string{`msg="attempt failed".*kind=network .* wait=1`, `msg=warning.* kind=outage call=r2\.rebuttal\.Ben .*evidence="network: `},
		},
		"a question": {
			befalls: failing(provider.KindRefusal, 0, ben),
			change:  func(c *debate.Config) { c.Unattended = false },
			says:    []string{`msg="call has failed for good".* call=r2\.rebuttal\.Ben `, `msg="person asked".* inquiry=ask\.r2\.rebuttal\.Ben\.1`},
		},
		"a broken provider": {
			befalls: func(p *scripted.Provider) {
				p.Reply = func(*provider.Request) scripted.Reply { return scripted.Reply{Err: errors.New(song + key)} }
			},
			change: func(c *debate.Config) { c.Unattended = false },
			says:   []string{`msg="call has failed for good".* kind=unknown`, `msg="person asked".* inquiry=ask\.r1\.opening\.Ada\.1`},
		},
		"a give-up": {
			befalls: failing(provider.KindRefusal, 0, ben),
			says:    []string{`msg="call has failed for good".* call=r2\.rebuttal\.Ben `, `msg="stopped by a failure".* kind=refusal `},
		},
		"a skip": {
			befalls: failing(provider.KindRefusal, 0, ben),
			change: func(c *debate.Config) {
				*c = stage.Crew(3)
				c.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
			},
			says: []string{`msg="call has failed for good"`, `msg="call left out".* by=Ben `},
		},
		"a lost judge": {
			befalls: failing(provider.KindRefusal, 0, judge),
			change: func(c *debate.Config) {
				c.Judging.Judges = nil
				for _, name := range []string{"one", "two", "three"} {
					c.Judging.Judges = append(c.Judging.Judges, debate.JudgeConfig{Name: name, Model: "test/judge"})
				}
				c.OnFailure = stage.Dropping()
			},
			says: []string{`msg="call has failed for good"`, `msg="actor dropped"`},
		},
		"an early end": {
			change: func(c *debate.Config) { c.Budget = &debate.Budget{SoftCalls: 3} },
			says:   []string{`msg=warning.*kind=soft-limit .*evidence=.*3`, `msg="ended early".* reason=soft-limit by=budget`},
		},
	}
}

// Without a Logger, what a person should know goes to slog.Default, and nothing else. No line holds a text or a key.
//
//nolint:paralleltest // it replaces the default logger
func TestWithoutALoggerWarningsReachTheDefault(t *testing.T) {
	for name, tc := range mishaps() {
		t.Run(name, func(t *testing.T) {
			for _, silent := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					config := stage.TwoDebaters()
					if tc.change != nil {
						tc.change(&config)
					}
					config.Topic = song
					engine, p := stage.Engine(config)
					if tc.befalls != nil {
						tc.befalls(p)
					}
					stage.Slowly(p)
					if !silent {
						engine.Logger = nil
					}
					_, err := engine.Estimate(t.Context(), config) // makes the engine
					assert.NoError(t, err)
					var lines stage.Locked
					setDefault(t, slog.New(slog.NewTextHandler(&lines, nil))) // later than the engine
					session := stage.Started(t, engine, config)
					if tc.during != nil {
						stage.Pass(3500 * time.Millisecond)
						require.NoError(t, session.Control(t.Context(), tc.during))
					}
					_, _ = session.WaitIdle(t.Context())
					synctest.Wait() // the last line is written
					said := lines.String()
					assert.NotContains(t, said, "canary")
					assert.NotContains(t, said, "level=INFO")
					if silent || tc.says == nil {
						assert.Empty(t, said)
						return
					}
					all := strings.Split(strings.TrimSuffix(said, "\n"), "\n")
					require.Len(t, all, len(tc.says), said)
					for i, line := range all {
						assert.Regexp(t, tc.says[i], line)
					}
				})
			}
		})
	}
}

// The level of the default logger decides, too.
//
//nolint:paralleltest // it replaces the default logger
func TestTheDefaultHearsOnlyItsLevel(t *testing.T) {
	var lines stage.Locked
	setDefault(t, slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError})))
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Logger = nil
	stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
	session := stage.Started(t, engine, config)
	_, err := session.Wait(t.Context())
	require.Error(t, err)
	assert.Empty(t, lines.String())
}

// A line that nobody reads is not made: without a Logger, a debate that nothing befalls allocates what it does without any lines.
//
//nolint:paralleltest // it replaces the default logger, and counts
func TestLinesThatNobodyReadsCostNothing(t *testing.T) {
	longform.Lone(t) // under the detector, pools lose what they hold at random
	var lines stage.Locked
	setDefault(t, slog.New(slog.NewTextHandler(&lines, nil)))
	config := stage.TwoDebaters()
	events := 0
	allocations := func(logger *slog.Logger) float64 {
		return testing.AllocsPerRun(20, func() {
			engine, _ := stage.Engine(config)
			engine.Logger = logger
			session, err := engine.Start(t.Context(), config)
			require.NoError(t, err)
			record := stage.Ended(t, session)
			events = int(record.Seq)
			assert.NoError(t, session.Close())
		})
	}
	without := allocations(slog.New(slog.DiscardHandler))
	with := allocations(nil)
	assert.Empty(t, lines.String())
	assert.InDelta(t, without, with, float64(events)/2, "of %d events", events)
}

// In no flow, and at no level, a line holds a text of the conversation, a key, or what the host program gives as its reason. A person
// is asked, calls are made again, and all is paused, resumed and stopped.
func TestNoLineHoldsATextOrAKey(t *testing.T) {
	t.Parallel()
	debating, deliberating, arbitrating := flows.Debate("talk"), flows.Deliberation("talk"), flows.Arbitration("talk")
	debating.Unattended, deliberating.Unattended, arbitrating.Unattended = false, false, false
	debating.Topic, deliberating.Problem, deliberating.Context, arbitrating.Task = song, song, song, song
	debating.Participants[0].Persona, debating.Participants[1].Position = song, song
	arbitrating.Agents[0].Description, arbitrating.Agents[1].Prompt, arbitrating.Arbiter.Prompt = song, song, song
	for name, config := range map[string]flow.Config{"debate": debating, "deliberation": deliberating, "arbiter": arbitrating} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			var asked atomic.Int64
			engine := flows.Engine(&store.Memory{}, func(ctx context.Context, req *provider.Request) error {
				switch asked.Add(1) {
				case 1:
					return &provider.Error{Kind: provider.KindRefusal, Code: song, Message: song + key, RequestID: song}
				case 2:
					return &provider.Error{Kind: provider.KindAPI, Code: song, Message: "Bearer " + key}
				case 3:
					return fmt.Errorf("%s: %w", song, errors.New(key))
				default:
					return flows.Slowly(time.Second)(ctx, req)
				}
			})
			plain := engine.Providers["test"]
			engine.Providers["test"] = stage.ProviderFunc(
				func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
					r, err := plain.Generate(ctx, req, emit)
					if err == nil {
						r.Text = marked(r.Text)
					}
					return r, err
				})
			var lines stage.Locked
			engine.Logger = slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug}))
			session := stage.Started(t, engine, config)
			answers := func() bool {
				record := stage.SessionRecord(t, session)
				for _, q := range record.Inquiries {
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry}))
				}
				return len(record.Inquiries) > 0
			}
			for asked.Load() < 4 || answers() {
				answers()
				stage.Pass(1500 * time.Millisecond)
			}
			for _, signal := range []flow.Signal{flow.Pause{Reason: song}, flow.Resume{Reason: song}, flow.Stop{Reason: song}} {
				require.NoError(t, session.Control(t.Context(), signal))
				stage.Pass(500 * time.Millisecond)
			}
			record := stage.Ended(t, session)
			assert.Equal(t, flow.EndedByHost, record.EndedEarlyBy)
			said := lines.String()
			for _, what := range []string{
				`"call has failed for good"`, `"attempt failed"`, `"person asked"`, "msg=answered", "state=paused", `"ended early"`,
			} {
				assert.Contains(t, said, what)
			}
			assert.NotContains(t, said, "canary")
			assert.Contains(t, stage.JSON(stage.LogOf(t, engine, record.ID).Events), "said: "+song, "it has said what no line may hold")
		}))
	}
}

// marked puts what no line may hold into a reply.
func marked(reply string) string {
	for _, words := range []string{
		"speaks in round", "they agree", "sound", "The solution of", "it is their part", "it is done", "What ", "Both made",
	} {
		reply = strings.ReplaceAll(reply, words, "said: "+song+" "+words)
	}
	return reply
}
