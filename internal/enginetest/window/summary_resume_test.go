package window_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// A summary is a fact: whatever interrupts the debate, one that is there is not asked for again, and
// one that was in flight is asked for once more.
func TestAnInterruptionDoesNotPayASummaryTwice(t *testing.T) {
	t.Parallel()
	interruptions := map[string]func(t *testing.T, d *stage.Talk, s *debate.Session) *debate.Session{
		"pause": func(t *testing.T, _ *stage.Talk, s *debate.Session) *debate.Session {
			require.NoError(t, s.Pause(t.Context()))
			stage.Pass(time.Minute)
			require.NoError(t, s.Resume(t.Context()))
			return s
		},
		"draining pause": func(t *testing.T, _ *stage.Talk, s *debate.Session) *debate.Session {
			require.NoError(t, s.Control(t.Context(), flow.Pause{Drain: true}))
			stage.Pass(time.Minute)
			require.NoError(t, s.Resume(t.Context()))
			return s
		},
		"restart": func(t *testing.T, d *stage.Talk, s *debate.Session) *debate.Session {
			require.NoError(t, s.Close())
			again := stage.Reopen(t, d.Engine, s.ID())
			return again
		},
		"snapshot": func(t *testing.T, d *stage.Talk, s *debate.Session) *debate.Session {
			data, err := s.Snapshot(t.Context())
			require.NoError(t, err)
			require.NoError(t, s.Close())
			d.Engine = &debate.Engine{Providers: d.Engine.Providers, Models: d.Engine.Models}
			again, err := stage.Restore(t.Context(), d.Engine, data)
			require.NoError(t, err)
			return again
		},
	}
	for name, interrupt := range interruptions {
		for when, at := range map[string]time.Duration{"in flight": 500 * time.Millisecond, "just after": 1500 * time.Millisecond} {
			t.Run(name+" "+when, stage.Bubbled(func(t *testing.T) {
				d := stage.NewTalk(12, 6000).Summarizes(true)
				stage.Slowly(d.Provider)
				began := make(chan struct{}, 100)
				answer := d.Summary
				d.Summary = func(req *provider.Request) scripted.Reply {
					began <- struct{}{}
					return answer(req)
				}
				plain := stage.NewTalk(12, 6000).Summarizes(true)
				want := stage.Run(t, plain.Engine, plain.Config)

				session, err := d.Engine.Start(t.Context(), d.Config)
				require.NoError(t, err)
				<-began
				stage.Pass(at)
				session = interrupt(t, d, session)
				defer func() { _ = session.Close() }()
				record := stage.Ended(t, session)
				assert.Equal(t, stage.Canonical(t, want), stage.Canonical(t, record))
				require.Len(t, record.Summaries, len(want.Summaries))
				for i := range want.Summaries {
					assert.Equal(t, want.Summaries[i].Upto, record.Summaries[i].Upto)
				}
				extra := 0
				if when == "in flight" && name != "draining pause" {
					extra = 1
				}
				assert.Len(t, idsOf(d.Summaries()), len(want.Summaries)+extra)
			}))
		}
	}
}

func TestARetryPaysNoSummaryTwice(t *testing.T) {
	t.Parallel()
	for name, fails := range map[string]func(*provider.Request) bool{
		"of a speaker": func(req *provider.Request) bool {
			return req.Schema == nil && slices.Contains(stage.Heard(req), "summary")
		},
		"of a judge": func(req *provider.Request) bool { return req.Schema != nil },
	} {
		t.Run(name, func(t *testing.T) {
			d := stage.NewTalk(12, 6000).Summarizes(true)
			d.Windows(6000, 6000)
			d.Config.Unattended = false
			broken := true
			reply := d.Provider.Reply
			d.Provider.Reply = func(req *provider.Request) scripted.Reply {
				if broken && !stage.IsSummary(req) && fails(req) {
					return scripted.Reply{Err: &provider.Error{Kind: provider.KindAuthentication, Status: 401}}
				}
				return reply(req)
			}
			session := stage.Started(t, d.Engine, d.Config)
			record := stage.AwaitsInput(t, session)
			made := len(record.Summaries)
			assert.Positive(t, made)
			broken = false
			require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: record.Inquiries[0].ID, Option: flow.OptionRetry}))
			record = stage.Ended(t, session)
			assert.GreaterOrEqual(t, len(record.Summaries), made)
			assert.Len(t, record.Summaries, len(d.Summaries()))
			uptos := map[int]bool{}
			for _, s := range record.Summaries {
				assert.False(t, uptos[s.Upto])
				uptos[s.Upto] = true
			}
		})
	}
}

// A runtime that forgets everything between two calls, one of them a summary's, ends as a session does.
func TestARuntimeThatRemembersNothingOfSummaries(t *testing.T) {
	t.Parallel()
	for _, mode := range []debate.Mode{debate.Sequential, debate.Simultaneous} {
		t.Run(string(mode), func(t *testing.T) {
			plain := stage.NewTalk(12, 6000).Summarizes(true)
			plain.Config.Mode = mode
			want := stage.Run(t, plain.Engine, plain.Config)
			require.NotEmpty(t, want.Summaries)

			d := stage.NewTalk(12, 6000).Summarizes(true)
			d.Config.Mode, d.Config.ID = mode, "nomad"
			d.Engine.Store = &store.Memory{}
			n := &stage.Nomad{T: t, Config: d.Config, Store: d.Engine.Store, Same: d.Engine}
			n.Begin()
			record := n.Run(n.Advance(flow.Opened{}))
			assert.Equal(t, stage.Canonical(t, want), stage.Canonical(t, record))
			assert.Len(t, record.Summaries, len(want.Summaries))
			expected := plain.Provider.Requests()
			got := d.Provider.Requests()
			require.Equal(t, idsOf(expected), idsOf(got))
			byID := map[string][]string{}
			for i := range expected {
				_, call, _ := strings.Cut(expected[i].ID, "/")
				byID[call] = stage.Heard(&expected[i])
			}
			for i := range got {
				_, call, _ := strings.Cut(got[i].ID, "/")
				assert.Equal(t, byID[call], stage.Heard(&got[i]), call)
			}
		})
	}
}

// idsOf yields the requests' ids without the debate's, sorted.
func idsOf(requests []provider.Request) []string {
	var out []string
	for i := range requests {
		_, id, _ := strings.Cut(requests[i].ID, "/")
		out = append(out, id)
	}
	slices.Sort(out)
	return out
}
