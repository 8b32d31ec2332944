package log_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// Without a Logger, what a person should know goes to slog.Default, and nothing else. No line holds a text or a key.
//
//nolint:paralleltest // it replaces the default logger
func TestWithoutALoggerWarningsReachTheDefault(t *testing.T) {
	const canary = "sk-canary5f1d7a0c93be"
	former := slog.Default()
	t.Cleanup(func() { slog.SetDefault(former) })
	failing := func(kind provider.Kind, after time.Duration, times int, hits func(*provider.Request) bool) func(*scripted.Provider) {
		return func(p *scripted.Provider) {
			reply, n := p.Reply, 0
			p.Reply = func(req *provider.Request) scripted.Reply {
				if n < times && hits(req) {
					n++
					return scripted.Reply{Err: &provider.Error{Kind: kind, RetryAfter: after, Message: canary}}
				}
				return reply(req)
			}
		}
	}
	ben, judge := stage.Said("Ben", 2), func(req *provider.Request) bool { return strings.Contains(req.ID, "/verdict") }
	for name, tc := range map[string]struct {
		befalls func(*scripted.Provider)
		change  func(*debate.Config)
		says    []string // one line each, in this order; nil: nothing is said
	}{
		"nothing":      {nil, nil, nil},
		"a short wait": {failing(provider.KindAPI, time.Millisecond, 1, ben), nil, nil},
		"a long wait": {
			failing(provider.KindRateLimit, 30*time.Second, 1, ben), nil,
			[]string{`msg="attempt failed".* call=r2\.rebuttal\.Ben .*kind=rate_limit model=test/debater final=false wait=3`},
		},
		"a give-up": {
			failing(provider.KindRefusal, 0, 1, ben), nil,
			[]string{`msg="call has failed for good".* call=r2\.rebuttal\.Ben `, `msg="stopped by a failure".* kind=refusal `},
		},
		"a skip": {
			failing(provider.KindRefusal, 0, 1, ben),
			func(c *debate.Config) {
				*c = stage.Crew(3)
				c.Unattended, c.OnFailure = true, stage.Rules(debate.FailureRule{Do: flow.OptionSkip})
			},
			[]string{`msg="call has failed for good"`, `msg="call left out".* by=Ben `},
		},
		"a lost judge": {
			failing(provider.KindRefusal, 0, 1, judge),
			func(c *debate.Config) {
				c.Judging.Judges = []debate.JudgeConfig{{Name: "one", Model: "test/judge"}, {Name: "two", Model: "test/judge"}, {Name: "three", Model: "test/judge"}}
				c.OnFailure = stage.Dropping()
			},
			[]string{`msg="call has failed for good"`, `msg="actor dropped"`},
		},
		"an early end": {
			nil, func(c *debate.Config) { c.Budget = &debate.Budget{SoftCalls: 3} },
			[]string{`msg=warning.*kind=soft-limit`, `msg="ended early".* reason=soft-limit`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, silent := range []bool{false, true} {
				synctest.Test(t, func(t *testing.T) {
					config := stage.TwoDebaters()
					if tc.change != nil {
						tc.change(&config)
					}
					config.Topic = "Is " + canary + " a good topic?"
					engine, p := stage.Engine(config)
					if tc.befalls != nil {
						tc.befalls(p)
					}
					if !silent {
						engine.Logger = nil
					}
					_, err := engine.Estimate(t.Context(), config) // makes the engine
					assert.NoError(t, err)
					var lines stage.Locked
					slog.SetDefault(slog.New(slog.NewTextHandler(&lines, nil))) // later than the engine
					for _, err := range engine.Run(t.Context(), config) {
						if err != nil {
							assert.ErrorAs(t, err, new(*debate.Error))
						}
					}
					said := lines.String()
					assert.NotContains(t, said, "canary")
					assert.NotContains(t, said, "level=INFO")
					if silent || tc.says == nil {
						assert.Empty(t, said)
						return
					}
					assert.Regexp(t, "(?s)"+strings.Join(tc.says, ".*\n.*"), said)
				})
			}
		})
	}
}

// A line that nobody reads costs nothing.
//
//nolint:paralleltest // it replaces the default logger, and counts
func TestTheDefaultHearsOnlyItsLevel(t *testing.T) {
	former := slog.Default()
	t.Cleanup(func() { slog.SetDefault(former) })
	var lines bytes.Buffer
	slog.SetDefault(slog.New(slog.NewTextHandler(&lines, &slog.HandlerOptions{Level: slog.LevelError})))
	config := stage.TwoDebaters()
	engine, p := stage.Engine(config)
	engine.Logger = nil
	stage.Befall(p, provider.KindRefusal, stage.Said("Ben", 2))
	for _, err := range engine.Run(t.Context(), config) {
		if err != nil {
			break
		}
	}
	assert.Empty(t, lines.String())
}
