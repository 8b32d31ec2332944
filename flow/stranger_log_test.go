package flow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// onDisk is a store that keeps nothing but JSON.
type onDisk struct {
	*store.Memory
	t *testing.T
}

func (s onDisk) Append(ctx context.Context, id string, after int64, writer string, events []debate.Event) error {
	return s.Memory.Append(ctx, id, after, writer, stage.ThroughJSON(s.t, events))
}

// A store that keeps JSON knows nothing of a flow's own events. Whoever has the flow reads them, wherever they come from.
func TestAStrangersEventsAreReadFromJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config, engine, p := newSurvey(t)
		stage.Slowly(p)
		s := onDisk{&store.Memory{}, t}
		engine.Store = s
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(1500 * time.Millisecond) // Ben is being asked
		early, err := session.Snapshot(t.Context())
		require.NoError(t, err)
		require.NoError(t, session.Close())
		for _, e := range stage.Kept(t, s, config.ID) {
			if e.Kind() == "opinion" {
				assert.IsType(t, &flow.Foreign{}, e.Body)
			}
		}

		session = stage.Reopen(t, engine, config.ID)
		defer session.Close()
		record := stage.Ended(t, session)
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
		stored := stage.StoredRecord(t, engine, config.ID)
		assert.Equal(t, want, gradesOf(stored))
		core := stage.CoreOf(t, engine, config.ID, stage.ThroughJSON(t, stage.Kept(t, s, config.ID)))
		assert.Equal(t, want, gradesOf(core.Record()))

		// What is given away is the same, in the middle and at the end.
		_, other, q := newSurvey(t)
		other.Store = onDisk{&store.Memory{}, t}
		again, err := stage.Restore(t.Context(), other, early)
		require.NoError(t, err)
		defer again.Close()
		record = stage.Ended(t, again)
		assert.Equal(t, want, gradesOf(record))
		assert.Equal(t, 1, q.Calls(), "Ada has answered")
		_, third, _ := newSurvey(t)
		_, err = third.Import(t.Context(), bytes.NewReader(stage.Exported(t, engine, config.ID)))
		require.NoError(t, err)
		record = stage.StoredRecord(t, third, config.ID)
		assert.Equal(t, want, gradesOf(record))

		// Without the flow nothing is understood, and nothing is lost.
		ignorant := &debate.Engine{Store: s}
		_, err = ignorant.Record(t.Context(), config.ID)
		assert.Equal(t, "flow", stage.RequireKind(t, err, provider.KindValidation).Field)
		_, err = ignorant.Import(t.Context(), bytes.NewReader(early))
		assert.Equal(t, "events[0].body.flow", stage.RequireKind(t, err, provider.KindValidation).Field)
		assert.Equal(t, stage.JSON(stage.Kept(t, s, config.ID)), stage.JSON(stage.ThroughJSON(t, stage.Kept(t, s, config.ID))))
	})
}

// An event of a flow's own may be hostile as any other.
func TestAStrangersHostileEventsAreRefused(t *testing.T) {
	config, engine, _ := newSurvey(t)
	l := stage.LogOf(t, engine, stage.Run(t, engine, config).ID)
	at := l.Index(t, "opinion", 0)
	body := string(l.Events[at].Body.(*flow.Foreign).JSON)
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
		"no JSON":              {nil, "opinion", ""},
		"one who is not asked": {altered(`"by":"Ada"`, `"by":"Zoe"`), "opinion.by", "events"},
		"a call nobody made":   {altered(`"call":"mark.Ada"`, `"call":"mark.Zoe"`), "call", "events"},
		"an attempt too many":  {altered(`"attempt":1`, `"attempt":2`), "call", "events"},
		"an unknown key":       {altered(`{`, `{"song":1,`), "", fmt.Sprintf("events[%d].body.song", at)},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.Copied(t)
			events[at].Body = &flow.Foreign{Kind: "opinion", JSON: c.body}
			if _, err := kernel.Of(t, engine).NewCore(l.ID, events); c.field != "" {
				assert.Equal(t, c.field, stage.RequireKind(t, err, provider.KindValidation).Field)
			} else {
				assert.NoError(t, err, "stores may know more")
			}
			if c.imports == "" {
				assert.ErrorContains(t, events[at].WriteLine(&bytes.Buffer{}), "is no JSON")
				return
			}
			_, other, _ := newSurvey(t)
			_, err := other.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, events)))
			assert.Equal(t, c.imports, stage.RequireKind(t, err, provider.KindValidation).Field)
			_, err = other.Record(t.Context(), l.ID)
			assert.ErrorIs(t, err, debate.ErrNotFound)
		})
	}
	t.Run("a kind that the flow lacks", func(t *testing.T) {
		events := l.Copied(t)
		events[at].Body = &flow.Foreign{Kind: "song", JSON: json.RawMessage(body)}
		_, err := kernel.Of(t, engine).NewCore(l.ID, events)
		assert.Equal(t, "kind", stage.RequireKind(t, err, provider.KindValidation).Field)
	})
}

// What is frozen of the settings must be what the config says: the engine reads the one, the flow the other.
func TestALogWhoseSettingsAreNotItsConfigs(t *testing.T) {
	t.Parallel()
	config := stage.TwoDebaters()
	l := stage.PlayedLog(t, config)
	for name, c := range map[string]struct {
		change func(*flow.Start)
		fold   string // the field that is named when the log is folded; "": it is folded
		field  string // of the settings, when it is imported
	}{
		"one more": {func(s *flow.Start) { s.Settings.Participants = append(s.Settings.Participants, "Zoe") }, "start.settings.participants", "participants"},
		"one less": {func(s *flow.Start) { s.Settings.Participants = s.Settings.Participants[:1] }, "start.settings.participants", "participants"},
		"nobody":   {func(s *flow.Start) { s.Settings.Participants = nil }, "start.settings.participants", "participants"},
		"another order": {
			func(s *flow.Start) { slices.Reverse(s.Settings.Participants) }, "start.settings.participants", "participants[0]",
		},
		"another name":   {func(s *flow.Start) { s.Settings.Participants[1] = "Zoe" }, "start.settings.participants", "participants[1]"},
		"one name twice": {func(s *flow.Start) { s.Settings.Participants[1] = "Ada" }, "start.settings.participants", "participants[1]"},
		"another topic":  {func(s *flow.Start) { s.Settings.Topic = "Trams?" }, "", "topic"},
		"more rounds":    {func(s *flow.Start) { s.Settings.Rounds = 1 << 40 }, "", "rounds"},
		"a budget":       {func(s *flow.Start) { s.Settings.Budget = &debate.Budget{Hard: 1} }, "", "budget"},
		"labels":         {func(s *flow.Start) { s.Settings.Labels = map[string]string{"tenant": "red"} }, "", "labels"},
		"a tool":         {func(s *flow.Start) { s.Settings.Tools = []string{"shell"} }, "", "tools"},
		"longer replies": {func(s *flow.Start) { s.Settings.MaxTokens *= 2 }, "", "maxTokens"},
		"no time":        {func(s *flow.Start) { s.Settings.TurnTimeout = 1 }, "", "turnTimeout"},
		"config of others": {
			func(s *flow.Start) {
				c := stage.StartConfig(s)
				c.Participants[0].Name = "Zoe"
				s.Config = flow.Value{Go: c}
			}, "start.settings.participants", "participants[0]",
		},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.Copied(t)
			c.change(body.As[flow.Start](events[0]))
			_, err := kernel.Of(t, l.Engine).NewCore(l.ID, events)
			if c.fold == "" {
				require.NoError(t, err)
			} else {
				assert.Equal(t, c.fold, stage.RequireKind(t, err, provider.KindValidation).Field)
			}
			engine, _ := stage.Engine(config)
			_, err = engine.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, events)))
			assert.Equal(t, "events[0].body.settings."+c.field, stage.RequireKind(t, err, provider.KindValidation).Field, "%v", err)
			_, err = engine.Record(t.Context(), l.ID)
			assert.ErrorIs(t, err, debate.ErrNotFound)

			s := &store.Memory{} // a store that was written to by others is as hostile
			require.NoError(t, s.Append(t.Context(), l.ID, 0, "w", events))
			engine, _ = stage.Engine(config)
			engine.Store = s
			if _, err = engine.Record(t.Context(), l.ID); c.fold != "" {
				stage.RequireKind(t, err, provider.KindValidation)
				_, err = engine.Open(t.Context(), l.ID)
				stage.RequireKind(t, err, provider.KindValidation)
			}
		})
	}
}

// Views are of the participants that there are.
func TestALogWhoseViewsAreOfOthers(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
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
			events := l.Copied(t)
			body.As[flow.Start](events[0]).Views = c.views
			_, err := kernel.Of(t, l.Engine).NewCore(l.ID, events)
			if c.field == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, c.field, stage.RequireKind(t, err, provider.KindValidation).Field)
		})
	}
}

// What a fork says of the copied part is subtracted in sums, so it must be an amount that can be.
func TestALogThatHasCopiedWhatCannotBe(t *testing.T) {
	l := stage.PlayedLog(t, stage.TwoDebaters())
	for name, spent := range map[string]flow.Account{
		"a negative cost":      {Cost: -1},
		"too many tokens":      {Usage: provider.Usage{Input: 1 << 50}},
		"a negative number":    {Requests: -1},
		"a negative time":      {Took: -time.Second},
		"a negative told cost": {Told: -1},
	} {
		t.Run(name, func(t *testing.T) {
			events := l.Copied(t)
			body.As[flow.Start](events[0]).Parent = &flow.Parent{ID: "p", Seq: 1, Spent: spent}
			_, err := kernel.Of(t, l.Engine).NewCore(l.ID, events)
			assert.Equal(t, "start.parent.spent", stage.RequireKind(t, err, provider.KindValidation).Field)
		})
	}
	events := l.Copied(t)
	body.As[flow.Start](events[0]).Parent = &flow.Parent{ID: "p", Seq: 1, Spent: flow.Account{Cost: debate.USD, Requests: 1 << 40}}
	core := stage.CoreOf(t, l.Engine, l.ID, events)
	assert.Zero(t, flow.SpentByLabel("x", core.Record())[0].Cost, "it says that more was copied than there is")
}
