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
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// ofAllFlows returns a conversation of each flow about a text that no line may hold.
func ofAllFlows(attended bool, retry *flow.RetryPolicy) map[string]flow.Config {
	talk, design, work := flows.Debate("talk"), flows.Deliberation("talk"), flows.Arbitration("talk")
	talk.Topic, design.Problem, work.Task = song, song, song
	talk.Unattended, design.Unattended, work.Unattended = !attended, !attended, !attended
	talk.Retry, design.Retry, work.Retry = retry, retry, retry
	return map[string]flow.Config{"debate": talk, "deliberation": design, "arbiter": work}
}

// firstFails returns what the first request is answered. The others take a second each.
func firstFails(failure error) flows.Before {
	var asked atomic.Int64
	return func(ctx context.Context, req *provider.Request) error {
		if asked.Add(1) == 1 && failure != nil {
			return failure
		}
		return flows.Slowly(time.Second)(ctx, req)
	}
}

// In every flow, attended or not, what a person should know goes to slog.Default without a Logger, and nothing else. A wait is worth a line
// from two seconds on.
//
//nolint:paralleltest // it replaces the default logger
func TestInEveryFlowWarningsReachTheDefault(t *testing.T) {
	waits := func(wait time.Duration) error {
		return &provider.Error{Kind: provider.KindRateLimit, RetryAfter: wait, Code: song, Message: song + key, NotSent: true}
	}
	refusal := &provider.Error{Kind: provider.KindRefusal, Code: song, Message: song + key}
	// What a failure for good leads to where nobody is there, and where somebody is asked.
	stopped := func(kind string) []string {
		return []string{`msg="call has failed for good"`, `msg="stopped by a failure".* kind=` + kind}
	}
	asked := []string{`msg="call has failed for good"`, `msg="person asked"`}
	for name, tc := range map[string]struct {
		failure    error
		during     flow.Signal // 1.5 s after the start; nil: nothing
		says       []string    // each in a line; nil: nothing is said
		toAttended []string    // nil: the same
	}{
		"nothing":            {},
		"a wait of 1.9 s":    {failure: waits(1900 * time.Millisecond)},
		"a wait of 2.1 s":    {failure: waits(2100 * time.Millisecond), says: []string{`msg="attempt failed".* wait=2\.1`}},
		"a refusal":          {failure: refusal, says: stopped("refusal"), toAttended: asked},
		"an unknown failure": {failure: errors.New(song + key), says: stopped("unknown"), toAttended: asked},
		"a stop": {
			during: flow.Stop{Reason: song}, says: []string{`msg="ended early".* on=stop reason=host by=host`},
		},
		"a cancellation": {
			during: flow.Cancel{Reason: song}, says: []string{`msg="ended early".* state=canceled on=cancel reason=host by=host`},
		},
	} {
		for _, attended := range []bool{false, true} {
			for of, config := range ofAllFlows(attended, &flow.RetryPolicy{Jitter: time.Nanosecond}) {
				for _, silent := range []bool{false, true} {
					t.Run(fmt.Sprintf("%s/%s, attended: %t, silent: %t", name, of, attended, silent), stage.Bubbled(func(t *testing.T) {
						engine := flows.Engine(&store.Memory{}, firstFails(tc.failure))
						if !silent {
							engine.Logger = nil
						}
						var lines stage.Locked
						setDefault(t, slog.New(slog.NewTextHandler(&lines, nil)))
						session := stage.Started(t, engine, config)
						if tc.during != nil {
							stage.Pass(1500 * time.Millisecond)
							require.NoError(t, session.Control(t.Context(), tc.during))
						}
						_, _ = session.WaitIdle(t.Context())
						synctest.Wait() // the last line is written
						want, said := tc.says, lines.String()
						if attended && tc.toAttended != nil {
							want = tc.toAttended
						}
						assert.NotContains(t, said, "canary")
						assert.NotContains(t, said, "level=INFO")
						if silent || want == nil {
							assert.Empty(t, said)
							return
						}
						for _, line := range want {
							assert.Regexp(t, line, said)
						}
					}))
				}
			}
		}
	}
}

// The limit of executions ends the work before it is done, which is worth a line. The last round of a debate is its end.
//
//nolint:paralleltest // it replaces the default logger
func TestTheLimitOfExecutionsReachesTheDefault(t *testing.T) {
	engine := flows.Engine(&store.Memory{}, nil)
	engine.Logger = nil
	var lines stage.Locked
	setDefault(t, slog.New(slog.NewTextHandler(&lines, nil)))
	config := flows.Arbitration("talk")
	config.MaxIterations = 1
	session, err := engine.Start(t.Context(), config)
	require.NoError(t, err)
	record := stage.Ended(t, session)
	require.NoError(t, session.Close())
	assert.Equal(t, flow.EndedByIterations, record.EndedEarlyBy)
	assert.Regexp(t, `^\S+ level=WARN msg="ended early".* reason=iterations by=maxIterations\n$`, lines.String())
}

// joining is a handler that joins values by blanks, and quotes none.
type joining struct {
	lines   *stage.Locked
	records *atomic.Int64
}

func (joining) Enabled(context.Context, slog.Level) bool { return true }

func (j joining) Handle(_ context.Context, r slog.Record) error {
	j.records.Add(1)
	line := r.Message
	r.Attrs(func(a slog.Attr) bool {
		line += fmt.Sprintf(" %s=%v", a.Key, a.Value.Any())
		return true
	})
	_, err := fmt.Fprintln(j.lines, line)
	return err
}

func (j joining) WithAttrs([]slog.Attr) slog.Handler { return j }

func (j joining) WithGroup(string) slog.Handler { return j }

// Whatever a foreign provider puts into an error, each event stays one line of an engine's Logger, also of one that quotes nothing.
func TestNoLineOfAnEngineIsForged(t *testing.T) {
	t.Parallel()
	const long = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKL"
	for _, forged := range []string{
		"x\nlevel=ERROR", "\x1b[2J", "\u2028", "a\u202eb", strings.Repeat("x\n", 512<<10), "x\n" + long, long[:20] + "\x00" + long[20:],
	} {
		for of, config := range ofAllFlows(true, nil) {
			t.Run(of, stage.Bubbled(func(t *testing.T) {
				var records atomic.Int64
				var lines stage.Locked
				engine := flows.Engine(&store.Memory{}, firstFails(&provider.Error{
					Kind: provider.Kind(forged), Code: forged, RequestID: forged, Message: forged,
				}))
				engine.Logger = slog.New(joining{&lines, &records})
				session := stage.Started(t, engine, config)
				record, _ := session.WaitIdle(t.Context())
				require.NotNil(t, record)
				require.Equal(t, flow.StateAwaitingInput, record.State)
				synctest.Wait()
				said := strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
				assert.Contains(t, lines.String(), "call has failed for good")
				assert.Len(t, said, int(records.Load()))
				for _, line := range said {
					assert.Equal(t, -1, strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }), "%.300q", line)
					assert.Less(t, len(line), 2_000)
					assert.NotContains(t, line, long)
				}
			}))
		}
	}
}
