package debates_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
)

// What has cut a debate of three rounds short is the first thing that its outcome says, in one sentence. A round has two speeches and
// an assessment, which take a second each.
func TestCutShortIsSaid(t *testing.T) {
	t.Parallel()
	soft, hard, kept := stage.SoftLimit, stage.HardLimit, stage.KeptLimit
	budget := func(b debate.Budget) func(*debate.Config) { return func(c *debate.Config) { c.Budget = &b } }
	attended := func(b *debate.Budget) func(*debate.Config) {
		return func(c *debate.Config) { c.Unattended, c.Budget = false, b }
	}
	rule := func(c *debate.Config) { c.OnFailure = []debate.FailureRule{{Do: flow.OptionEnd}} }
	refuses := func(what string) func(*scripted.Provider) {
		return func(p *scripted.Provider) { stage.Befall(p, provider.KindRefusal, stage.Requested(what, "r2.")) }
	}
	ends := func(t *testing.T, s *debate.Session) {
		record := stage.AwaitsInput(t, s)
		require.NoError(t, s.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionEnd}))
	}
	after := func(d time.Duration, signal flow.Signal) func(*testing.T, *debate.Session) {
		return func(t *testing.T, s *debate.Session) {
			stage.Pass(d)
			require.NoError(t, s.Control(t.Context(), signal))
		}
	}
	warn := &debate.Budget{Warn: debate.USD / 10_000, Confirm: true}
	for name, tc := range map[string]struct {
		change func(*debate.Config)
		spoil  func(*scripted.Provider)
		host   func(*testing.T, *debate.Session)
		want   string // of the whole sentence; "": nothing was cut
	}{
		"nothing":     {},
		"soft calls":  {change: budget(debate.Budget{SoftCalls: 5}), want: soft(`ended after 2 of 3 rounds`, `5 calls`)},
		"in a round":  {change: budget(debate.Budget{SoftCalls: 4}), want: soft(`ended after 1 of 3 rounds`, `4 calls`)},
		"at its end":  {change: budget(debate.Budget{SoftCalls: 3}), want: soft(`ended after 1 of 3 rounds`, `3 calls`)},
		"the last":    {change: budget(debate.Budget{SoftCalls: 8}), want: soft(`ended after 3 of 3 rounds`, `8 calls`)},
		"all it asks": {change: budget(debate.Budget{SoftCalls: 9})},
		"soft": {
			change: budget(debate.Budget{Soft: 7 * debate.USD / 100}),
			spoil:  dearly, want: soft(`ended after 2 of 3 rounds`, `\$0\.07`),
		},
		"soft tokens": {
			change: budget(debate.Budget{SoftTokens: 35_000}),
			spoil:  dearly, want: soft(`ended after 2 of 3 rounds`, `35000 tokens`),
		},
		"soft time": {
			change: budget(debate.Budget{SoftTime: 4 * time.Second}),
			want:   `ended after 1 of 3 rounds because the time was over: raise softTime \(4s of 4s\)`,
		},
		"kept": {
			change: budget(debate.Budget{SoftTime: time.Hour, HardCalls: 8}),
			want:   kept(`ended after 2 of 3 rounds`, `8 calls`),
		},
		"hard": {
			change: budget(debate.Budget{Hard: 7 * debate.USD / 100}),
			spoil:  dearly, want: hard(`stopped after 2 of 3 rounds`, `\$0\.07`),
		},
		"hard tokens": {
			change: budget(debate.Budget{HardTokens: 35_000}),
			spoil:  dearly, want: hard(`stopped after 2 of 3 rounds`, `35000 tokens`),
		},
		"hard calls": {change: budget(debate.Budget{HardCalls: 6}), want: hard(`stopped after 2 of 3 rounds`, `6 calls`)},
		"hard time": {
			change: budget(debate.Budget{HardTime: 4 * time.Second}),
			want:   `stopped after 1 of 3 rounds because the time was over: raise hardTime \(4s of 4s\)`,
		},
		"a stop": {host: after(4500*time.Millisecond, flow.Stop{}), want: `ended after 1 of 3 rounds: stopped by the host`},
		"a stop with a reason": {
			host: after(4500*time.Millisecond, flow.Stop{Reason: "enough"}), want: `ended after 1 of 3 rounds: stopped by the host: enough`,
		},
		"a cancel":            {host: after(500*time.Millisecond, flow.Cancel{}), want: `ended after 0 of 3 rounds: canceled by the host`},
		"a cancel of the end": {host: after(9500*time.Millisecond, flow.Cancel{}), want: `ended after 3 of 3 rounds: canceled by the host`},
		"a person": {
			change: attended(nil), spoil: refuses("debater"), host: ends,
			want: `ended after 1 of 3 rounds by a person after a failure: debate: refusal.*`,
		},
		"a person at the cost warning": {
			change: attended(warn), host: ends, want: `ended after 0 of 3 rounds by a person at the cost warning: \$0\.0002 of \$0\.0001`,
		},
		"a rule": {change: rule, spoil: refuses("judge"), want: `ended after 2 of 3 rounds by a rule after a failure: debate: refusal.*`},
		"a detector": {
			change: func(c *debate.Config) { c.StopOn = []format.Detector{format.DetectRepetition} },
			spoil:  func(p *scripted.Provider) { play{says: onlyAda}.on(p, "Ada", "Ben") },
			want:   `ended after 2 of 3 rounds by the detector repetition: Ada: The overlap.*`,
		},
		"a judge of another's name": {
			change: func(c *debate.Config) { c.Format, c.Judging.Judges[0].Name = format.FreeForm, "host" },
			spoil: func(p *scripted.Provider) {
				play{judges: func(_ string, _ int, j *debate.Judgement) { j.ShouldContinue = false }}.on(p, "Ada", "Ben")
			},
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			if tc.change != nil {
				tc.change(&config)
			}
			engine, p := stage.Engine(config)
			if tc.spoil != nil {
				tc.spoil(p)
			}
			stage.Slowly(p)
			session := stage.Started(t, engine, config)
			if tc.host != nil {
				tc.host(t, session)
			}
			record, _ := session.Wait(t.Context())
			degraded := stage.View(record).Outcome().Degraded
			stage.AssertCut(t, engine, record, degraded, tc.want)
			if tc.want == "" {
				assert.NotContains(t, strings.Join(degraded, "\n"), "ended")
			}
		}))
	}
}

// dearly makes each reply cost nearly as much as is reserved for it.
func dearly(p *scripted.Provider) {
	stage.Altered(p, func(req *provider.Request, r *scripted.Reply) {
		r.Usage = provider.Usage{Input: 6000, Output: 50}
		if req.Schema != nil {
			r.Usage = provider.Usage{Input: 9000, Output: 100}
		}
	})
}

// The log of an older release does not name the limit. What it says is shown as it is.
func TestALimitOfAnOlderLogIsSaid(t *testing.T) {
	config := stage.TwoDebaters()
	config.Budget = &debate.Budget{SoftCalls: 5}
	engine, _ := stage.Engine(config)
	log := stage.Logged(t, engine, stage.Run(t, engine, config).ID)
	for i := range log {
		if w, ok := log[i].Body.(*flow.Warning); ok {
			old := *w
			old.Limit = ""
			log[i].Body = &old
		}
	}
	core := stage.CoreOf(t, engine, "old", log)
	assert.Equal(t, "ended after 2 of 3 rounds by the soft limit (5 of 5 calls): raise it", core.Record().CutShort())
}
