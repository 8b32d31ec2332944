package flow_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/scripted"
	"github.com/agonist-dev/debate/store"
)

// menu is a config whose methods have values as receivers.
type menu struct {
	ID   string   `json:"id,omitempty"`
	Dish string   `json:"dish"`
	Who  []string `json:"who"`
}

func (menu) Flow() string { return "menu" }

func (m menu) Settings() flow.Settings {
	return flow.Settings{ID: m.ID, Topic: m.Dish, Participants: m.Who}
}

func (m menu) Seats() flow.Seats { return stage.Seats("test/any", m.Who...) }

// other is a config of another type that names the same flow.
type other struct{ menu }

// menuFlow returns a flow of one call. Each of its functions notes the type of the config that it gets.
func menuFlow(seen map[string]string) *debate.Flow {
	note := func(by string, c flow.Config) { seen[by] = fmt.Sprintf("%T", c) }
	f := &debate.Flow{
		Name: "menu", Version: 1, Start: stage.Asks,
		Rules:  []debate.Rule{{From: stage.Asks, On: stage.Done, To: flow.StateCompleting}},
		Decode: flow.DecodeTo[menu],
		Normalize: func(c flow.Config) (flow.Config, error) {
			note("Normalize", c)
			normalized := *c.(*menu)
			normalized.ID = ""
			return normalized, nil // a value: the type beneath is what counts
		},
		Check: func(c flow.Config, _ any, _ flow.Registry) []error { note("Check", c); return nil },
		Field: func(c flow.Config, field string) string { note("Field", c); return field },
		Freeze: func(c flow.Config) (any, error) {
			note("Freeze", c)
			return "frozen", nil
		},
		Thaw:  func([]byte) (any, error) { return "frozen", nil },
		Draw:  func(c flow.Config, _ string) any { note("Draw", c); return nil },
		Views: func(s flow.Setup) flow.Views { note("Views", s.Config); return flow.Views{} },
		Texts: func(s flow.Setup) (map[string]string, error) {
			note("Texts", s.Config)
			return map[string]string{}, nil
		},
		Shape: func(c flow.Config) string { note("Shape", c); return "" },
		Kinds: func(c flow.Config) []flow.CallKind { note("Kinds", c); return []flow.CallKind{"word"} },
		Fixed: func(c flow.Config) any { note("Fixed", c); return nil },
		Open: func(r *debate.Record, _ *flow.Start) (flow.Projection, error) {
			note("Open", r.Config())
			return &grades{}, nil
		},
	}
	f.Steps = map[debate.State]flow.Step{stage.Asks: {
		Calls: func(r *debate.Record) []*flow.Call {
			note("Calls", r.Config())
			if r.Done("say") {
				return nil
			}
			return []*flow.Call{{ID: "say", Kind: "word", By: r.Config().(*menu).Who[0], Model: "test/any"}}
		},
		Next: func(*debate.Record) (debate.Trigger, flow.Exit, bool) { return stage.Done, flow.Exit{}, true },
	}}
	return f
}

// Whoever gives the config, and wherever the conversation is, the functions of its flow get the type that Decode returns.
func TestTheFunctionsOfAFlowGetOneTypeOfConfig(t *testing.T) {
	given := menu{ID: "m", Dish: "Soup", Who: []string{"Ada"}}
	for name, config := range map[string]flow.Config{"a value": given, "a pointer": &given, "a name": flow.Named("menu", given)} {
		t.Run(name, func(t *testing.T) {
			seen := make(map[string]string)
			engine, _ := stage.Engine(stage.TwoDebaters())
			engine.Store, engine.Flows = &store.Memory{}, map[string]*debate.Flow{"menu": menuFlow(seen)}
			engine.Providers = map[string]debate.Provider{"test": &scripted.Provider{Reply: func(*provider.Request) scripted.Reply {
				return scripted.Reply{Text: "Salt."}
			}}}
			all := func(what string, least ...string) {
				t.Helper()
				for by, kind := range seen {
					assert.Equal(t, "*flow_test.menu", kind, "%s, %s", what, by)
				}
				for _, by := range least {
					assert.Contains(t, seen, by, what)
				}
				clear(seen)
			}
			record := stage.Run(t, engine, config)
			assert.IsType(t, &menu{}, record.Config())
			all("started", "Normalize", "Check", "Freeze", "Draw", "Views", "Texts", "Shape", "Open", "Calls")

			record = stage.StoredRecord(t, engine, "m")
			assert.IsType(t, &menu{}, record.Config())
			all("read", "Open")
			fork, err := engine.Fork(t.Context(), "m", 0, debate.Editing(func(c *menu) { c.Dish = "Stew" }))
			require.NoError(t, err)
			stage.Ended(t, fork)
			all("forked", "Normalize", "Open")

			var export bytes.Buffer
			require.NoError(t, engine.Export(t.Context(), "m", &export))
			engine.Store = nil
			_, err = (&debate.Engine{Flows: engine.Flows, Providers: engine.Providers}).Import(t.Context(), &export)
			require.NoError(t, err)
			all("imported", "Check", "Open")
		})
	}
}

// A config of another type is refused by name, whoever brings it.
func TestAConfigOfAnotherTypeIsRefused(t *testing.T) {
	given := menu{Dish: "Soup", Who: []string{"Ada"}}
	for name, c := range map[string]struct {
		change func(f *debate.Flow)
		config flow.Config
		says   string
	}{
		"of the host program": {func(*debate.Flow) {}, other{given}, "the config is a flow_test.other, but configs of flow menu are of type *flow_test.menu"},
		"of Normalize": {func(f *debate.Flow) {
			f.Normalize = func(flow.Config) (flow.Config, error) { return other{given}, nil }
		}, given, "what Normalize has returned is a flow_test.other"},
		"none of Normalize": {func(f *debate.Flow) {
			f.Normalize = func(flow.Config) (flow.Config, error) { return (*menu)(nil), nil }
		}, given, "what Normalize has returned is nil"},
		"of Decode": {func(f *debate.Flow) {
			f.Normalize, f.Decode = nil, func(data []byte) (flow.Config, error) {
				if string(data) == "{}" {
					return &menu{}, nil
				}
				return other{given}, nil
			}
		}, given, "what Decode has returned is a flow_test.other"},
		"a Decode that checks": {func(f *debate.Flow) {
			f.Decode = func([]byte) (flow.Config, error) { return nil, &flow.Error{Field: "dish"} }
		}, given, "flow menu: its Decode cannot read {}"},
		"a Decode of nothing": {func(f *debate.Flow) {
			f.Decode = func([]byte) (flow.Config, error) { return (*menu)(nil), nil }
		}, given, "flow menu: its Decode cannot read {}, which shows the type of its configs: it returns nil"},
	} {
		t.Run(name, func(t *testing.T) {
			engine, source := stage.Engine(stage.TwoDebaters())
			f := menuFlow(make(map[string]string))
			c.change(f)
			engine.Flows = map[string]*debate.Flow{"menu": f}
			_, err := engine.Start(t.Context(), c.config)
			stage.RequireKind(t, err, provider.KindValidation)
			assert.ErrorContains(t, err, c.says)
			assert.Zero(t, source.Calls())
		})
	}
}

func TestAFlowsConfigIsTheDebatesOwn(t *testing.T) {
	config, engine, _ := newSurvey(t)
	config.Tone = json.RawMessage(`"calm"`)
	session, err := engine.New(config)
	require.NoError(t, err)
	defer session.Close()
	copy(config.Tone, `"rude"`)
	config.People[0] = "Mallory"
	require.NoError(t, session.Validate(t.Context()))
	require.NoError(t, session.Start(t.Context()))
	copy(config.Tone, `"loud"`)
	record := stage.Ended(t, session)
	stored := stage.StoredRecord(t, engine, session.ID())
	for _, r := range []*debate.Record{record, stored} {
		assert.JSONEq(t, `"calm"`, string(r.Config().(*survey).Tone))
		assert.Equal(t, []string{"Ada", "Ben"}, r.Active())
	}
}
