package log_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// course is a debate and all that befalls it, the same each time it runs. What anybody says in it depends
// on the call alone, so that it ends the same wherever it is cut and gone on with.
type course struct {
	config debate.Config
	// setup adds to the world of the debate, which [course.world] has made; nil: nothing.
	setup func(w *world)
	// host disturbs the debate and yields the session in which it goes on; nil: nobody does.
	host func(t *testing.T, w *world, s *debate.Session) *debate.Session
	// exact: the same requests are made again if nobody disturbs it.
	exact bool
	// limited: it ends by what was spent, so that a call that is lost makes a difference.
	limited bool
}

// world is what a debate needs to run.
type world struct {
	config debate.Config
	engine *debate.Engine
	source *scripted.Provider
	outage *stage.Outage // that the host can end; nil: none
}

// world makes an engine for the course over a store, and its models.
func (c course) world(store debate.Store) *world {
	w := &world{config: c.config}
	w.engine, w.source = stage.Engine(c.config)
	w.engine.Store = store
	w.engine.Judges = map[string]debate.Judge{"cato": stage.Outsider(c.config.Participants)}
	w.source.Reply, w.source.Record = stage.Everybody(c.config.Participants), false
	if c.setup != nil {
		c.setup(w)
	}
	reply := w.source.Reply
	w.source.Reply = func(req *provider.Request) scripted.Reply { // in an order of their own, whoever is asked at once
		r, hash := reply(req), fnv.New64a()
		_, _ = hash.Write([]byte(stage.CallOf(req)))
		r.Delay += time.Second + time.Duration(hash.Sum64()%97)*time.Millisecond
		return r
	}
	return w
}

// play runs the course to its end, with all that befalls it.
func (c course) play(t *testing.T, store debate.Store) (*world, *debate.Record) {
	t.Helper()
	w := c.world(store)
	session, err := w.engine.Start(t.Context(), stage.InFlow(w.engine, w.config))
	require.NoError(t, err)
	if c.host != nil {
		session = c.host(t, w, session)
	}
	return w, w.conclude(t, session)
}

// undisturbed is the canonical form of the course if nothing befalls it that a person has to mend.
func (c course) undisturbed(t *testing.T) string {
	t.Helper()
	c.config.ID = ""
	w := c.world(&store.Memory{})
	w.mend()
	session, err := w.engine.Start(t.Context(), stage.InFlow(w.engine, w.config))
	require.NoError(t, err)
	return stage.Canonical(t, w.conclude(t, session))
}

func (w *world) mend() {
	if w.outage != nil {
		w.outage.Over.Store(true)
	}
}

// conclude does what a debate waits for until it is over, or an error ends it for good.
func (w *world) conclude(t *testing.T, s *debate.Session) *debate.Record {
	t.Helper()
	record, err := w.end(t.Context(), s)
	require.NoError(t, err)
	return record
}

// end is conclude, whose error says what stands in the way.
func (w *world) end(ctx context.Context, s *debate.Session) (*debate.Record, error) {
	defer s.Close()
	ctx, cancel := context.WithTimeout(ctx, 24*time.Hour) // of the bubble's clock
	defer cancel()
	for range 100 {
		if s.State() == flow.StatePaused {
			if err := s.Resume(ctx); err != nil {
				return nil, err
			}
		}
		record, err := s.Wait(ctx)
		switch {
		case err == nil:
			return record, nil
		case errors.Is(err, debate.ErrAwaitingInput):
			if err := w.answer(ctx, s, record); err != nil {
				return nil, err
			}
		case record == nil || record.State != flow.StateError:
			return nil, fmt.Errorf("in state %s: %w", s.State(), err)
		default:
			w.mend()
			if s.Retry(ctx) != nil {
				return record, nil
			}
		}
	}
	return nil, fmt.Errorf("it is still in state %s", s.State())
}

// answer answers one question, or acknowledges a warning.
func (w *world) answer(ctx context.Context, s *debate.Session, record *debate.Record) error {
	q := record.Inquiries[0]
	if len(q.Options) > 0 && stage.View(record).Config().Unattended {
		return fmt.Errorf("%s is asked in an unattended debate", q.ID)
	}
	if q.ID == flow.InquiryCost {
		return s.Answer(ctx, flow.Answer{Inquiry: flow.InquiryCost, Option: flow.OptionContinue})
	}
	w.mend()
	if len(q.Options) > 0 {
		return s.Answer(ctx, flow.Answer{Inquiry: q.ID, Option: flow.OptionRetry})
	}
	text := "A person speaks, asked by " + q.ID + "."
	switch q.Kind {
	case debate.KindAssessment:
		text = stage.ByPerson(q.Kind, scoredIn(q.Schema)...)
	case debate.KindVerdict:
		text = stage.ByPerson(q.Kind, scoredIn(q.Schema)...)
	default:
	}
	return s.Answer(ctx, flow.Answer{Inquiry: q.ID, Text: text})
}

// courses are debates that together meet whatever can befall one.
func courses() map[string]course {
	changed := func(how func(c *debate.Config)) course {
		config := stage.TwoDebaters()
		how(&config)
		return course{config: config, exact: true}
	}
	out := map[string]course{
		"sequential":   changed(func(*debate.Config) {}),
		"simultaneous": changed(func(c *debate.Config) { c.Participants, c.Mode = stage.Crew(3).Participants, debate.Simultaneous }),
		"unjudged":     changed(func(c *debate.Config) { c.Judging, c.Format = nil, format.FreeForm }),
		"of a person": changed(func(c *debate.Config) {
			c.Rounds, c.Judging.Judges = 2, []debate.JudgeConfig{{Person: true}}
		}),
		"panel":     panelCourse(),
		"audience":  audienceCourse(),
		"assigned":  assignedCourse(),
		"summaries": summaryCourse(),
		"interview": interviewCourse(),
		"workshop":  workshopCourse(),
	}
	maps.Copy(out, troubledCourses())
	maps.Copy(out, hostedCourses())
	return out
}

// panelCourse has three judges, one of them from outside, who see labels, in both orders.
func panelCourse() course {
	config := stage.Crew(3, debate.For, debate.Against)
	config.Rounds, config.Mode = 2, debate.Simultaneous
	config.Judging = &debate.Judging{
		Judges: []debate.JudgeConfig{{Model: "test/judge"}, {Judge: "cato", Name: "cato"}, {Model: "test/judge"}}, BothOrders: true, Anonymous: true,
		Rubric: &debate.Rubric{Criteria: []debate.Criterion{{Name: "wit", Weight: 30}, {Name: "sense", Weight: 70}}},
	}
	return course{config: config, exact: true}
}

// audienceCourse has an audience that votes and asks, in a format of the host's own.
func audienceCourse() course {
	config := stage.Crew(2, debate.For, debate.Against)
	config.Rounds, config.Format = 1, ""
	config.CustomFormat = &debate.Format{
		Name: "hearing", End: format.EndByRounds, Decide: format.BySwing, Phases: []format.Phase{{Name: "hearing", First: 1, Last: -1, Slots: []format.Slot{
			{Who: format.Everyone, Kind: "statement", Group: 1},
			{Who: "audience:1", Kind: format.KindQuestion, To: "for:1"},
			{Who: "for:1", Kind: format.KindAnswer, To: "audience:1"},
			{Who: "against:1", Kind: "last word"},
		}}},
	}
	config.Audience = &debate.Audience{Members: []debate.Member{{Name: "Mo", Model: "test/voter"}, {Name: "Noor", Model: "test/voter"}}}
	return course{config: config, exact: true}
}

// assignedCourse looks for the positions of two.
func assignedCourse() course {
	config := stage.Unplaced(1, 2)
	config.Rounds, config.Judging.When = 2, debate.AtEnd
	return course{config: config, exact: true}
}

// summaryCourse has windows that do not hold all that is said.
func summaryCourse() course {
	d := stage.NewTalk(6, 3000).Summarizes(true)
	return course{config: d.Config, exact: true, setup: func(w *world) {
		d := stage.NewTalk(6, 3000).Summarizes(true)
		w.engine.Models = d.Engine.Models
		w.source.Reply = d.Provider.Reply
	}}
}

// interviewCourse is a flow of the host's own, which asks people, and which the host hurries.
func interviewCourse() course {
	return course{
		config: stage.TwoDebaters(),
		setup:  func(w *world) { w.engine.Flows = map[string]*debate.Flow{"interview": stage.Interview()} },
		host: func(t *testing.T, w *world, s *debate.Session) *debate.Session {
			for range 2 {
				record := stage.AwaitsInput(t, s)
				require.NoError(t, w.answer(t.Context(), s, record))
			}
			require.NoError(t, s.Send(t.Context(), stage.OnHurry, map[string]int{"by": 7}))
			return s
		},
	}
}

// workshopCourse has models that use tools.
func workshopCourse() course {
	one, two := stage.ToolCall("1", "add", `{"a":1,"b":2}`), stage.ToolCall("2", "sing", `{}`)
	return course{config: stage.ToolUsers(), exact: true, setup: func(w *world) {
		w.engine.Flows = map[string]*debate.Flow{"workshop": stage.Workshop(5)}
		w.engine.Tools = map[string]debate.Tool{"add": new(stage.Tally).MustTool()}
		reply := stage.ToolAsker([]provider.ToolCall{one, two}, []provider.ToolCall{one}).Reply
		w.source.Reply = func(req *provider.Request) scripted.Reply {
			r := reply(req)
			r.Text = "It is three." // and nothing of the fences, whose word is each debate's own
			return r
		}
	}}
}

// troubledCourses are those in which models or budgets fail.
func troubledCourses() map[string]course {
	with := func(how func(c *debate.Config), setup func(w *world)) course {
		config := stage.TwoDebaters()
		how(&config)
		return course{config: config, setup: setup}
	}
	same := func(*debate.Config) {}
	person := func(c *debate.Config) { c.Unattended = false }
	outages := func(kind provider.Kind, hits func(*provider.Request) bool) func(*world) {
		return func(w *world) { w.outage = stage.Befall(w.source, kind, hits) }
	}
	failing := func(kind provider.Kind, hits func(*provider.Request) bool) func(*world) {
		return func(w *world) { stage.Befall(w.source, kind, hits) }
	}
	rejected := with(same, func(w *world) { w.source.Reply = stage.Flaky(w.source.Reply) })
	rejected.exact = true
	fallback := with(func(c *debate.Config) {
		c.Retry, c.Participants[0].Fallbacks = stage.NoRetry(), []string{"test/spare"}
	}, failing(provider.KindAPI, stage.Requested("debater", "r2.rebuttal.Ada")))
	fallback.exact = true
	long := func(c *debate.Config) { c.Rounds, c.Format = 9, format.FreeForm }
	soft := with(long, nil)
	soft.config.Budget = &debate.Budget{SoftCalls: 8}
	hard := with(long, nil)
	hard.config.Budget = &debate.Budget{HardCalls: 8}
	soft.limited, hard.limited = true, true
	return map[string]course{
		"rejected": rejected,
		"fallback": fallback,
		"error":    with(same, outages(provider.KindQuota, stage.Requested("debater", "r1.opening.Ben"))),
		"asked":    with(person, outages(provider.KindAuthentication, stage.Requested("debater", "r2.rebuttal.Ben"))),
		"dropped": with(func(c *debate.Config) {
			c.Participants, c.OnFailure = stage.Crew(3).Participants, stage.Rules(debate.FailureRule{Do: flow.OptionDrop})
		},
			failing(provider.KindRefusal, stage.Said("Cyd", 2))),
		"left out": with(func(c *debate.Config) { c.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionSkip}) },
			failing(provider.KindRefusal, stage.Requested("judge", "r2.assessment"))),
		"given up": with(func(c *debate.Config) { c.OnFailure = stage.Rules(debate.FailureRule{Do: flow.OptionEnd}) },
			failing(provider.KindRefusal, stage.Requested("judge", "r2.assessment"))),
		"confirmed": with(func(c *debate.Config) {
			c.Unattended, c.Budget = false, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
		}, nil),
		"not confirmed": with(func(c *debate.Config) { c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true} }, nil),
		"soft":          soft,
		"limited":       hard,
		"late": with(func(c *debate.Config) { c.RoundTimeout = 20 * time.Second }, func(w *world) {
			stage.Altered(w.source, func(req *provider.Request, r *scripted.Reply) {
				if stage.Requested("debater", "r2.rebuttal.Ben")(req) {
					r.Delay = time.Minute
				}
			})
		}),
	}
}

// hostedCourses are those with which the host interferes.
func hostedCourses() map[string]course {
	after := func(d time.Duration, do func(t *testing.T, w *world, s *debate.Session) *debate.Session) course {
		return course{config: stage.TwoDebaters(), host: func(t *testing.T, w *world, s *debate.Session) *debate.Session {
			stage.Pass(d)
			return do(t, w, s)
		}}
	}
	paused := func(pause flow.Pause) func(*testing.T, *world, *debate.Session) *debate.Session {
		return func(t *testing.T, _ *world, s *debate.Session) *debate.Session {
			require.NoError(t, s.Control(t.Context(), pause))
			stage.Pass(time.Hour)
			return s
		}
	}
	crashed := after(5500*time.Millisecond, func(t *testing.T, w *world, s *debate.Session) *debate.Session {
		require.NoError(t, s.Close())
		stage.Pass(time.Hour)
		s = stage.Reopen(t, stage.Twin(w.engine), s.ID())
		return s
	})
	crashed.config.RoundTimeout = time.Minute
	return map[string]course{
		"paused":  after(1500*time.Millisecond, paused(flow.Pause{})),
		"drained": after(1500*time.Millisecond, paused(flow.Pause{Drain: true})),
		"crashed": crashed,
		"stopped": after(5500*time.Millisecond, func(t *testing.T, _ *world, s *debate.Session) *debate.Session {
			require.NoError(t, s.Stop(t.Context()))
			return s
		}),
		"canceled": after(5500*time.Millisecond, func(t *testing.T, _ *world, s *debate.Session) *debate.Session {
			require.NoError(t, s.Cancel(t.Context()))
			return s
		}),
	}
}

// scoredIn yields the names that a schema for people wants scores for, by the alphabet: the order of a schema is drawn.
func scoredIn(schema []byte) []string {
	var shape struct {
		Properties struct {
			Scores struct {
				Required []string `json:"required"`
			} `json:"scores"`
		} `json:"properties"`
	}
	_ = json.Unmarshal(schema, &shape)
	slices.Sort(shape.Properties.Scores.Required)
	return shape.Properties.Scores.Required
}
