package debate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
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
	outage *outage // that the host can end; nil: none
}

// world makes an engine for the course over a store, and its models.
func (c course) world(store debate.Store) *world {
	w := &world{config: c.config}
	w.engine, w.source = engineFor(c.config)
	w.engine.Store = store
	w.engine.Judges = map[string]debate.Judge{"cato": outsider(c.config.Participants)}
	w.source.Reply, w.source.Record = everybody(c.config.Participants), false
	if c.setup != nil {
		c.setup(w)
	}
	reply := w.source.Reply
	w.source.Reply = func(req *provider.Request) scripted.Reply { // in an order of their own, whoever is asked at once
		r, hash := reply(req), fnv.New64a()
		_, _ = hash.Write([]byte(callOf(req)))
		r.Delay += time.Second + time.Duration(hash.Sum64()%97)*time.Millisecond
		return r
	}
	return w
}

// play runs the course to its end, with all that befalls it.
func (c course) play(t *testing.T, store debate.Store) (*world, *debate.Record) {
	t.Helper()
	w := c.world(store)
	session, err := w.engine.Start(t.Context(), inFlow(w.engine, w.config))
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
	session, err := w.engine.Start(t.Context(), inFlow(w.engine, w.config))
	require.NoError(t, err)
	return canonical(t, w.conclude(t, session))
}

func (w *world) mend() {
	if w.outage != nil {
		w.outage.over.Store(true)
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
	if len(q.Options) > 0 && view(record).Config().Unattended {
		return fmt.Errorf("%s is asked in an unattended debate", q.ID)
	}
	if q.ID == flow.InquiryCost {
		return s.Acknowledge(ctx)
	}
	w.mend()
	if len(q.Options) > 0 {
		return s.Choose(ctx, q.ID, flow.OptionRetry)
	}
	text := "A person speaks, asked by " + q.ID + "."
	switch q.Kind {
	case debate.KindAssessment:
		text = byPerson(q.Kind, scoredIn(q.Schema)...)
	case debate.KindVerdict:
		text = byPerson(q.Kind, scoredIn(q.Schema)...)
	default:
	}
	return s.Answer(ctx, q.ID, text)
}

// everybody answers for all models of a debate. Speeches are marked with their speaker's name, so that a
// judge finds for the same one whatever label it bears.
func everybody(all []debate.Participant) func(*provider.Request) scripted.Reply {
	return func(req *provider.Request) scripted.Reply {
		call := strings.TrimSuffix(callOf(req), ".again")
		usage := provider.Usage{Input: 100 + 10*len(req.Messages), Output: 50}
		if req.Schema == nil {
			return scripted.Reply{Text: mark(req.Self) + " speaks: " + news(call), Usage: usage}
		}
		names := recognised(all, labelsIn(req.Schema.JSON), func(yield func(speaker, text string) bool) {
			for i := range req.Messages {
				if !yield(req.Messages[i].Speaker, req.Messages[i].Text) {
					return
				}
			}
		})
		return scripted.Reply{Text: placed(req, found(flow.CallKind(req.Schema.Name), names, req.Self, call)), Usage: usage}
	}
}

// outsider is a judge that is no model, and finds as they do.
func outsider(all []debate.Participant) debate.Judge {
	return debate.JudgeFunc(func(_ context.Context, task debate.JudgeTask) (json.RawMessage, error) {
		names := recognised(all, labelsIn(task.Schema), func(yield func(speaker, text string) bool) {
			for _, turn := range task.Turns {
				if !yield(turn.Speaker, turn.Text) {
					return
				}
			}
		})
		kind := task.Kind
		if kind == debate.KindAssessment && strings.Contains(string(task.Schema), `"criteria"`) {
			kind = "rubric"
		}
		return json.RawMessage(found(kind, names, "cato", strings.TrimSuffix(task.Call, ".again"))), nil
	})
}

// found is a well-formed answer to a call with a schema.
func found(kind flow.CallKind, names []string, by, call string) string {
	switch kind {
	case debate.KindVerdict:
		return strings.Replace(verdict(names), "A close debate.", "So finds "+by+" in "+call+".", 1)
	case debate.KindBallot:
		return toJSON(debate.BallotPaper{Vote: []debate.Vote{debate.VoteFor, debate.VoteAgainst}[len(by)%2], Reasoning: "So feels " + by + "."})
	case debate.KindAssign:
		return toJSON(plan(noonPosition, quarterPosition))
	case debate.KindAssessment:
		return strings.Replace(judgement(names, true), "Both made their case.", "So sees "+by+" in "+call+".", 1)
	default: // by a rubric
		var tree map[string]any
		_ = json.Unmarshal([]byte(judgement(names, true)), &tree)
		for i, m := range tree["assessments"].([]any) {
			each := m.(map[string]any)
			delete(each, "score")
			each["criteria"] = map[string]int{"wit": 9 - i, "sense": 4 + i}
		}
		return toJSON(tree)
	}
}

// mark is what a participant's speeches hold, and no label replaces.
func mark(name string) string { return "[" + strings.ToLower(name) + "]" }

// recognised yields the names under which a judge knows the participants, in the participants' order.
func recognised(all []debate.Participant, allowed []string, said func(yield func(speaker, text string) bool)) []string {
	var names []string
	for _, p := range all {
		known := p.Name
		for speaker, text := range said {
			if strings.Contains(text, mark(p.Name)) {
				known = speaker
				break
			}
		}
		if slices.Contains(allowed, known) {
			names = append(names, known)
		}
	}
	for _, name := range allowed { // who has said nothing
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// courses are debates that together meet whatever can befall one.
func courses() map[string]course {
	changed := func(how func(c *debate.Config)) course {
		config := twoDebaters()
		how(&config)
		return course{config: config, exact: true}
	}
	out := map[string]course{
		"sequential":   changed(func(*debate.Config) {}),
		"simultaneous": changed(func(c *debate.Config) { c.Participants, c.Mode = crew(3).Participants, debate.Simultaneous }),
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
	config := crew(3, debate.For, debate.Against)
	config.Rounds, config.Mode = 2, debate.Simultaneous
	config.Judging = &debate.Judging{
		Judges: []debate.JudgeConfig{{Model: "test/judge"}, {Judge: "cato", Name: "cato"}, {Model: "test/judge"}}, BothOrders: true, Anonymous: true,
		Rubric: &debate.Rubric{Criteria: []debate.Criterion{{Name: "wit", Weight: 30}, {Name: "sense", Weight: 70}}},
	}
	return course{config: config, exact: true}
}

// audienceCourse has an audience that votes and asks, in a format of the host's own.
func audienceCourse() course {
	config := crew(2, debate.For, debate.Against)
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
	config := unplaced(1, 2)
	config.Rounds, config.Judging.When = 2, debate.AtEnd
	return course{config: config, exact: true}
}

// summaryCourse has windows that do not hold all that is said.
func summaryCourse() course {
	d := newTalk(6, 3000).summarizes(true)
	return course{config: d.config, exact: true, setup: func(w *world) {
		d := newTalk(6, 3000).summarizes(true)
		w.engine.Models = d.engine.Models
		w.source.Reply = d.p.Reply
	}}
}

// interviewCourse is a flow of the host's own, which asks people, and which the host hurries.
func interviewCourse() course {
	return course{
		config: twoDebaters(),
		setup:  func(w *world) { w.engine.Flows = map[string]*debate.Flow{"interview": interview()} },
		host: func(t *testing.T, w *world, s *debate.Session) *debate.Session {
			for range 2 {
				record, err := s.Wait(t.Context())
				require.ErrorIs(t, err, debate.ErrAwaitingInput)
				require.NoError(t, w.answer(t.Context(), s, record))
			}
			require.NoError(t, s.Send(t.Context(), onHurry, map[string]int{"by": 7}))
			return s
		},
	}
}

// workshopCourse has models that use tools.
func workshopCourse() course {
	one, two := toolCall("1", "add", `{"a":1,"b":2}`), toolCall("2", "sing", `{}`)
	return course{config: workers(), exact: true, setup: func(w *world) {
		w.engine.Flows = map[string]*debate.Flow{"workshop": workshop(5)}
		w.engine.Tools = map[string]debate.Tool{"add": new(tally).mustTool()}
		reply := worker([]provider.ToolCall{one, two}, []provider.ToolCall{one}).Reply
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
		config := twoDebaters()
		how(&config)
		return course{config: config, setup: setup}
	}
	same := func(*debate.Config) {}
	person := func(c *debate.Config) { c.Unattended = false }
	outages := func(kind provider.Kind, hits func(*provider.Request) bool) func(*world) {
		return func(w *world) { w.outage = befall(w.source, kind, hits) }
	}
	failing := func(kind provider.Kind, hits func(*provider.Request) bool) func(*world) {
		return func(w *world) { befall(w.source, kind, hits) }
	}
	rejected := with(same, func(w *world) { w.source.Reply = flaky(w.source.Reply) })
	rejected.exact = true
	fallback := with(func(c *debate.Config) {
		c.Retry, c.Participants[0].Fallbacks = noRetry(), []string{"test/spare"}
	}, failing(provider.KindAPI, requested("debater", "r2.rebuttal.Ada")))
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
		"error":    with(same, outages(provider.KindQuota, requested("debater", "r1.opening.Ben"))),
		"asked":    with(person, outages(provider.KindAuthentication, requested("debater", "r2.rebuttal.Ben"))),
		"dropped": with(func(c *debate.Config) {
			c.Participants, c.OnFailure = crew(3).Participants, rules(debate.FailureRule{Do: flow.OptionDrop})
		},
			failing(provider.KindRefusal, said("Cyd", 2))),
		"left out": with(func(c *debate.Config) { c.OnFailure = rules(debate.FailureRule{Do: flow.OptionSkip}) },
			failing(provider.KindRefusal, requested("judge", "r2.assessment"))),
		"given up": with(func(c *debate.Config) { c.OnFailure = rules(debate.FailureRule{Do: flow.OptionEnd}) },
			failing(provider.KindRefusal, requested("judge", "r2.assessment"))),
		"confirmed": with(func(c *debate.Config) {
			c.Unattended, c.Budget = false, &debate.Budget{Warn: debate.USD / 1000, Confirm: true}
		}, nil),
		"not confirmed": with(func(c *debate.Config) { c.Budget = &debate.Budget{Warn: debate.USD / 1000, Confirm: true} }, nil),
		"soft":          soft,
		"limited":       hard,
		"late": with(func(c *debate.Config) { c.RoundTimeout = 20 * time.Second }, func(w *world) {
			reply := w.source.Reply
			w.source.Reply = func(req *provider.Request) scripted.Reply {
				r := reply(req)
				if requested("debater", "r2.rebuttal.Ben")(req) {
					r.Delay = time.Minute
				}
				return r
			}
		}),
	}
}

// hostedCourses are those with which the host interferes.
func hostedCourses() map[string]course {
	after := func(d time.Duration, do func(t *testing.T, w *world, s *debate.Session) *debate.Session) course {
		return course{config: twoDebaters(), host: func(t *testing.T, w *world, s *debate.Session) *debate.Session {
			pass(d)
			return do(t, w, s)
		}}
	}
	paused := func(mode ...debate.CallMode) func(*testing.T, *world, *debate.Session) *debate.Session {
		return func(t *testing.T, _ *world, s *debate.Session) *debate.Session {
			require.NoError(t, s.Pause(t.Context(), mode...))
			pass(time.Hour)
			return s
		}
	}
	crashed := after(5500*time.Millisecond, func(t *testing.T, w *world, s *debate.Session) *debate.Session {
		require.NoError(t, s.Close())
		pass(time.Hour)
		s, err := twin(w.engine).Open(t.Context(), s.ID())
		require.NoError(t, err)
		return s
	})
	crashed.config.RoundTimeout = time.Minute
	return map[string]course{
		"paused":  after(1500*time.Millisecond, paused()),
		"drained": after(1500*time.Millisecond, paused(debate.Drain)),
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
