package log_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// What an edit changes holds from the fork on.
func TestForkingWithAnotherConfig(t *testing.T) {
	t.Parallel()
	type shown struct {
		record   *debate.Record
		requests []provider.Request
		session  *debate.Session
		world    *world
	}
	spoken := func(n int) func(t *testing.T, events part) int64 {
		return func(t *testing.T, events part) int64 { return until(t, events, n, isTurn) }
	}
	isRound := func(e *debate.Event) bool { return body.As[flow.Round](*e) != nil }
	begun := func(n int) func(t *testing.T, events part) int64 {
		return func(t *testing.T, events part) int64 { return until(t, events, n, isRound) }
	}
	everyOther := func(turns []*flow.Turn) (kinds []flow.CallKind) { // one of each round of two
		for i := 0; i < len(turns); i += 2 {
			kinds = append(kinds, turns[i].Kind)
		}
		return kinds
	}
	anew := func(*testing.T, part) int64 { return 0 }
	rounds := func(r *debate.Record) int { return r.Turns[len(r.Turns)-1].Round }
	for name, c := range map[string]struct {
		config func(c *debate.Config) // of the parent
		at     func(t *testing.T, events part) int64
		edit   func(c *debate.Config)
		check  func(t *testing.T, s shown)
	}{
		"another model": {
			at: spoken(2), edit: func(c *debate.Config) { c.Participants[1].Model = "test/spare" },
			check: func(t *testing.T, s shown) {
				models := map[string]string{}
				for _, turn := range s.record.Turns {
					models[turn.Call] = turn.Model
				}
				assert.Equal(t, map[string]string{
					"r1.opening.Ada": "test/debater", "r1.opening.Ben": "test/debater", "r2.rebuttal.Ada": "test/debater",
					"r2.rebuttal.Ben": "test/spare", "r3.closing.Ada": "test/debater", "r3.closing.Ben": "test/spare",
				}, models)
			},
		},
		"texts": {
			at: spoken(2), edit: func(c *debate.Config) {
				c.Topic, c.Participants[1].Instructions = "And trams?", "Speak in verse."
				c.Participants[1].Position, c.Participants[1].Persona = "Trams are enough.", "A poet"
			},
			check: func(t *testing.T, s shown) {
				for _, req := range s.requests {
					assert.Contains(t, req.System, "And trams?", req.ID)
					assert.Contains(t, req.System, "Trams are enough.", req.ID)
					assert.Equal(t, req.Self == "Ben", strings.Contains(req.System, "Speak in verse."), req.ID)
				}
				assert.Equal(t, "Should cities ban cars from their centres?", stage.StartConfig(body.As[flow.Start](stage.Kept(t, s.world.engine.Store, "parent")[0])).Topic)
				for info, err := range s.world.engine.List(t.Context(), debate.Filter{Text: "and trams"}) {
					require.NoError(t, err)
					assert.Equal(t, s.session.ID(), info.ID)
				}
			},
		},
		"more rounds": {
			at: spoken(2), edit: func(c *debate.Config) { c.Rounds = 5 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 5, rounds(s.record))
				assert.Equal(t, "the format has 5 rounds", s.record.Evidence)
			},
		},
		"more rounds, after the last was judged": {
			config: func(c *debate.Config) { c.Format = format.RoundLimited },
			at: func(t *testing.T, events part) int64 {
				return until(t, events, 3, func(e *debate.Event) bool { return body.As[debate.Assessment](*e) != nil })
			},
			edit: func(c *debate.Config) { c.Rounds = 4 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 4, rounds(s.record))
				assert.Len(t, s.record.Turns, 8)
				assert.Len(t, stage.View(s.record).Assessments, 4)
				assert.Len(t, s.requests, 4)
			},
		},
		"fewer rounds": {
			at: spoken(2), edit: func(c *debate.Config) { c.Rounds = 2 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 2, rounds(s.record))
				assert.Equal(t, flow.CallKind("closing"), s.record.Turns[3].Kind)
			},
		},
		"more rounds, as the last begins": {
			at: begun(3), edit: func(c *debate.Config) { c.Rounds = 5 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 5, rounds(s.record))
				assert.Equal(t, []flow.CallKind{"opening", "rebuttal", "rebuttal", "rebuttal", "closing"}, everyOther(s.record.Turns))
				assert.Equal(t, "rebuttal", stage.View(s.record).Phase(3))
			},
		},
		"fewer rounds, as the last of them begins": {
			config: func(c *debate.Config) { c.Rounds = 5 },
			at:     begun(3), edit: func(c *debate.Config) { c.Rounds = 3 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 3, rounds(s.record))
				assert.Equal(t, []flow.CallKind{"opening", "rebuttal", "closing"}, everyOther(s.record.Turns))
				phase := func(keepsOf bool) string { // of a third round that was copied as it was
					log := stage.Kept(t, s.world.engine.Store, s.session.ID())
					log = log[:until(t, log, 3, isRound)]
					start := *body.As[flow.Start](log[0])
					parent := *start.Parent
					parent.KeepsOf, start.Parent, log[0].Body = keepsOf, &parent, &start
					log[len(log)-1].Body = &flow.Round{N: 3, Of: 5, Phase: "rebuttal"}
					return stage.View(stage.CoreOf(t, s.world.engine, "copied", log).Record()).Phase(3)
				}
				assert.Equal(t, "rebuttal", phase(true))
				assert.Equal(t, "closing", phase(false), "an older release has counted its turns so")
			},
		},
		"fewer rounds, once somebody has spoken in the last of them": {
			config: func(c *debate.Config) { c.Rounds = 5 },
			at:     spoken(5), edit: func(c *debate.Config) { c.Rounds = 3 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, []flow.CallKind{"opening", "rebuttal", "rebuttal"}, everyOther(s.record.Turns))
				assert.Equal(t, flow.CallKind("rebuttal"), s.record.Turns[5].Kind)
			},
		},
		"fewer rounds than have begun": {
			config: func(c *debate.Config) { c.Rounds = 5 },
			at:     begun(3), edit: func(c *debate.Config) { c.Rounds = 2 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, []flow.CallKind{"opening", "rebuttal", "closing"}, everyOther(s.record.Turns))
			},
		},
		"fewer rounds than there were": {
			at: spoken(5), edit: func(c *debate.Config) { c.Rounds = 1 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 3, rounds(s.record), "the round that has begun is spoken to its end")
				assert.Len(t, s.record.Turns, 6)
				assert.Equal(t, flow.StateCompleted, s.record.State)
				assert.NotNil(t, stage.View(s.record).Verdict)
			},
		},
		"judges for none": {
			config: func(c *debate.Config) { c.Judging = nil },
			at:     spoken(4), edit: func(c *debate.Config) {
				c.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}, {Judge: "cato"}}}
			},
			check: func(t *testing.T, s shown) {
				assert.Len(t, stage.View(s.record).Assessments, 4, "of rounds two and three")
				assert.Len(t, stage.View(s.record).Verdicts, 2)
			},
		},
		"no judges any more": {
			at: spoken(4), edit: func(c *debate.Config) { c.Judging = nil },
			check: func(t *testing.T, s shown) {
				assert.Len(t, stage.View(s.record).Assessments, 1)
				assert.Nil(t, stage.View(s.record).Verdict)
				assert.Len(t, s.requests, 2)
			},
		},
		"another judge, who sees labels": {
			at: spoken(4), edit: func(c *debate.Config) {
				c.Judging.Judges[0].Model, c.Judging.Anonymous, c.Judging.BothOrders = "test/spare", true, true
			},
			check: func(t *testing.T, s shown) {
				assert.Len(t, stage.View(s.record).Assessments, 3)
				assert.Len(t, stage.View(s.record).Verdicts, 2)
				assert.Equal(t, "test/spare", stage.View(s.record).Verdict.Model)
				assert.Equal(t, "Ada", stage.View(s.record).Verdict.Winner.Participant)
				for _, req := range s.requests {
					if req.Schema != nil {
						assert.NotRegexp(t, `\bAda\b|\bBen\b`, stage.ReadBy(&req), req.ID)
					}
				}
			},
		},
		"a budget that is used up": {
			at: spoken(6), edit: func(c *debate.Config) { c.Budget = &debate.Budget{HardCalls: 7} },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, flow.StateError, s.record.State)
				stage.RequireKind(t, s.record.Failure, provider.KindCostLimit)
				assert.Empty(t, s.requests, "what the copied part has cost counts")
				assert.Equal(t, 8, s.record.Spent().Requests)
				assert.Zero(t, s.record.Reserved())
			},
		},
		"a budget that lasts for a few calls": {
			at: spoken(4), edit: func(c *debate.Config) { c.Budget = &debate.Budget{HardCalls: 7} },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, flow.StateError, s.record.State)
				assert.Len(t, s.requests, 2, "five of the parent's, and the one in flight is not counted")
				assert.Equal(t, 7, s.record.Spent().Requests)
			},
		},
		"a larger budget": {
			config: func(c *debate.Config) { c.Budget = &debate.Budget{HardCalls: 7} },
			at: func(t *testing.T, events part) int64 {
				return until(t, events, 1, func(e *debate.Event) bool {
					w := body.As[flow.Warning](*e)
					return w != nil && w.Kind == flow.WarnHard
				}) - 1
			},
			edit: func(c *debate.Config) { c.Budget.HardCalls = 100 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, flow.StateCompleted, s.record.State)
				assert.Len(t, s.record.Turns, 6)
				require.Len(t, s.record.Warnings, 1, "no limit was reached")
				assert.Equal(t, flow.WarnBudget, s.record.Warnings[0].Kind)
			},
		},
		"labels": {
			config: func(c *debate.Config) { c.Labels = map[string]string{"tenant": "blue", "trace": "1"} },
			at:     spoken(2), edit: func(c *debate.Config) { delete(c.Labels, "trace"); c.Labels["tenant"] = "red" },
			check: func(t *testing.T, s shown) {
				for _, req := range s.requests {
					assert.Equal(t, map[string]string{"tenant": "red"}, req.Labels)
				}
				var found []string
				for info, err := range s.world.engine.List(t.Context(), debate.Filter{Labels: map[string]string{"tenant": "red"}}) {
					require.NoError(t, err)
					found = append(found, info.ID)
				}
				assert.Equal(t, []string{s.session.ID()}, found)
				assert.Equal(t, "blue", stage.StartConfig(body.As[flow.Start](stage.Kept(t, s.world.engine.Store, "parent")[0])).Labels["tenant"])
			},
		},
		"temperatures and sizes": {
			at: spoken(2), edit: func(c *debate.Config) {
				c.Temperature, c.Participants[0].Temperature, c.Participants[1].MaxTokens = new(0.1), new(1.5), 77
			},
			check: func(t *testing.T, s shown) {
				for _, req := range s.requests {
					switch req.Self {
					case "Ada":
						assert.InDelta(t, 1.5, *req.Temperature, 0)
						assert.Equal(t, 4096, req.MaxTokens)
					case "Ben":
						assert.InDelta(t, 0.1, *req.Temperature, 0)
						assert.Equal(t, 77, req.MaxTokens)
					}
				}
			},
		},
		"what cannot change later, from the beginning": {
			at: anew, edit: func(c *debate.Config) {
				c.Format, c.Mode, c.Rounds = format.FreeForm, debate.Simultaneous, 1
				c.Participants = append(c.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
				c.Participants[0].Name = "Zoe"
			},
			check: func(t *testing.T, s shown) {
				assert.Equal(t, []string{"r1 Zoe", "r1 Ben", "r1 Cyd"}, stage.InSlots(s.record))
				assert.Equal(t, format.FreeForm, stage.View(s.record).Format().Name)
			},
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			if c.config != nil {
				c.config(&config)
			}
			w, events := sown(t, config)
			edited := config
			seq := c.at(t, events)
			session, err := w.engine.Fork(t.Context(), "parent", seq, debate.Editing(func(c2 *debate.Config) {
				assert.Empty(t, c2.ID, "an id is to be chosen, or is new")
				c.edit(c2)
				edited = *c2
			}))
			require.NoError(t, err)
			w.config = edited
			record := w.conclude(t, session)
			assert.Zero(t, record.InFlight())
			c.check(t, shown{record, w.source.Requests(), session, w})
			data, err := session.Snapshot(t.Context())
			require.NoError(t, err)
			_, err = (&debate.Engine{}).Import(t.Context(), bytes.NewReader(data))
			assert.NoError(t, err, "the fork's log is as good as any")
		}))
	}
}

// The present round begins in a fork as the fork's number of rounds has it, as long as nobody has spoken in it: also if somebody is asked
// there, and if the debate was paused. A fork whose number of rounds was not edited leaves it as it was, whatever was amended since.
func TestARoundInWhichNobodyHasSpokenIsForked(t *testing.T) {
	for name, tc := range map[string]struct {
		person         bool // Ada
		rounds, forked int  // the number of rounds of the original, and of the fork
		then           func(t *testing.T, session *debate.Session)
		want           []flow.CallKind // of each round
	}{
		"a person is asked": {
			person: true, rounds: 5, forked: 3,
			then: func(t *testing.T, session *debate.Session) {
				for _, call := range []string{stage.AdasOpening, "r2.rebuttal.Ada"} {
					stage.AwaitsInput(t, session)
					require.NoError(t, session.Answer(t.Context(), flow.Answer{Inquiry: call, Text: "A word of mine."}))
				}
				stage.AwaitsInput(t, session)
			},
			want: []flow.CallKind{"opening", "rebuttal", "closing"},
		},
		"the debate is paused": {
			rounds: 5, forked: 3,
			then: func(t *testing.T, session *debate.Session) {
				stage.Pass(270 * time.Second)
				require.NoError(t, session.Pause(t.Context()))
			},
			want: []flow.CallKind{"opening", "rebuttal", "closing"},
		},
		"the number of rounds is amended": {
			rounds: 3, forked: 3,
			then: func(t *testing.T, session *debate.Session) {
				stage.Pass(270 * time.Second)
				require.NoError(t, session.Control(t.Context(), flow.Amendment{Rounds: new(5)}))
			},
			want: []flow.CallKind{"opening", "rebuttal", "closing", "rebuttal", "closing"},
		},
	} {
		t.Run(name, stage.Bubbled(func(t *testing.T) {
			config := stage.TwoDebaters()
			config.Rounds, config.Judging = tc.rounds, nil
			if tc.person {
				config.Participants[0].Model, config.Participants[0].Person = "", true
			}
			engine, p := stage.Engine(config)
			engine.Store = &store.Memory{}
			stage.Altered(p, func(_ *provider.Request, r *scripted.Reply) { r.Delay = time.Minute })
			session := stage.Started(t, engine, config)
			tc.then(t, session)
			record := stage.SessionRecord(t, session)
			require.Equal(t, []int{3, 4}, []int{record.Round, len(record.Turns)})
			fork, err := engine.Fork(t.Context(), session.ID(), record.Seq, debate.Editing(func(c *debate.Config) {
				c.Rounds, c.Participants[0].Model, c.Participants[0].Person = tc.forked, "test/debater", false
			}))
			require.NoError(t, err)
			defer fork.Close()
			if stage.SessionRecord(t, fork).State == flow.StatePaused {
				require.NoError(t, fork.Resume(t.Context()))
			}
			var kinds []flow.CallKind
			for _, turn := range stage.Ended(t, fork).Turns {
				if turn.Speaker == "Ada" {
					kinds = append(kinds, turn.Kind)
				}
			}
			assert.Equal(t, tc.want, kinds)
		}))
	}
}
