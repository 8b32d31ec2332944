package log_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

func TestAnExportHoldsNoSecretAndIsTheSameDebate(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging.Anonymous = true
	config.Judging.When = debate.AtEnd
	engine, _ := stage.Engine(config)
	const seed = "a seed that nobody may know"
	engine.Seed = func() string { return seed }
	start, err := kernel.Of(t, engine).Freeze(config)
	require.NoError(t, err)
	session := stage.Started(t, engine, config)
	_, _ = session.Wait(t.Context()) // the script knows no labels: the judge fails, and that is recorded
	data := stage.Exported(t, engine, session.ID())
	assert.NotContains(t, string(data), seed)
	for name, text := range start.Texts {
		if len(text) > 40 {
			encoded, err := json.Marshal(text)
			require.NoError(t, err)
			assert.NotContains(t, string(data), string(encoded[1:len(encoded)-1]), name)
		}
	}
	assert.NotContains(t, string(data), start.Views.Labels[0], "who has which label comes from the seed")
	for event, err := range engine.Events(t.Context(), session.ID(), 0) {
		require.NoError(t, err)
		assert.Zero(t, body.As[flow.Start](event).Views)
		break
	}
	assert.Equal(t, strings.Count(string(data), "\n"), strings.Count(string(data), `"seq":`)+2, "one event a line")

	other, _ := stage.Engine(config)
	id, err := other.Import(t.Context(), bytes.NewReader(data))
	require.NoError(t, err)
	assert.Equal(t, session.ID(), id)
	assert.Equal(t, string(data), string(stage.Exported(t, other, id)))
	_, err = other.Import(t.Context(), bytes.NewReader(data))
	require.NoError(t, err, "a second time changes nothing, whatever its seed")
	assert.Equal(t, string(data), string(stage.Exported(t, other, id)))
}

func TestAnUnfinishedExportGoesOnElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		config := stage.TwoDebaters()
		config.ID = "carried"
		engine, p := stage.Engine(config)
		stage.Slowly(p)
		session, err := engine.Start(t.Context(), config)
		require.NoError(t, err)
		stage.Pass(5500 * time.Millisecond)
		early := stage.Exported(t, engine, config.ID)
		stage.Pass(3 * time.Second)
		data := stage.Exported(t, engine, config.ID)
		require.NoError(t, session.Close())

		other, _ := stage.Engine(config)
		for _, part := range [][]byte{early, data, early} { // the longer one counts
			_, err = other.Import(t.Context(), bytes.NewReader(part))
			require.NoError(t, err)
		}
		assert.Equal(t, string(data), string(stage.Exported(t, other, config.ID)))
		again := stage.Reopen(t, other, config.ID)
		defer again.Close()
		_, err = other.Import(t.Context(), bytes.NewReader(data))
		require.NoError(t, err, "it has nothing new")
		record := stage.Ended(t, again)
		assert.Equal(t, stage.Undisturbed(t, config), stage.Canonical(t, record))
	})
}

func TestImportsThatAreRefused(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config := stage.TwoDebaters()
	config.ID = "taken"
	l := stage.PlayedLog(t, config)
	change := func(how func([]debate.Event)) []byte {
		events := l.Copied(t)
		how(events)
		return stage.Snapshot(t, l.ID, events)
	}
	start := func(how func(*flow.Start)) []byte {
		return change(func(e []debate.Event) { how(body.As[flow.Start](e[0])) })
	}
	configured := func(how func(*debate.Config)) []byte { return start(func(s *flow.Start) { stage.Reconfigure(s, how) }) }
	last := len(l.Events) - 1
	for name, tc := range map[string]struct {
		data []byte
		says string
	}{
		"a chunk in an event":    {change(func(e []debate.Event) { e[4].Body = &flow.Chunk{Text: "x"} }), "kind"},
		"time goes back":         {change(func(e []debate.Event) { e[5].At = e[5].At.Add(-time.Hour) }), "events[5].at"},
		"no time":                {change(func(e []debate.Event) { e[last].At = time.Time{} }), "].at"},
		"no config":              {start(func(s *flow.Start) { s.Config = flow.Value{} }), "events[0].body: is no start, or has no config"},
		"no format":              {start(func(s *flow.Start) { s.Frozen = flow.Value{} }), "start.frozen"},
		"a config of null":       {start(func(s *flow.Start) { s.Config = flow.Value{JSON: []byte("null")} }), "has no config"},
		"a format of null":       {start(func(s *flow.Start) { s.Frozen = flow.Value{JSON: []byte("null")} }), "start.frozen"},
		"a config that is none":  {start(func(s *flow.Start) { s.Config = flow.Value{JSON: []byte("[]")} }), "events[0].body.config: the JSON is a list"},
		"a format that is none":  {start(func(s *flow.Start) { s.Frozen = flow.Value{JSON: []byte("7")} }), "events[0].body.frozen: the JSON is a number"},
		"no topic":               {configured(func(c *debate.Config) { c.Topic = "" }), "topic"},
		"a NUL in the topic":     {configured(func(c *debate.Config) { c.Topic = "a\x00b" }), "topic"},
		"one participant":        {configured(func(c *debate.Config) { c.Participants = c.Participants[:1] }), "participants"},
		"a name twice":           {configured(func(c *debate.Config) { c.Participants[1].Name = "Ada" }), "name"},
		"no such model":          {configured(func(c *debate.Config) { c.Participants[0].Model = "debater" }), "participants[0].model"},
		"a negative number":      {configured(func(c *debate.Config) { c.MaxTokens = -1 }), "maxTokens"},
		"a negative budget":      {configured(func(c *debate.Config) { c.Budget = &debate.Budget{Hard: -1} }), "budget.hard"},
		"another flow":           {start(func(s *flow.Start) { s.Flow = "opera" }), "flow"},
		"a flow that is too new": {start(func(s *flow.Start) { s.FlowVersion = 99 }), "versions"},
		"a log that is too new":  {start(func(s *flow.Start) { s.Version = 99 }), "start.version"},
		"a phase without slots": {start(func(s *flow.Start) {
			format := stage.StartFormat(s)
			format.Phases, s.Frozen = nil, flow.Value{Go: format}
		}), "frozen.phases"},
		"events that do not fit": {change(func(e []debate.Event) { body.As[flow.Transition](e[last]).From = flow.StatePaused }), "transition.from"},
		"usage below nothing":    {change(func(e []debate.Event) { turnOf(e).Usage.Output = -9_000_000 }), "usage"},
		"usage beyond belief":    {change(func(e []debate.Event) { turnOf(e).Usage.Input = 1 << 60 }), "usage"},
		"another debate of it":   {configured(func(c *debate.Config) { c.Topic = "Another one?" }), "another debate"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, _ := stage.Engine(config)
			_, err := engine.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, l.Events)))
			require.NoError(t, err)
			before := stage.Exported(t, engine, l.ID)
			_, err = engine.Import(t.Context(), bytes.NewReader(tc.data))
			var failure *debate.Error
			require.ErrorAs(t, err, &failure)
			if name == "another debate of it" {
				assert.Equal(t, provider.KindConflict, failure.Kind)
			} else {
				assert.Equal(t, provider.KindValidation, failure.Kind)
			}
			assert.ErrorContains(t, err, tc.says)
			assert.Equal(t, string(before), string(stage.Exported(t, engine, l.ID)))

			empty, _ := stage.Engine(config)
			if _, err = empty.Import(t.Context(), bytes.NewReader(tc.data)); name != "another debate of it" {
				require.Error(t, err)
				_, err = empty.Record(t.Context(), l.ID)
				require.ErrorIs(t, err, debate.ErrNotFound, "nothing is stored")
			}
		})
	}
	engine, _ := stage.Engine(config)
	_, err := engine.Import(t.Context(), brokenReader{})
	require.ErrorIs(t, err, errBrokenReader)
	require.ErrorIs(t, engine.Export(t.Context(), "nobody", &bytes.Buffer{}), debate.ErrNotFound)
}

// TestAnImportExecutesNoTemplateOfALog: a template of somebody else may take as long as it likes, so what an import has to render has the
// engine's own prompts. The debate goes on with these.
func TestAnImportExecutesNoTemplateOfALog(t *testing.T) {
	config := stage.TwoDebaters()
	config.ID = "foreign"
	l := stage.PlayedLog(t, config)
	for name, given := range map[string]map[string]string{
		"words":           {"turn": "Speak as I say."},
		"a failure":       {"turn": "{{.Nothing}}"},
		"without end":     {"turn": "{{range 1000000000000}}{{end}}x"},
		"of another flow": {"deliberation.merge": "Merge as I say."},
	} {
		for _, sealed := range []bool{false, true} {
			events := l.Copied(t)
			events = events[:slices.IndexFunc(events, func(e debate.Event) bool { return body.As[flow.Intent](e) != nil })]
			start := body.As[flow.Start](events[0])
			stage.Reconfigure(start, func(c *debate.Config) { c.Prompts = given })
			if start.Texts = nil; !sealed {
				start.Seed = ""
			}
			engine, p := stage.Engine(config)
			engine.Prompts = map[string]string{"turn": "Speak in round {{.Round}}."}
			id, err := engine.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, events)))
			require.NoError(t, err, name)
			session, err := engine.Open(t.Context(), id)
			require.NoError(t, err, name)
			record, err := session.Wait(t.Context())
			require.NoError(t, err, name)
			require.NoError(t, session.Close())
			assert.Equal(t, "Speak in round 1.", p.Requests()[0].Last.Text, name)
			assert.Equal(t, given, record.Settings().Prompts, "the config stays as it was written")
		}
	}
}

// TestAnOldFormatHasTheWordsOfThisRelease: older exports hold built-in formats without a stance or an aim, and with words that speak to the
// speakers. What an import renders of such a debate says the same as in one that starts today.
func TestAnOldFormatHasTheWordsOfThisRelease(t *testing.T) {
	f := stage.Builtin(t, format.Roundtable)
	config := stage.CastFor(f)
	config.ID, config.Unattended = "foreign", true
	config.Judging = &debate.Judging{When: debate.AtEnd, Judges: []debate.JudgeConfig{{Model: "test/judge"}}}
	l := stage.PlayedLog(t, config)
	events := l.Copied(t)
	events = events[:slices.IndexFunc(events, func(e debate.Event) bool { return body.As[flow.Intent](e) != nil })]
	start := body.As[flow.Start](events[0])
	old := f.Clone()
	old.Stance, old.Aim, old.Guidance = "", "", "Talk among equals: listen."
	for i := range old.Seats {
		old.Seats[i].Role = "You bring a view of your own."
	}
	old.Phases[1].Slots[0].Instruction = "Lay out your position."
	start.Seed, start.Texts, start.Frozen = "", nil, flow.Value{Go: old}
	engine, p := stage.Engine(config)
	id, err := engine.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, events)))
	require.NoError(t, err)
	session := stage.Reopen(t, engine, id)
	stage.Ended(t, session)
	require.NoError(t, session.Close())
	for _, req := range p.Requests() {
		said := req.System + req.Last.Text
		assert.Contains(t, said, f.Guidance)
		for _, gone := range []string{old.Guidance, old.Seats[0].Role, old.Phases[1].Slots[0].Instruction, "Make the best honest case", "who argued better"} {
			assert.NotContains(t, said, gone, req.ID)
		}
	}
}

// TestALogMayHaveAFormatThatNoNewDebateMay: a later version refuses names of kinds and phases that readers could take for something else.
// What is stored goes on, and so does an engine that still has the format.
func TestALogMayHaveAFormatThatNoNewDebateMay(t *testing.T) {
	f := format.Format{Name: "older", End: format.EndByRounds, Phases: []format.Phase{
		{Name: "talk", First: 1, Last: 1, Slots: []format.Slot{{Who: format.Everyone}, {Who: "name:Ada", Kind: "closing"}}},
		{Name: "last", First: 2, Last: 2},
	}}
	older := *f.Clone()
	older.Phases[0].Slots[1].Kind, older.Phases[1].Name = flow.KindSummary, "verdict.only"
	config := stage.TwoDebaters()
	config.ID, config.Format, config.CustomFormat, config.Rounds = "older", "", &f, 2
	l := stage.PlayedLog(t, config)
	events := l.Copied(t)
	events = events[:slices.IndexFunc(events, func(e debate.Event) bool { return body.As[flow.Intent](e) != nil })]
	start := body.As[flow.Start](events[0])
	stage.Reconfigure(start, func(c *debate.Config) { c.CustomFormat = &older })
	start.Seed, start.Texts, start.Frozen = "", nil, flow.Value{Go: &older}

	engine, _ := stage.Engine(config)
	engine.Formats = map[string]debate.Format{"older": older}
	id, err := engine.Import(t.Context(), bytes.NewReader(stage.Snapshot(t, l.ID, events)))
	require.NoError(t, err)
	session, err := engine.Open(t.Context(), id)
	require.NoError(t, err)
	record, err := session.Wait(t.Context())
	require.NoError(t, err)
	require.NoError(t, session.Close())
	assert.Len(t, record.Turns, 5)
	fork, err := engine.Fork(t.Context(), id, int64(len(events)), nil)
	require.NoError(t, err)
	require.NoError(t, fork.Close())

	config.ID, config.Format, config.CustomFormat = "", "older", nil
	err = engine.Validate(t.Context(), config)
	assert.Equal(t, []string{"format.phases[0].slots[1].kind", "format.phases[1].name"}, stage.FieldsOf(t, err), "a new debate may not use it")
	config.Format = format.FreeForm
	require.NoError(t, engine.Validate(t.Context(), config))
}

// turnOf is the first turn of a log.
func turnOf(events []debate.Event) *debate.Turn {
	return body.As[debate.Turn](events[slices.IndexFunc(events, func(e debate.Event) bool { return body.As[debate.Turn](e) != nil })])
}

var errBrokenReader = errors.New("the cable is cut")

type brokenReader struct{}

func (brokenReader) Read([]byte) (int, error)  { return 0, errBrokenReader }
func (brokenReader) Write([]byte) (int, error) { return 0, errBrokenReader }

func TestAnExportThatCannotBeWritten(t *testing.T) {
	config := stage.TwoDebaters()
	engine, _ := stage.Engine(config)
	require.ErrorIs(t, engine.Export(t.Context(), stage.Run(t, engine, config).ID, brokenReader{}), errBrokenReader)
}

// FuzzImport: whatever is imported is refused, or is a debate whose export is itself again.
func FuzzImport(f *testing.F) {
	config := stage.TwoDebaters()
	config.ID, config.Rounds = "fuzzed", 1
	engine, _ := stage.Engine(config)
	session, err := engine.Start(context.Background(), config)
	if err != nil {
		f.Fatal(err)
	}
	_, _ = session.Wait(context.Background())
	var public bytes.Buffer
	if err := engine.Export(context.Background(), config.ID, &public); err != nil {
		f.Fatal(err)
	}
	whole, err := session.Snapshot(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(public.Bytes())
	f.Add(whole)
	endless := public.Bytes()
	for _, object := range []string{`"config":{`, `"settings":{`} {
		endless = bytes.Replace(endless, []byte(object), []byte(object+`"prompts":{"turn":"{{range 1000000000000}}{{end}}x"},`), 1)
	}
	f.Add(endless)
	f.Add(bytes.Replace(public.Bytes(), []byte(`"seq":9`), []byte(`"seq":8`), 1))
	f.Add([]byte(`{"version":1,"id":"x","events":[{"seq":1,"at":"2026-01-02T03:04:05Z","kind":"ack"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		engine := &debate.Engine{}
		id, err := engine.Import(t.Context(), bytes.NewReader(data))
		if err != nil {
			var failure *debate.Error
			require.ErrorAs(t, err, &failure)
			return
		}
		first := stage.Exported(t, engine, id)
		other := &debate.Engine{}
		_, err = other.Import(t.Context(), bytes.NewReader(first))
		require.NoError(t, err)
		assert.Equal(t, string(first), string(stage.Exported(t, other, id)))
	})
}
