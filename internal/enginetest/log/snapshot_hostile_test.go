package log_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/body"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

func TestSnapshotsThatAreRefused(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	l := stage.PlayedLog(t, stage.TwoDebaters())
	whole := stage.Snapshot(t, l.ID, l.Events)
	with := func(old, other string) []byte {
		require.Contains(t, string(whole), old)
		return bytes.Replace(whole, []byte(old), []byte(other), 1)
	}
	event := func(kind flow.EventKind, n int, how func(*debate.Event)) []byte {
		events := l.Copied(t)
		how(&events[l.Index(t, kind, n)])
		return stage.Snapshot(t, l.ID, events)
	}
	config, err := json.Marshal(stage.TwoDebaters())
	require.NoError(t, err)
	cases := map[string]struct {
		data  []byte
		field string
	}{
		"nothing":                 {nil, ""},
		"white space":             {[]byte(" \n"), ""},
		"not JSON":                {[]byte("debate"), ""},
		"null":                    {[]byte("null"), "version"},
		"a list":                  {[]byte("[]"), ""},
		"a number":                {[]byte("1"), ""},
		"an object":               {[]byte("{}"), "version"},
		"a config":                {config, "version"},
		"another program's":       {[]byte(`{"version":"2.0","state":{}}`), "version"},
		"a newer version":         {with(`"version":1}`, `"version":2}`), "version"},
		"a version far ahead":     {with(`"version":1}`, `"version":999999}`), "version"},
		"version 0":               {with(`"version":1}`, `"version":0}`), "version"},
		"a negative version":      {with(`"version":1}`, `"version":-1}`), "version"},
		"text after it":           {append(bytes.Clone(whole), "x"...), ""},
		"another one after it":    {append(bytes.Clone(whole), whole...), ""},
		"a NUL after it":          {append(bytes.Clone(whole), 0), ""},
		"an unknown key":          {with(`"version":1}`, `"version":1,"extra":true}`), "extra"},
		"an unknown key in it":    {with(`"kind":"turn"`, `"kind":"turn","mood":1`), "events[5].mood"},
		"too large by a byte":     {append(bytes.Clone(whole), bytes.Repeat([]byte(" "), debate.MaxSnapshot+1-len(whole))...), ""},
		"brackets without end":    {bytes.Repeat([]byte("["), debate.MaxSnapshot), ""},
		"deep":                    {[]byte(`{"version":1,"id":"x","events":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`), ""},
		"no events":               {stage.Snapshot(t, l.ID, nil), "events"},
		"no id":                   {stage.Snapshot(t, "", l.Events), "id"},
		"an id that is a path":    {stage.Snapshot(t, "../"+l.ID, l.Events), "id"},
		"an event left out":       {stage.Snapshot(t, l.ID, append(l.Copied(t)[:5], l.Copied(t)[6:]...)), "events"},
		"an event twice":          {stage.Snapshot(t, l.ID, append(l.Copied(t)[:6], l.Copied(t)[5:]...)), "events"},
		"the start left out":      {stage.Snapshot(t, l.ID, l.Events[1:]), "events[0].body"},
		"two events exchanged":    {stage.Snapshot(t, l.ID, append(append(l.Copied(t)[:5], l.Events[6], l.Events[5]), l.Events[7:]...)), "events"},
		"an unknown state":        {event(flow.EventTransition, 2, func(e *debate.Event) { body.As[flow.Transition](*e).To = "limbo" }), "events"},
		"an unknown kind":         {event(flow.EventTurn, 0, func(e *debate.Event) { e.Body = &flow.Foreign{Kind: "song", JSON: []byte("{}")} }), "events"},
		"an unknown flow":         {event(flow.EventStart, 0, func(e *debate.Event) { body.As[flow.Start](*e).Flow = "opera" }), "events[0].body.flow"},
		"a newer log":             {event(flow.EventStart, 0, func(e *debate.Event) { body.As[flow.Start](*e).Version++ }), "events"},
		"a turn nobody was asked": {event(flow.EventTurn, 0, func(e *debate.Event) { body.As[debate.Turn](*e).Call = "r1.song.Ada" }), "events"},
		"a stand-in for nobody":   {event(flow.EventTurn, 0, func(e *debate.Event) { body.As[debate.Turn](*e).StandIn = true }), "events"},
		"a stand-in of no model": {event(flow.EventIntent, 0, func(e *debate.Event) {
			body.As[flow.Intent](*e).StandIn, body.As[flow.Intent](*e).Model = true, ""
		}), "events"},
	}
	for n := 1; n < len(whole); n += len(whole) / 60 {
		cases[fmt.Sprintf("its first %d bytes", n)] = struct {
			data  []byte
			field string
		}{whole[:n], ""}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			engine, source := stage.Engine(stage.TwoDebaters())
			store := &store.Memory{}
			engine.Store = store
			session, err := stage.Restore(t.Context(), engine, c.data)
			assert.Nil(t, session)
			failure := stage.RequireKind(t, err, provider.KindValidation)
			assert.Equal(t, c.field, failure.Field, "%v", err)
			assert.Less(t, len(err.Error()), 500)
			assert.Zero(t, source.Calls())
			for info, err := range store.List(t.Context(), debate.Filter{}) {
				assert.Fail(t, "something was stored", "%+v (%v)", info, err)
			}
		})
	}
}

// Whatever field of whatever event is changed, a snapshot is refused or folds: nothing panics.
func TestChangedSnapshots(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	config := stage.TwoDebaters()
	config.Rounds = 1
	l := stage.PlayedLog(t, config)
	var tree map[string]any
	require.NoError(t, json.Unmarshal(stage.Snapshot(t, l.ID, l.Events), &tree))
	engine, _ := stage.Engine(config)
	step, seen, tried, folded := longform.Or(1, 5), 0, 0, 0
	for _, event := range tree["events"].([]any) {
		for _, n := range stage.Nodes("", event) {
			if strings.HasPrefix(n.Path, "start.texts.") || strings.HasPrefix(n.Path, "start.models.") {
				continue
			}
			for _, value := range []any{nil, true, -1, 0, 3, 1 << 15, "", "x", string(flow.StateError), []any{}, map[string]any{}} {
				if seen++; seen%step != 0 {
					continue
				}
				n.Put(value)
				data, err := json.Marshal(tree)
				require.NoError(t, err)
				tried++
				if restores(t, engine, data, fmt.Sprintf("%s = %v", n.Path, value)) {
					folded++
				}
			}
			n.Put(n.Value)
		}
	}
	assert.Greater(t, tried, 1000/step)
	assert.Positive(t, folded)
}

// restores reports whether a snapshot's events fold; that they are refused by an error of kind
// validation, and by no panic, is checked. The record is read as a host would.
func restores(t *testing.T, engine *debate.Engine, data []byte, what string) (ok bool) {
	t.Helper()
	defer func() {
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", what, r)
		}
	}()
	var read struct {
		ID     string         `json:"id"`
		Events []debate.Event `json:"events"`
	}
	if json.Unmarshal(data, &read) != nil {
		return false
	}
	core, err := kernel.Of(t, engine).NewCore(read.ID, read.Events)
	if err != nil {
		stage.RequireKind(t, err, provider.KindValidation)
		return false
	}
	r := core.Record()
	_, _ = stage.View(r).Canonical()
	_, _ = r.Active(), r.Spent()
	_, _ = r.RoundTurns(1), r.SpentInRound(1)
	out, err := core.Step(flow.Input{At: time.Now(), Signal: flow.Tick{}})
	if err == nil {
		for _, call := range out.Start {
			_, _ = core.Command(call)
		}
	}
	_, _ = core.Step(flow.Input{At: time.Now(), Signal: flow.Stop{}})
	return true
}

// FuzzRestore: no bytes make Restore panic, and what it refuses it does not store.
func FuzzRestore(f *testing.F) {
	for _, seed := range []string{
		``, `null`, `{}`, `{"version":1}`, `{"version":2,"id":"x","events":[]}`, `{"version":1,"id":"x","events":[{"seq":1,"kind":"start"}]}`,
		`{"version":1,"id":"x","events":[{"seq":1,"at":"2026-01-02T03:04:05Z","kind":"start","start":{"version":1,"config":{"topic":"t","participants":[]},"format":{"name":"f","phases":[],"end":"judge"},"flow":"debate","flowVersion":1}},{"seq":2,"at":"2026-01-02T03:04:05Z","kind":"transition","transition":{"from":"ready","to":"canceled","on":"cancel"}}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		engine := &debate.Engine{Store: &store.Memory{}}
		session, err := stage.Restore(t.Context(), engine, data)
		if err == nil {
			session.Close()
			return
		}
		if !errors.Is(err, &debate.Error{Kind: provider.KindValidation}) {
			return
		}
		for info, listing := range engine.Store.List(t.Context(), debate.Filter{}) {
			t.Fatalf("stored %v (%v) though refused: %v", info, listing, err)
		}
	})
}

// What is written can be read: a log that is too large is not.
func TestASnapshotIsNoLargerThanCanBeRead(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	store := &store.Memory{}
	engine := &debate.Engine{Store: store}
	put := func(id, text string, turns int) {
		for i := range turns {
			require.NoError(t, store.Append(t.Context(), id, int64(i), "w", []debate.Event{{
				Seq: int64(i) + 1, Body: &debate.Turn{Text: text},
			}}))
		}
	}
	put("signs", strings.Repeat("<", 12<<20), 1)
	var out bytes.Buffer
	require.NoError(t, engine.Export(t.Context(), "signs", &out))
	assert.Less(t, out.Len(), 13<<20, "what JSON need not escape is not")

	put("large", strings.Repeat("a", 1<<20), 64)
	stage.RequireKind(t, engine.Export(t.Context(), "large", io.Discard), provider.KindValidation)
}

// What a host or a flow puts into a log of its own JSON can be read again, or is refused at once.
func TestForeignJSONIsReadAgain(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	f := stage.Recording(debate.DebateFlow(), "nudge")
	f.Name = "nudged"
	config := stage.TwoDebaters()
	for name, payload := range map[string]string{
		"fine":               `{"a":[1,2.5,"x",null]}`,
		"a key twice":        `{"a":1,"a":2}`,
		"a number too large": `[1e999]`,
		"half a surrogate":   `"\ud800"`,
		"no UTF-8":           "\"\xff\"",
		"too deep":           strings.Repeat("[", 120) + strings.Repeat("]", 120),
		"too long":           `"` + strings.Repeat("a", 16<<20) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			engine, p := stage.Engine(config)
			engine.Flows = map[string]*debate.Flow{f.Name: f}
			release := make(chan struct{})
			stage.Altered(p, func(_ *provider.Request, reply *scripted.Reply) {
				reply.Hold = release
			})
			session, err := engine.Start(t.Context(), flow.Named(f.Name, config))
			require.NoError(t, err)
			defer session.Close()
			defer close(release)
			err = session.Send(t.Context(), "nudge", json.RawMessage(payload))
			if name != "fine" {
				stage.RequireKind(t, err, provider.KindValidation)
				return
			}
			require.NoError(t, err)
			data, err := session.Snapshot(t.Context())
			require.NoError(t, err)
			require.NoError(t, session.Close())
			_, err = (&debate.Engine{Flows: engine.Flows}).Import(t.Context(), bytes.NewReader(data))
			assert.NoError(t, err)
		})
	}
}

// What is no event takes no memory: it is refused before the rest is looked at.
func TestAHostileSnapshotTakesLittleMemory(t *testing.T) {
	longform.Lone(t)
	for name, item := range map[string]string{"empty": "{}", "no object": "0", "lists": "[[]]"} {
		hostile := []byte(`{"version":1,"id":"a","events":[` + strings.Repeat(item+",", 2<<20/longform.Fewer()) + item + `]}`)
		engine := &debate.Engine{}
		used := stage.Allocated(func() {
			_, err := engine.Import(t.Context(), bytes.NewReader(hostile))
			assert.NotEmpty(t, stage.FieldsOf(t, err))
		})
		assert.Less(t, used, uint64(20*len(hostile)), name)
	}
	config := fmt.Appendf(nil, `{"topic":"x","participants":[%s{}]}`, strings.Repeat("{},", 1<<20/longform.Fewer()))
	var c debate.Config
	used := stage.Allocated(func() { assert.Equal(t, []string{"participants"}, stage.FieldsOf(t, json.Unmarshal(config, &c))) })
	assert.Less(t, used, uint64(200*len(config)))
}
