package debate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// survey is the config of a flow that has nothing of a debate: people are asked for marks.
type survey struct {
	ID     string          `json:"id,omitempty"`
	Topic  string          `json:"topic"`
	People []string        `json:"people"`
	Model  string          `json:"model"`
	Tone   json.RawMessage `json:"tone,omitempty"`
	// Labels and Part may be left out.
	Labels map[string]string `json:"labels,omitempty"`
	Part   *flowPart         `json:"part,omitempty"`
}

func (*survey) Flow() string { return "survey" }

func (s *survey) Terms() flow.Terms {
	return flow.Terms{ID: s.ID, Topic: s.Topic, Participants: s.People, Rounds: 1, Labels: s.Labels}
}

func (s *survey) Models() iter.Seq2[string, string] {
	return func(yield func(field, name string) bool) { yield("model", s.Model) }
}

// grade is what somebody answers.
type grade struct {
	Mark int `json:"mark"`
}

// opinion is the body of an event that only a survey has.
type opinion struct {
	flow.Spend

	By   string `json:"by"`
	Mark int    `json:"mark"`
}

func (*opinion) EventKind() flow.EventKind { return "opinion" }

// grades are what a survey keeps for itself.
type grades struct {
	people []string
	given  map[string]int
}

func (g *grades) Fold(e *debate.Event) error {
	body, ok := e.Body.(*opinion)
	if !ok {
		return nil
	}
	if !slices.Contains(g.people, body.By) {
		return &debate.Error{Kind: provider.KindValidation, Op: "survey", Field: "opinion.by", Err: fmt.Errorf("%q is not asked", body.By)}
	}
	g.given[body.By] = body.Mark
	return nil
}

// gradesOf yields what a survey keeps.
func gradesOf(r *debate.Record) map[string]int {
	if g, ok := r.Part().(*grades); ok {
		return g.given
	}
	return nil
}

// surveyFlow asks each of the people for a mark, one after the other.
func surveyFlow(t *testing.T) *debate.Flow {
	t.Helper()
	schema := flow.AnswerSchema[grade]("mark", flow.AnswerOf[grade]{
		Body: func(_ *debate.Record, in *flow.Intent, spend flow.Spend, g *grade) flow.Body {
			return &opinion{Spend: spend, By: in.By, Mark: g.Mark}
		},
	})
	next := func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return "asked", flow.Exit{}, true }
	calls := func(r *debate.Record) []flow.Call {
		for i, name := range r.Active() {
			if id := "mark." + name; !r.Done(id) {
				config, _ := r.Config().(*survey)
				return []flow.Call{{ID: id, Kind: "mark", By: name, Model: config.Model, Slot: i, Schema: "mark"}}
			}
		}
		return nil
	}
	return &debate.Flow{
		Name: "survey", Version: 1, Start: "asking",
		Rules:   []debate.Rule{{From: "asking", On: "asked", To: flow.StateCompleting}},
		Steps:   map[debate.State]flow.Step{"asking": {Calls: calls, Next: next}},
		Schemas: map[string]*flow.Schema{"mark": schema},
		Bodies:  []flow.Body{&opinion{}},
		Decode: func(data []byte) (flow.Config, error) {
			s := new(survey)
			return s, flow.DecodeStrict("read config", data, s)
		},
		Settle: func(config flow.Config) (flow.Config, error) {
			given, ok := config.(*survey)
			if !ok {
				return nil, &debate.Error{Kind: provider.KindValidation, Field: "config", Err: fmt.Errorf("a %T is no survey", config)}
			}
			s := *given
			s.ID, s.People, s.Tone, s.Labels = "", slices.Clone(s.People), slices.Clone(s.Tone), maps.Clone(s.Labels)
			return &s, nil
		},
		Check: func(config flow.Config, _ any, known flow.Registry) []error {
			s, _ := config.(*survey)
			terms := s.Terms()
			if err := known.Model(&terms, s.Model); err != nil {
				return []error{&debate.Error{Kind: provider.KindValidation, Op: "config", Field: "model", Err: err}}
			}
			return nil
		},
		Open: func(r *debate.Record, _ *flow.Start) (flow.Part, error) {
			return &grades{r.Terms().Participants, map[string]int{}}, nil
		},
	}
}

// newSurvey is a survey of two, and an engine whose models give them the marks 3 and 4.
func newSurvey(t *testing.T) (*survey, *debate.Engine, *scripted.Provider) {
	t.Helper()
	p := &scripted.Provider{Record: true, Reply: func(req *provider.Request) scripted.Reply {
		return scripted.Reply{Text: fmt.Sprintf(`{"mark":%d}`, map[string]int{"Ada": 3, "Ben": 4}[req.Self])}
	}}
	config := &survey{ID: "asked", Topic: "How was the debate?", People: []string{"Ada", "Ben"}, Model: "test/any"}
	return config, &debate.Engine{
		Providers: map[string]debate.Provider{"test": p}, Flows: map[string]*debate.Flow{"survey": surveyFlow(t)},
	}, p
}

// onDisk is a store that keeps nothing but JSON.
type onDisk struct {
	*store.Memory
	t *testing.T
}

func (s onDisk) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	return s.Memory.Append(ctx, id, after, writer, throughJSON(s.t, events))
}

// A store that keeps JSON knows nothing of a flow's own events. Whoever has the flow reads them, wherever they come from.
func TestAStrangersEventsAreReadFromJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, p := newSurvey(t)
		slowly(p)
		s := onDisk{&store.Memory{}, t}
		engine.Store = s
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		pass(1500 * time.Millisecond) // Ben is being asked
		early, err := session.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, session.Close())
		for _, e := range kept(t, s, config.ID) {
			if e.Kind() == "opinion" {
				assert.IsType(t, &flow.Foreign{}, e.Body)
			}
		}

		session, err = engine.Open(t.Context(), config.ID)
		require.NoError(t, err)
		defer session.Close()
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		want := map[string]int{"Ada": 3, "Ben": 4}
		assert.Equal(t, want, gradesOf(record))
		assert.Equal(t, config.Model, record.Config().(*survey).Model)
		assert.Equal(t, "survey", record.Flow())
		_, ok := debate.Of(record)
		assert.False(t, ok, "it is no debate")
		assert.Equal(t, 3, record.Spent().Requests, "what was in flight is asked again")

		read := func(events iter.Seq2[debate.Event, error]) map[string]int {
			given := map[string]int{}
			for event, err := range events {
				require.NoError(t, err)
				if body, ok := event.Body.(*opinion); ok {
					given[body.By] = body.Mark
				}
				_, foreign := event.Body.(*flow.Foreign)
				assert.False(t, foreign)
			}
			return given
		}
		assert.Equal(t, want, read(session.Events(t.Context(), 0)))
		assert.Equal(t, want, read(engine.Events(t.Context(), config.ID, 0)))
		stored, err := engine.Record(t.Context(), config.ID)
		require.NoError(t, err)
		assert.Equal(t, want, gradesOf(stored))
		core, err := engine.NewCore(config.ID, throughJSON(t, kept(t, s, config.ID)))
		require.NoError(t, err)
		assert.Equal(t, want, gradesOf(core.Record()))

		// What is given away is the same, in the middle and at the end.
		_, other, q := newSurvey(t)
		other.Store = onDisk{&store.Memory{}, t}
		again, err := other.Restore(t.Context(), early)
		require.NoError(t, err)
		defer again.Close()
		record, err = again.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, gradesOf(record))
		assert.Equal(t, 1, q.Calls(), "Ada has answered")
		_, third, _ := newSurvey(t)
		_, err = third.Import(t.Context(), bytes.NewReader(exported(t, engine, config.ID)))
		require.NoError(t, err)
		record, err = third.Record(t.Context(), config.ID)
		require.NoError(t, err)
		assert.Equal(t, want, gradesOf(record))

		// Without the flow nothing is understood, and nothing is lost.
		ignorant := &debate.Engine{Store: s}
		_, err = ignorant.Record(t.Context(), config.ID)
		assert.Equal(t, "flow", requireKind(t, err, provider.KindValidation).Field)
		_, err = ignorant.Import(t.Context(), bytes.NewReader(early))
		assert.Equal(t, "events[0].body.flow", requireKind(t, err, provider.KindValidation).Field)
		assert.Equal(t, toJSON(kept(t, s, config.ID)), toJSON(throughJSON(t, kept(t, s, config.ID))))
	})
}

// An event of a flow's own may be hostile as any other.
func TestAStrangersHostileEventsAreRefused(t *testing.T) {
	config, engine, _ := newSurvey(t)
	l := logOf(t, engine, run(t, engine, config).ID)
	at := l.index(t, "opinion", 0)
	body := string(l.events[at].Body.(*flow.Foreign).JSON)
	altered := func(old, now string) json.RawMessage {
		require.Contains(t, body, old)
		return json.RawMessage(strings.Replace(body, old, now, 1))
	}
	for name, c := range map[string]struct {
		body           json.RawMessage
		field, imports string
	}{
		"a text for a number":  {altered(`"mark":3`, `"mark":"x"`), "opinion", fmt.Sprintf("events[%d].body.mark", at)},
		"no object":            {json.RawMessage(`[]`), "opinion", fmt.Sprintf("events[%d].body", at)},
		"nothing":              {json.RawMessage(`null`), "call", fmt.Sprintf("events[%d].body", at)},
		"no JSON":              {nil, "opinion", fmt.Sprintf("events[%d].body", at)},
		"one who is not asked": {altered(`"by":"Ada"`, `"by":"Zoe"`), "opinion.by", "events"},
		"a call nobody made":   {altered(`"call":"mark.Ada"`, `"call":"mark.Zoe"`), "call", "events"},
		"an attempt too many":  {altered(`"attempt":1`, `"attempt":2`), "call", "events"},
		"an unknown key":       {altered(`{`, `{"song":1,`), "", fmt.Sprintf("events[%d].body.song", at)},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.copied(t)
			events[at].Body = &flow.Foreign{Kind: "opinion", JSON: c.body}
			if _, err := engine.NewCore(l.id, events); c.field != "" {
				assert.Equal(t, c.field, requireKind(t, err, provider.KindValidation).Field)
			} else {
				assert.NoError(t, err, "stores may know more")
			}
			_, other, _ := newSurvey(t)
			_, err := other.Import(t.Context(), bytes.NewReader(snapshot(t, l.id, events)))
			assert.Equal(t, c.imports, requireKind(t, err, provider.KindValidation).Field)
			_, err = other.Record(t.Context(), l.id)
			assert.ErrorIs(t, err, debate.ErrNotFound)
		})
	}
	t.Run("a kind that the flow lacks", func(t *testing.T) {
		events := l.copied(t)
		events[at].Body = &flow.Foreign{Kind: "song", JSON: json.RawMessage(body)}
		_, err := engine.NewCore(l.id, events)
		assert.Equal(t, "kind", requireKind(t, err, provider.KindValidation).Field)
	})
}

// What is frozen of the terms must be what the config says: the engine reads the one, the flow the other.
func TestALogWhoseTermsAreNotItsConfigs(t *testing.T) {
	config := twoDebaters()
	l := playedLog(t, config)
	for name, c := range map[string]struct {
		change func(*flow.Start)
		fold   string // the field that is named when the log is folded; "": it is folded
		field  string // of the terms, when it is imported
	}{
		"one more": {func(s *flow.Start) { s.Terms.Participants = append(s.Terms.Participants, "Zoe") }, "start.terms.participants", "participants"},
		"one less": {func(s *flow.Start) { s.Terms.Participants = s.Terms.Participants[:1] }, "start.terms.participants", "participants"},
		"nobody":   {func(s *flow.Start) { s.Terms.Participants = nil }, "start.terms.participants", "participants"},
		"another order": {
			func(s *flow.Start) { slices.Reverse(s.Terms.Participants) }, "start.terms.participants", "participants[0]",
		},
		"another name":   {func(s *flow.Start) { s.Terms.Participants[1] = "Zoe" }, "start.terms.participants", "participants[1]"},
		"one name twice": {func(s *flow.Start) { s.Terms.Participants[1] = "Ada" }, "start.terms.participants", "participants[1]"},
		"another topic":  {func(s *flow.Start) { s.Terms.Topic = "Trams?" }, "", "topic"},
		"more rounds":    {func(s *flow.Start) { s.Terms.Rounds = 1 << 40 }, "", "rounds"},
		"a budget":       {func(s *flow.Start) { s.Terms.Budget = &debate.Budget{Hard: 1} }, "", "budget"},
		"labels":         {func(s *flow.Start) { s.Terms.Labels = map[string]string{"tenant": "red"} }, "", "labels"},
		"a tool":         {func(s *flow.Start) { s.Terms.Tools = []string{"shell"} }, "", "tools"},
		"longer replies": {func(s *flow.Start) { s.Terms.MaxTokens *= 2 }, "", "maxTokens"},
		"no time":        {func(s *flow.Start) { s.Terms.TurnTimeout = 1 }, "", "turnTimeout"},
		"config of others": {
			func(s *flow.Start) {
				c := startConfig(s)
				c.Participants[0].Name = "Zoe"
				s.Config = flow.Value{Go: c}
			}, "start.terms.participants", "participants[0]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.copied(t)
			c.change(as[flow.Start](events[0]))
			_, err := l.engine.NewCore(l.id, events)
			if c.fold == "" {
				require.NoError(t, err)
			} else {
				assert.Equal(t, c.fold, requireKind(t, err, provider.KindValidation).Field)
			}
			engine, _ := engineFor(config)
			_, err = engine.Import(t.Context(), bytes.NewReader(snapshot(t, l.id, events)))
			assert.Equal(t, "events[0].body.terms."+c.field, requireKind(t, err, provider.KindValidation).Field, "%v", err)
			_, err = engine.Record(t.Context(), l.id)
			assert.ErrorIs(t, err, debate.ErrNotFound)

			s := &store.Memory{} // a store that was written to by others is as hostile
			require.NoError(t, s.Append(t.Context(), l.id, 0, "w", events))
			engine, _ = engineFor(config)
			engine.Store = s
			if _, err = engine.Record(t.Context(), l.id); c.fold != "" {
				requireKind(t, err, provider.KindValidation)
				_, err = engine.Open(t.Context(), l.id)
				requireKind(t, err, provider.KindValidation)
			}
		})
	}
}

// Views are of the participants that there are.
func TestALogWhoseViewsAreOfOthers(t *testing.T) {
	l := playedLog(t, twoDebaters())
	for name, c := range map[string]struct {
		views flow.Views
		field string
	}{
		"labels of three":     {flow.Views{Labels: []string{"A", "B", "C"}}, "start.views"},
		"readers of one":      {flow.Views{Reads: [][]bool{{true, true, true}}}, "start.views"},
		"who reads too few":   {flow.Views{Reads: [][]bool{{true}, {true, true, true}}}, "start.views.reads"},
		"who reads too many":  {flow.Views{Reads: [][]bool{{true, true, true}, {true, true, true, true}}}, "start.views.reads"},
		"who reads all there": {flow.Views{Reads: [][]bool{{true, true, true}, {true, true, true}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.copied(t)
			as[flow.Start](events[0]).Views = c.views
			_, err := l.engine.NewCore(l.id, events)
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, c.field, requireKind(t, err, provider.KindValidation).Field)
		})
	}
}

func TestNamed(t *testing.T) {
	config := twoDebaters()
	config.ID, config.Labels = "named", map[string]string{"tenant": "blue"}
	renamed := flow.Named("notes", config)
	assert.Equal(t, "notes", renamed.Flow())
	assert.Equal(t, debate.FlowName, config.Flow())
	assert.Equal(t, config.Terms(), renamed.Terms())
	assert.JSONEq(t, toJSON(config), toJSON(renamed), "its JSON is the config's")
	var left, right []string
	for field, name := range config.Models() {
		left = append(left, field, name)
	}
	for field, name := range renamed.Models() {
		right = append(right, field, name)
	}
	assert.Equal(t, left, right)
	assert.Equal(t, "later", flow.Named("later", renamed).Flow(), "the last name counts")

	engine, p := engineFor(config)
	engine.Flows = map[string]*debate.Flow{"notes": notes()}
	record := run(t, engine, flow.Named("notes", flow.Named("later", config)))
	assert.Equal(t, "notes", record.Flow())
	assert.Equal(t, "blue", view(record).Config().Labels["tenant"], "its config is that of a debate")
	again, err := engine.Start(t.Context(), flow.Named("notes", &config))
	require.NoError(t, err, "a pointer to the config is the config")
	require.NoError(t, again.Close())
	calls := p.Calls()
	for _, other := range []flow.Config{config, flow.Named(debate.FlowName, config)} {
		_, err = engine.Start(t.Context(), other)
		failure := requireKind(t, err, provider.KindConflict)
		assert.Equal(t, "flow", failure.Field)
		assert.Contains(t, err.Error(), `it has "notes", and "debate" is given`)
	}
	assert.Equal(t, calls, p.Calls())

	fork, err := engine.Fork(t.Context(), "named", record.Seq, debate.Editing(func(c *debate.Config) { c.ID = "branch" }))
	require.NoError(t, err)
	defer fork.Close()
	record, err = fork.Record(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "notes", record.Flow(), "a fork stays in its flow")
}

// A config that is not there, or is another flow's, is refused and nothing else.
func TestConfigsThatAreNone(t *testing.T) {
	own, engine, p := newSurvey(t)
	for name, config := range map[string]flow.Config{
		"nil":                        nil,
		"nil under a name":           flow.Named(debate.FlowName, nil),
		"nil under another name":     flow.Named("survey", nil),
		"a survey under a debate":    flow.Named(debate.FlowName, own),
		"a debate's under a survey":  flow.Named("survey", twoDebaters()),
		"a debate's under no flow":   flow.Named("", twoDebaters()),
		"a survey under no such one": flow.Named("surveys", own),
	} {
		t.Run(name, func(t *testing.T) {
			assert.Len(t, fields(t, engine.Validate(t.Context(), config)), 1)
			_, err := engine.Start(t.Context(), config)
			assert.Len(t, fields(t, err), 1)
			_, err = engine.New(config)
			assert.Len(t, fields(t, err), 1)
			_, err = engine.Freeze(config)
			assert.Len(t, fields(t, err), 1)
			_, err = engine.Estimate(t.Context(), config)
			assert.Len(t, fields(t, err), 1)
			session, err := engine.New(own)
			require.NoError(t, err)
			assert.Len(t, fields(t, session.Edit(config)), 1)
			assert.Equal(t, flow.StateConfiguring, session.State())
		})
	}
	core, err := engine.NewCore("new", nil)
	require.NoError(t, err)
	for _, edit := range []flow.Edit{{}, {Flow: "survey"}, {Config: flow.Named("survey", nil)}} {
		_, err = core.Step(flow.Input{At: time.Now(), Signal: edit})
		assert.Equal(t, "config", requireKind(t, err, provider.KindValidation).Field)
		assert.Equal(t, flow.StateConfiguring, core.Record().State)
	}
	assert.Zero(t, p.Calls())
}

// A config names its flow: where that is not registered nothing is checked, asked or stored.
func TestAConfigOfAFlowThatIsNotRegistered(t *testing.T) {
	stranger, _, _ := newSurvey(t)
	plain := twoDebaters()
	broken := debate.Config{Format: "opera", Rounds: -3}
	for name, config := range map[string]flow.Config{
		"of a stranger": stranger, "a debate's": flow.Named("opera", plain), "one that is wrong besides": flow.Named("opera", broken),
	} {
		t.Run(name, func(t *testing.T) {
			engine, source := engineFor(plain)
			s := &store.Memory{}
			engine.Store = unchecked{s}
			refused := func(session *debate.Session, err error) {
				t.Helper()
				assert.Nil(t, session)
				assert.Equal(t, []string{"flow"}, fields(t, err))
				assert.ErrorContains(t, err, fmt.Sprintf("no flow %q is registered", config.Flow()))
			}
			refused(nil, engine.Validate(t.Context(), config))
			refused(engine.Start(t.Context(), config))
			refused(engine.New(config))
			for _, err := range engine.Run(t.Context(), config) {
				refused(nil, err)
			}
			_, err := engine.Estimate(t.Context(), config)
			refused(nil, err)
			_, err = engine.Freeze(config)
			refused(nil, err)
			session, err := engine.New(plain)
			require.NoError(t, err)
			refused(nil, session.Edit(config))
			require.NoError(t, session.Validate(t.Context()), "the config is the one from before")
			assert.Zero(t, source.Calls(), "nothing was asked")
			for info, err := range s.List(t.Context(), debate.Filter{}) {
				assert.Fail(t, "something was stored", "%+v (%v)", info, err)
			}
		})
	}
}

// What a stranger's config holds is read again by its flow, or is refused at once.
func TestAStrangersConfigIsReadAgain(t *testing.T) {
	for name, tone := range map[string]string{
		"fine":               `{"a":[1,2.5,"x",null]}`,
		"a key twice":        `{"a":1,"a":2}`,
		"a number too large": `[1e999]`,
		"half a surrogate":   `"\ud800"`,
		"no UTF-8":           "\"\xff\"",
		"no JSON":            `{`,
		"too deep":           strings.Repeat("[", 120) + strings.Repeat("]", 120),
		"too long":           `"` + strings.Repeat("a", 16<<20) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			config, engine, p := newSurvey(t)
			config.Tone = json.RawMessage(tone)
			if err := engine.Validate(t.Context(), config); name != "fine" {
				requireKind(t, err, provider.KindValidation)
				_, err = engine.Start(t.Context(), config)
				requireKind(t, err, provider.KindValidation)
				assert.Zero(t, p.Calls())
				return
			}
			run(t, engine, config)
			_, other, _ := newSurvey(t)
			_, err := other.Import(t.Context(), bytes.NewReader(exported(t, engine, config.ID)))
			assert.NoError(t, err)
		})
	}
}

// A survey is opened by its own config alone; whatever differs is named.
func TestEveryDifferenceOfAStrangersConfigIsNamed(t *testing.T) {
	config, engine, p := newSurvey(t)
	config.Tone, config.Labels = json.RawMessage(`{"a":{"b":[1,2]}}`), map[string]string{"tenant": "blue"}
	run(t, engine, config)
	data := toJSON(config)
	leaves := func(into *survey) []leaf {
		require.NoError(t, json.Unmarshal([]byte(data), into))
		return leavesOf("", reflect.ValueOf(into).Elem(), func(string, bool) {})
	}
	count := len(leaves(new(survey)))
	require.Greater(t, count, 6)
	calls, named := p.Calls(), map[string]bool{}
	for i := range count {
		other := new(survey)
		l := leaves(other)[i]
		l.change()
		if l.path == "id" {
			continue
		}
		other.ID = config.ID
		_, err := engine.Start(t.Context(), other)
		var failure *debate.Error
		require.ErrorAs(t, err, &failure, l.path)
		if failure.Kind != provider.KindValidation { // the config is right, and another
			assert.Equal(t, provider.KindConflict, failure.Kind)
			assert.Equal(t, l.path, failure.Field, "%v", err)
			named[l.path] = true
		}
	}
	for _, path := range []string{"topic", "people[0]", "people", "tone.a.b[1]", "labels.tenant"} {
		assert.True(t, named[path], path)
	}
	assert.Equal(t, calls, p.Calls())

	record, err := engine.Record(t.Context(), config.ID)
	require.NoError(t, err)
	for field, edit := range map[string]func(*survey){
		"model":       func(s *survey) { s.Model = "test/other" },
		"people[1]":   func(s *survey) { s.People[1] = "Bea" },
		"tone.a.b[1]": func(s *survey) { s.Tone = json.RawMessage(`{"a":{"b":[1,3]}}`) },
	} {
		_, err := engine.Fork(t.Context(), config.ID, record.Seq, debate.Editing(edit))
		assert.Equal(t, field, requireKind(t, err, provider.KindValidation).Field, "all of a config is fixed where its flow does not say otherwise")
	}
}
