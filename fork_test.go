package debate_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// kept yields a debate's facts as its store has them.
func kept(t *testing.T, store debate.Store, id string) (events []debate.Event) {
	t.Helper()
	for event, err := range store.Read(t.Context(), id, 0) {
		require.NoError(t, err)
		events = append(events, event)
	}
	return events
}

// turned is the number of the event with which a host has led a debate another way; without any, that
// after the last.
func turned(events []debate.Event) int64 {
	for i := range events {
		e := &events[i]
		if as[flow.Sent](*e) != nil || as[flow.Transition](*e) != nil && slices.Contains([]debate.Trigger{flow.TriggerStop, flow.TriggerCancel}, as[flow.Transition](*e).On) {
			return e.Seq
		}
	}
	return int64(len(events)) + 1
}

// part is the beginning of a log.
type part []debate.Event

// open yields the attempts that have no outcome, by call. What a person was asked is not lost.
func (p part) open() map[string]int {
	open := map[string]int{}
	for i := range p {
		switch e := &p[i]; {
		case as[flow.Intent](*e) != nil:
			open[as[flow.Intent](*e).Call] = as[flow.Intent](*e).Attempt
		case as[flow.Inquiry](*e) != nil && as[flow.Inquiry](*e).About == "":
			delete(open, as[flow.Inquiry](*e).ID)
		default:
			if spend := flow.SpendOf(e.Body); spend != nil {
				delete(open, spend.Call)
			}
		}
	}
	return open
}

// settled yields the calls that have a result, and the inquiries that are answered.
func (p part) settled() map[string]bool {
	done := map[string]bool{}
	for i := range p {
		e := &p[i]
		if as[flow.Answer](*e) != nil {
			done[as[flow.Answer](*e).Inquiry] = true
		}
		if as[debate.Turn](*e) != nil || as[debate.Assignment](*e) != nil || as[debate.Ballot](*e) != nil || as[flow.Summarized](*e) != nil || as[debate.Assessment](*e) != nil || as[debate.Verdict](*e) != nil {
			done[flow.SpendOf(e.Body).Call] = true
		}
	}
	return done
}

// requests counts the requests whose outcome is known.
func (p part) requests() (n int) {
	for i := range p {
		if spend := flow.SpendOf(p[i].Body); spend != nil && spend.Model != "" && (as[flow.Failure](p[i]) == nil || !as[flow.Failure](p[i]).Unsent) {
			n++
		}
	}
	return n
}

// copied yields the events that a fork is to begin with, behind its start: without numbers, and without
// the calls that are left out.
func (p part) copied(leave map[string]int) (out []string) {
	for _, e := range p {
		if as[flow.Start](e) != nil || as[flow.Intent](e) != nil && leave[as[flow.Intent](e).Call] == as[flow.Intent](e).Attempt {
			continue
		}
		e.Seq = 0
		out = append(out, toJSON(e))
	}
	return out
}

// last names the last event.
func (p part) last() string {
	if len(p) == 0 {
		return "nothing"
	}
	e := p[len(p)-1]
	if e.Kind() == flow.EventStart {
		return "the start"
	}
	text := toJSON(e)
	return text[:min(len(text), 200)]
}

// forked is a debate that was played, and is forked everywhere.
type forked struct {
	course
	world       *world // in which it is forked
	events      part
	calls       int
	spent       flow.Account
	undisturbed string
	ended       string
}

// at forks the debate after an event, and says what is wrong with the fork.
func (f *forked) at(t *testing.T, seq int64) error {
	w := f.world
	former := w.source.Calls()
	session, err := w.engine.Fork(t.Context(), "parent", seq, nil)
	if err != nil {
		return err
	}
	fork, err := w.end(t.Context(), session)
	if err != nil {
		return err
	}
	want := f.undisturbed
	if seq >= turned(f.events) {
		want = f.ended
	}
	before, log, start := f.events[:seq], part(kept(t, w.engine.Store, session.ID())), as[flow.Start](f.events[0])
	copied := before.copied(before.open())
	calls := w.source.Calls() - former
	rest := log[min(len(log), len(copied)+1):]
	switch got := canonical(t, fork); {
	case session.ID() == "parent" || fork.ID != session.ID():
		return fmt.Errorf("its id is %q", fork.ID)
	case got != want:
		return fmt.Errorf("it ends as\n%s\nand not as\n%s", got, want)
	case fork.Parent() == nil || fork.Parent().ID != "parent" || fork.Parent().Seq < seq:
		return fmt.Errorf("its parent is %v", fork.Parent())
	case (seq > 0) != (as[flow.Start](log[0]).Seed == start.Seed):
		return fmt.Errorf("its seed is %q, and that of its parent %q", as[flow.Start](log[0]).Seed, start.Seed)
	case seq > 0 && !slices.Equal(copied, log.copied(nil)[:len(copied)]):
		return fmt.Errorf("it begins with\n%s\nand not with\n%s", log.copied(nil)[:len(copied)], copied)
	case f.exact && before.requests()+calls != f.calls:
		return fmt.Errorf("%d requests are made after %d: the parent made %d", w.source.Calls(), before.requests(), f.calls)
	case f.exact && toJSON(fork.Spent()) != toJSON(f.spent):
		return fmt.Errorf("%v is spent, by the parent %v", fork.Spent(), f.spent)
	}
	settled := before.settled()
	for i := range rest {
		if in := as[flow.Intent](rest[i]); in != nil && settled[in.Call] {
			return fmt.Errorf("%s is asked again", in.Call)
		}
		if a := as[flow.Answer](rest[i]); a != nil && settled[a.Inquiry] {
			return fmt.Errorf("a person is asked %s again", a.Inquiry)
		}
	}
	return nil
}

// Wherever a debate is forked, the fork ends as the debate would have, and nothing that stands in the
// copied part is asked or paid for again.
func TestForkingAtEveryPoint(t *testing.T) {
	forks, debates := 0, 0
	for name, c := range courses() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := &forked{course: c, undisturbed: c.undisturbed(t)}
				f.config.ID = "parent"
				w, record := f.play(t, &store.Memory{})
				f.events, f.ended, f.calls, f.spent = kept(t, w.engine.Store, "parent"), canonical(t, record), w.source.Calls(), record.Spent()
				before := toJSON(f.events)
				f.world = f.course.world(w.engine.Store)
				f.world.mend()
				for seq := int64(0); seq <= int64(len(f.events)); seq += int64(min(fewer, 5)) {
					assert.NoError(t, f.at(t, seq), "forked at %d of %d, after %s", seq, len(f.events), f.events[:seq].last())
					forks++
				}
				assert.Equal(t, before, toJSON(kept(t, w.engine.Store, "parent")), "the parent has changed")
			})
			debates++
		})
	}
	fmt.Printf("forked %d debates at %d points\n", debates, forks)
}

// until yields the number of the n-th event, from 1, that a condition holds of.
func until(t *testing.T, events []debate.Event, n int, holds func(e *debate.Event) bool) int64 {
	t.Helper()
	for i := range events {
		if holds(&events[i]) {
			if n--; n == 0 {
				return events[i].Seq
			}
		}
	}
	require.Fail(t, "there is no such event")
	return 0
}

func isTurn(e *debate.Event) bool { return as[debate.Turn](*e) != nil }

// sown plays a debate of two and yields the world in which it can be forked, with its facts.
func sown(t *testing.T, config debate.Config) (*world, part) {
	t.Helper()
	c := course{config: config}
	c.config.ID = "parent"
	w, _ := c.play(t, &store.Memory{})
	w = c.world(w.engine.Store)
	w.source.Record = true
	return w, kept(t, w.engine.Store, "parent")
}

// What an edit changes holds from the fork on.
func TestForkingWithAnotherConfig(t *testing.T) {
	type shown struct {
		record   *debate.Record
		requests []provider.Request
		session  *debate.Session
		world    *world
	}
	spoken := func(n int) func(t *testing.T, events part) int64 {
		return func(t *testing.T, events part) int64 { return until(t, events, n, isTurn) }
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
				assert.Equal(t, "Should cities ban cars from their centres?", startConfig(as[flow.Start](kept(t, s.world.engine.Store, "parent")[0])).Topic)
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
				return until(t, events, 3, func(e *debate.Event) bool { return as[debate.Assessment](*e) != nil })
			},
			edit: func(c *debate.Config) { c.Rounds = 4 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 4, rounds(s.record))
				assert.Len(t, s.record.Turns, 8)
				assert.Len(t, view(s.record).Assessments, 4)
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
		"fewer rounds than there were": {
			at: spoken(5), edit: func(c *debate.Config) { c.Rounds = 1 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, 3, rounds(s.record), "the round that has begun is spoken to its end")
				assert.Len(t, s.record.Turns, 6)
				assert.Equal(t, flow.StateCompleted, s.record.State)
				assert.NotNil(t, view(s.record).Verdict)
			},
		},
		"judges for none": {
			config: func(c *debate.Config) { c.Judging = nil },
			at:     spoken(4), edit: func(c *debate.Config) {
				c.Judging = &debate.Judging{Judges: []debate.JudgeConfig{{Model: "test/judge"}, {Judge: "cato"}}}
			},
			check: func(t *testing.T, s shown) {
				assert.Len(t, view(s.record).Assessments, 4, "of rounds two and three")
				assert.Len(t, view(s.record).Verdicts, 2)
			},
		},
		"no judges any more": {
			at: spoken(4), edit: func(c *debate.Config) { c.Judging = nil },
			check: func(t *testing.T, s shown) {
				assert.Len(t, view(s.record).Assessments, 1)
				assert.Nil(t, view(s.record).Verdict)
				assert.Len(t, s.requests, 2)
			},
		},
		"another judge, who sees labels": {
			at: spoken(4), edit: func(c *debate.Config) {
				c.Judging.Judges[0].Model, c.Judging.Anonymous, c.Judging.BothOrders = "test/spare", true, true
			},
			check: func(t *testing.T, s shown) {
				assert.Len(t, view(s.record).Assessments, 3)
				assert.Len(t, view(s.record).Verdicts, 2)
				assert.Equal(t, "test/spare", view(s.record).Verdict.Model)
				assert.Equal(t, "Ada", view(s.record).Verdict.Winner.Participant)
				for _, req := range s.requests {
					if req.Schema != nil {
						assert.NotRegexp(t, `\bAda\b|\bBen\b`, read(&req), req.ID)
					}
				}
			},
		},
		"a budget that is used up": {
			at: spoken(6), edit: func(c *debate.Config) { c.Budget = &debate.Budget{HardCalls: 7} },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, flow.StateError, s.record.State)
				requireKind(t, s.record.Failure, provider.KindCostLimit)
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
				return until(t, events, 1, func(e *debate.Event) bool { return as[flow.Warning](*e) != nil }) - 1
			},
			edit: func(c *debate.Config) { c.Budget.HardCalls = 100 },
			check: func(t *testing.T, s shown) {
				assert.Equal(t, flow.StateCompleted, s.record.State)
				assert.Len(t, s.record.Turns, 6)
				assert.Empty(t, s.record.Warnings)
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
				assert.Equal(t, "blue", startConfig(as[flow.Start](kept(t, s.world.engine.Store, "parent")[0])).Labels["tenant"])
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
				assert.Equal(t, []string{"r1 Zoe", "r1 Ben", "r1 Cyd"}, inSlots(s.record))
				assert.Equal(t, format.FreeForm, view(s.record).Format().Name)
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
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
			})
		})
	}
}

// What the copied part refers to stays as it is: the refusal names the field, and nothing is stored.
func TestForksThatAreRefused(t *testing.T) {
	nobody := func(*debate.Config) {}
	for name, c := range map[string]struct {
		config func(c *debate.Config)
		id     string
		seq    int64 // from the end, if negative
		edit   func(c *debate.Config)
		flow   string // that the edited config is given the name of
		kind   debate.Kind
		field  string
	}{
		"another name":                 {edit: func(c *debate.Config) { c.Participants[1].Name = "Bea" }, field: "participants[1]"},
		"another order":                {edit: func(c *debate.Config) { slices.Reverse(c.Participants) }, field: "participants[0]"},
		"a participant more":           {edit: func(c *debate.Config) { c.Participants = append(c.Participants, crew(3).Participants[2]) }, field: "participants"},
		"a participant less":           {edit: func(c *debate.Config) { c.Participants = c.Participants[:1] }, field: "participants"},
		"another flow":                 {edit: nobody, flow: "interview", field: "flow"},
		"a flow that is not there":     {edit: nobody, flow: "opera", field: "flow"},
		"another format":               {edit: func(c *debate.Config) { c.Format = format.FreeForm }, field: "format"},
		"a format of its own":          {edit: func(c *debate.Config) { c.CustomFormat = new(builtin(t, format.FreeForm)) }, field: "customFormat"},
		"another mode":                 {edit: func(c *debate.Config) { c.Mode = debate.Simultaneous }, field: "mode"},
		"an audience":                  {edit: func(c *debate.Config) { c.Audience = &debate.Audience{Members: []debate.Member{{Model: "test/voter"}}} }, field: "audience"},
		"a listener less":              {config: heardBy(2), edit: func(c *debate.Config) { c.Audience.Members = c.Audience.Members[:1] }, field: "audience.members"},
		"a listener's model":           {config: heardBy(2), edit: func(c *debate.Config) { c.Audience.Members[1].Model = "test/x" }, field: "audience.members[1].model"},
		"a phase of a custom format":   {config: ownFormat, edit: func(c *debate.Config) { c.CustomFormat.Phases[0].Name = "x" }, field: "customFormat.phases[0].name"},
		"a config that is wrong":       {edit: func(c *debate.Config) { c.Topic = " " }, field: "topic"},
		"a provider that is not there": {edit: func(c *debate.Config) { c.Participants[0].Model = "nobody/x" }, field: "participants[0].model"},
		"an id that is a path":         {edit: func(c *debate.Config) { c.ID = "../x" }, field: "id"},
		"its own id":                   {edit: func(c *debate.Config) { c.ID = "parent" }, kind: provider.KindConflict, field: "id"},
		"its own id, from scratch":     {seq: 1000, edit: func(c *debate.Config) { c.ID = "parent" }, kind: provider.KindConflict, field: "id"},
		"wrong from the beginning":     {seq: 1000, edit: func(c *debate.Config) { c.Topic = "" }, field: "topic"},
		"a path from the beginning":    {seq: 1000, edit: func(c *debate.Config) { c.ID = ".." }, field: "id"},
		"before the beginning":         {seq: 999, edit: nobody, field: "seq"},
		"behind the end":               {seq: 1001, edit: nobody, field: "seq"},
		"nothing":                      {id: "nothing", edit: nobody, field: "id"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				if c.config != nil {
					c.config(&config)
				}
				w, events := sown(t, config)
				w.engine.Flows = map[string]*debate.Flow{"interview": interview()}
				before, calls := toJSON(events), w.source.Calls()
				id, seq := "parent", int64(9)
				if c.id != "" {
					id = c.id
				}
				if c.seq != 0 {
					seq = map[int64]int64{999: -1, 1000: 0, 1001: int64(len(events)) + 1}[c.seq]
				}
				session, err := w.engine.Fork(t.Context(), id, seq, func(config flow.Config) flow.Config {
					if config = debate.Editing(c.edit)(config); c.flow != "" {
						config = flow.Named(c.flow, config)
					}
					return config
				})
				assert.Nil(t, session)
				kind := c.kind
				if kind == "" {
					kind = provider.KindValidation
				}
				failure := requireKind(t, err, kind)
				assert.True(t, strings.HasPrefix(failure.Field, c.field), "%v", err)
				assert.Equal(t, id == "nothing", errors.Is(err, debate.ErrNotFound))
				assert.Less(t, len(err.Error()), 400)
				assert.Equal(t, calls, w.source.Calls())
				var held []string
				for info, err := range w.engine.List(t.Context(), debate.Filter{}) {
					require.NoError(t, err)
					held = append(held, info.ID)
				}
				assert.Equal(t, []string{"parent"}, held)
				assert.Equal(t, before, toJSON(kept(t, w.engine.Store, "parent")))
			})
		})
	}
}

func heardBy(n int) func(c *debate.Config) {
	return func(c *debate.Config) {
		c.Audience = &debate.Audience{}
		for range n {
			c.Audience.Members = append(c.Audience.Members, debate.Member{Model: "test/voter"})
		}
	}
}

func ownFormat(c *debate.Config) {
	c.Format, c.CustomFormat = "", &debate.Format{
		Name: "own", End: format.EndByRounds, Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}},
	}
}

// Sides are seats: who speaks when and who leads depends on them.
func TestAForkDoesNotChangeSides(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.Format, config.Rounds = format.LincolnDouglas, 0
		w, events := sown(t, config)
		session, err := w.engine.Fork(t.Context(), "parent", until(t, events, 2, isTurn), debate.Editing(func(c *debate.Config) {
			c.Participants[0].Side, c.Participants[1].Side = c.Participants[1].Side, c.Participants[0].Side
		}))
		if err == nil {
			session.Close()
		}
		failure := requireKind(t, err, provider.KindValidation)
		assert.Contains(t, failure.Field, "participants[0]")
	})
}

// A fork may be forked again, also from the beginning; each knows whom it comes from.
func TestAForkOfAFork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, events := sown(t, twoDebaters())
		want := canonical(t, w.recordOf(t, "parent"))
		first, err := w.engine.Fork(t.Context(), "parent", until(t, events, 3, isTurn), debate.Editing(func(c *debate.Config) { c.ID = "child" }))
		require.NoError(t, err)
		assert.Equal(t, "child", first.ID())
		w.conclude(t, first)
		log := kept(t, w.engine.Store, "child")
		at := until(t, log, 5, isTurn)
		second, err := w.engine.Fork(t.Context(), "child", at, debate.Editing(func(c *debate.Config) { c.ID = "grandchild" }))
		require.NoError(t, err)
		record := w.conclude(t, second)
		assert.Equal(t, want, canonical(t, record))
		assert.Equal(t, &flow.Parent{ID: "child", Seq: at}, record.Parent())
		assert.Equal(t, &flow.Parent{ID: "parent", Seq: until(t, events, 3, isTurn)}, w.recordOf(t, "child").Parent())
		assert.Nil(t, w.recordOf(t, "parent").Parent())
		third, err := w.engine.Fork(t.Context(), "grandchild", 0, nil)
		require.NoError(t, err)
		record = w.conclude(t, third)
		assert.Equal(t, want, canonical(t, record))
		assert.Equal(t, &flow.Parent{ID: "grandchild"}, record.Parent())
	})
}

// recordOf folds a stored log.
func (w *world) recordOf(t *testing.T, id string) *debate.Record {
	t.Helper()
	record, err := w.engine.Record(t.Context(), id)
	require.NoError(t, err)
	return record
}

// A debate that is open and works can be forked, by whoever reads its store; both come to their end.
func TestForkingADebateThatRuns(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := course{config: twoDebaters()}
			w := c.world(&store.Memory{})
			parent, err := w.engine.Start(t.Context(), w.config)
			require.NoError(t, err)
			pass(2500 * time.Millisecond)
			engine := w.engine
			if elsewhere {
				engine = twin(engine)
			}
			record, err := parent.Record(t.Context())
			require.NoError(t, err)
			require.Equal(t, 1, record.InFlight())
			fork, err := engine.Fork(t.Context(), parent.ID(), record.Seq, nil)
			require.NoError(t, err)
			want := c.undisturbed(t)
			forked := w.conclude(t, fork)
			assert.Equal(t, want, canonical(t, forked))
			ended := w.conclude(t, parent)
			assert.Equal(t, want, canonical(t, ended))
			assert.Equal(t, ended.Spent(), forked.Spent())
			assert.Equal(t, 10+8, w.source.Calls(), "two turns are shared")
		})
	}
}

// The time between a debate and its fork is no time of a round.
func TestAForkThatComesLater(t *testing.T) {
	for name, limit := range map[string]func(c *debate.Config){
		"a round's time":  func(c *debate.Config) { c.RoundTimeout = time.Minute },
		"a retry's time":  func(c *debate.Config) { c.Retry = &debate.RetryPolicy{Base: time.Minute} },
		"a round's delay": func(c *debate.Config) { c.RoundDelay = time.Minute },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := twoDebaters()
				limit(&config)
				w, events := sown(t, config)
				want := canonical(t, w.recordOf(t, "parent"))
				pass(24 * time.Hour)
				for n := 1; n <= 5; n += 2 { // Ben is to speak
					session, err := w.engine.Fork(t.Context(), "parent", until(t, events, n, isTurn), nil)
					require.NoError(t, err)
					assert.Equal(t, want, canonical(t, w.conclude(t, session)), "after turn %d", n)
				}
			})
		})
	}
}

// The format is the one of the log, whatever the engine now has under its name.
func TestAForkKeepsItsFormat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := debate.Format{Name: "own", End: format.EndByRounds, Phases: []format.Phase{{Name: "talk", First: 1, Last: -1}}}
		config := twoDebaters()
		config.Format = "own"
		c := course{config: config, setup: func(w *world) { w.engine.Formats = map[string]debate.Format{"own": f} }}
		c.config.ID = "parent"
		w, record := c.play(t, &store.Memory{})
		f.Phases = []format.Phase{{Name: "shouting", First: 1, Last: -1}}
		other := c.world(w.engine.Store)
		session, err := other.engine.Fork(t.Context(), "parent", until(t, kept(t, w.engine.Store, "parent"), 2, isTurn), nil)
		require.NoError(t, err)
		fork := other.conclude(t, session)
		assert.Equal(t, canonical(t, record), canonical(t, fork))
		delete(other.engine.Formats, "own")
		bare := twin(other.engine)
		session, err = bare.Fork(t.Context(), "parent", 5, nil)
		require.NoError(t, err, "the log brings its format along")
		assert.Equal(t, canonical(t, record), canonical(t, other.conclude(t, session)))
	})
}

// A debate that its budget has stopped goes on in a fork with a larger one, as the error's hint says.
func TestAForkGoesOnAfterALimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := twoDebaters()
		config.Budget = &debate.Budget{HardCalls: 7}
		w, events := sown(t, config)
		record := w.recordOf(t, "parent")
		require.Equal(t, flow.StateError, record.State)
		assert.Contains(t, record.Failure.Hint(), "start a new conversation from this one")
		session, err := w.engine.Fork(t.Context(), "parent", int64(len(events)), debate.Editing(func(c *debate.Config) { c.Budget.HardCalls = 100 }))
		require.NoError(t, err)
		fork := w.conclude(t, session)
		assert.Equal(t, flow.StateCompleted, fork.State)
		assert.Len(t, fork.Turns, 6)
	})
}

// An engine that was shut down forks nothing, and leaves nothing behind.
func TestAnEngineThatWasShutDownForksNothing(t *testing.T) {
	for _, seq := range []int64{0, 9} {
		synctest.Test(t, func(t *testing.T) {
			w, _ := sown(t, twoDebaters())
			require.NoError(t, w.engine.Shutdown(t.Context()))
			session, err := w.engine.Fork(t.Context(), "parent", seq, debate.Editing(func(c *debate.Config) { c.ID = "child" }))
			require.ErrorIs(t, err, flow.ErrClosed)
			assert.Nil(t, session)
			_, err = w.engine.Record(t.Context(), "child")
			assert.ErrorIs(t, err, debate.ErrNotFound)
		})
	}
}
