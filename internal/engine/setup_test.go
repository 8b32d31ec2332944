package engine_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
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
	"github.com/agonist-dev/debate/internal/engine"
	"github.com/agonist-dev/debate/internal/kernel"
	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/provider"
)

// starts returns a function that starts a config as text: what is wrong with it, or else the start. change changes the engine.
func starts(t *testing.T, change func(*debate.Engine, *debate.Flow)) (*kernel.Engine, func(flow.Config) string) {
	t.Helper()
	host, _ := stage.Engine(stage.TwoDebaters())
	debates := debate.DebateFlow()
	host.Flows = map[string]*debate.Flow{debate.FlowName: debates}
	host.Seed = func() string { return "seed" }
	if change != nil {
		change(host, debates)
	}
	own := kernel.Of(t, host)
	return own, func(config flow.Config) string {
		if err := own.Validate(t.Context(), config); err != nil {
			return err.Error()
		}
		start, err := own.Freeze(config)
		require.NoError(t, err)
		return stage.JSON(start)
	}
}

// facing returns the engine beneath another one, which can start sessions. All its conversations have one seed, and draw the same labels.
func facing(t *testing.T, host *debate.Engine) *engine.Engine {
	t.Helper()
	own, problems := engine.New(engine.Parts{
		Providers: host.Providers, Models: host.Models, Logger: host.Logger, First: debate.FlowName,
		Seed:  func() string { return "seed" },
		Flows: map[string]*flow.Flow{debate.FlowName: debate.DebateFlow()}, Face: func(s *engine.Session) any { return s },
	})
	require.Empty(t, problems)
	return own
}

// What is kept of a config stays as it is, whatever the conversations that start by it do.
func TestWhatIsKeptOfAConfigStays(t *testing.T) {
	config := stage.TwoDebaters()
	config.Judging.Anonymous, config.Labels = true, map[string]string{"tenant": "blue"}
	host, p := stage.Engine(config)
	p.Record = false
	own := facing(t, host)
	play := func() {
		record, err := own.Play(t.Context(), config)
		require.NoError(t, err)
		require.Equal(t, flow.StateCompleted, record.State)
	}
	play()
	setups, renderings := engine.Kept(own)
	require.Len(t, setups, 1)
	require.Len(t, renderings, 1)
	for range longform.Sized(1000, 1000, 100) {
		play()
	}
	againSetups, againRenderings := engine.Kept(own)
	assert.Equal(t, setups, againSetups)
	assert.Equal(t, renderings, againRenderings)
	require.NoError(t, own.Shutdown(t.Context()))
}

// An engine keeps no more than 16 setups and 16 renderings. Of 17 configs that start in turn, each starts as it does alone.
func TestMoreConfigsThanAreKeptStartInTurn(t *testing.T) {
	config := func(n int) debate.Config {
		config := stage.TwoDebaters()
		config.Topic = fmt.Sprintf("Question %d?", n)
		return config
	}
	own, start := starts(t, nil)
	for range 3 {
		for n := range 17 {
			_, alone := starts(t, nil)
			require.Equal(t, alone(config(n)), start(config(n)), "%d", n)
		}
	}
	setups, renderings := engine.Kept(own)
	assert.Len(t, setups, 16)
	assert.Len(t, renderings, 16)
}

// counted is an engine that counts how often a flow copies configs, checks them and renders prompts.
type counted struct {
	*kernel.Engine

	start                     func(flow.Config) string
	copied, checked, rendered int
}

func counting(t *testing.T) *counted {
	t.Helper()
	c := &counted{}
	c.Engine, c.start = starts(t, func(_ *debate.Engine, f *debate.Flow) {
		normalize, check, texts := f.Normalize, f.Check, f.Texts
		f.Normalize = func(given flow.Config) (flow.Config, error) {
			c.copied++
			return normalize(given)
		}
		f.Check = func(config flow.Config, frozen any, known flow.Registry) []error {
			c.checked++
			return check(config, frozen, known)
		}
		f.Texts = func(s flow.Setup) (map[string]string, error) {
			c.rendered++
			return texts(s)
		}
	})
	return c
}

// A config that starts again is neither checked nor rendered again. One that has mistakes is checked each time, and leaves nothing.
func TestWhatIsWorthKeepingIsKept(t *testing.T) {
	c := counting(t)
	kept := func() [2]int {
		setups, renderings := engine.Kept(c.Engine)
		return [2]int{len(setups), len(renderings)}
	}
	wrong := stage.TwoDebaters()
	wrong.Topic = ""
	for n := range 3 {
		require.Error(t, c.Validate(t.Context(), wrong))
		assert.Equal(t, n+1, c.checked)
	}
	assert.Equal(t, [2]int{}, kept())
	want := c.start(stage.TwoDebaters())
	assert.Equal(t, [2]int{1, 1}, kept())
	copied, checked, rendered := c.copied, c.checked, c.rendered
	assert.Equal(t, want, c.start(stage.TwoDebaters()))
	assert.Equal(t, copied+2, c.copied, "once for Validate, and once for Freeze")
	assert.Equal(t, checked, c.checked)
	assert.Equal(t, rendered, c.rendered)
}

// A config that is different at each start is copied, checked and rendered as if nothing was kept, and does not push out one that comes
// again.
func TestConfigsThatNeverComeAgainPushNothingOut(t *testing.T) {
	c, config := counting(t), stage.TwoDebaters()
	want := c.start(config)
	copied, checked, rendered := c.copied, c.checked, c.rendered
	for n := range 40 {
		other := config
		other.Topic = fmt.Sprintf("Question %d?", n)
		c.start(other)
		if n%10 == 0 {
			assert.Equal(t, want, c.start(config))
		}
	}
	assert.Equal(t, copied+88, c.copied)
	assert.Equal(t, checked+40, c.checked)
	assert.Equal(t, rendered+40, c.rendered)
}

// A config that was valid is refused as soon as its providers are asked again, and say that a model or a key is gone.
func TestWhatChangesBetweenTwoStartsIsSeen(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*stage.Shop)
		kind   debate.Kind
	}{
		"a model vanishes": {func(s *stage.Shop) { s.Has = []string{"other"} }, provider.KindValidation},
		"a key is refused": {
			func(s *stage.Shop) { s.Err = &provider.Error{Kind: provider.KindAuthentication, Status: 401} }, provider.KindAuthentication,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config, host, shops := stage.Market()
				for range 2 {
					stage.Run(t, host, config)
				}
				test.change(shops["three"])
				stage.Pass(10 * time.Minute)
				_, err := host.Start(t.Context(), config)
				assert.Equal(t, "judging.judges[0].model", stage.RequireKind(t, err, test.kind).Field)
			})
		})
	}
	t.Run("a warning", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			config, host, shops := stage.Market()
			shops["three"].Err = &provider.Error{Kind: provider.KindRateLimit, Status: 429}
			for range 2 {
				assert.Len(t, stage.Run(t, host, config).Warnings, 1, "each debate has it")
			}
		})
	})
}

// learner is a provider that learns whose models it serves.
type learner struct {
	provider.Provider

	vendor string
}

func (l *learner) Vendor() string { return l.vendor }

// What an engine learns about a model between two starts is in the rows of the second, and may refuse it.
func TestARowThatIsLearnedIsSeenByTheNextStart(t *testing.T) {
	shop := &learner{}
	learning := func(e *debate.Engine, _ *debate.Flow) {
		shop.Provider = e.Providers["test"]
		e.Providers["test"] = shop
	}
	own, start := starts(t, learning)
	config := stage.TwoDebaters()
	config.Participants[0].Model = "test/gpt-4.1"
	asking := config
	asking.Participants = append([]debate.Participant(nil), config.Participants...)
	asking.Participants[0].Options = &provider.Options{Effort: provider.EffortLow}
	window := func() int {
		t.Helper()
		var found struct{ Models map[string]flow.Model }
		require.NoError(t, json.Unmarshal([]byte(start(config)), &found))
		return found.Models["test/gpt-4.1"].Window
	}
	for range 3 {
		shop.vendor = ""
		assert.Zero(t, window(), "nobody knows the model")
		assert.True(t, strings.HasPrefix(start(asking), "{"), start(asking))
		shop.vendor = "openai"
		assert.Positive(t, window())
		assert.Contains(t, start(asking), "effort")
		assert.False(t, strings.HasPrefix(start(asking), "{"), "the model has no effort")
	}
	setups, _ := engine.Kept(own)
	assert.Len(t, setups, 2, "each config has the last")

	host, _ := stage.Engine(config) // and what is learned after a session was made is seen when it starts
	learning(host, nil)
	sessions := make([]*debate.Session, 0, 2)
	for _, one := range []debate.Config{config, asking} {
		shop.vendor = ""
		require.NoError(t, host.Validate(t.Context(), one))
		session, err := host.New(one)
		require.NoError(t, err)
		sessions = append(sessions, session)
	}
	shop.vendor = "openai"
	require.NoError(t, sessions[0].Validate(t.Context()))
	require.NoError(t, sessions[0].Start(t.Context()))
	record, err := sessions[0].Wait(t.Context())
	require.NoError(t, err)
	assert.Positive(t, record.Start().Models["test/gpt-4.1"].Window)
	require.ErrorIs(t, sessions[1].Validate(t.Context()), flow.ErrUnsupported)
}

// A flow whose copies of a config are not deep, or that freezes what is outside of the config, gets what the host program has now.
func TestAFlowThatSharesMemoryWithItsHost(t *testing.T) {
	for name, test := range map[string]struct {
		share func(normalized, given *debate.Config)
		write func(*debate.Config)
	}{
		"a list": {
			func(n, c *debate.Config) { n.Participants = c.Participants },
			func(c *debate.Config) { c.Participants[0].Position = "Another position." },
		},
		"a pointer": {
			func(n, c *debate.Config) { n.Temperature = c.Temperature },
			func(c *debate.Config) { *c.Temperature = 3 }, // which is refused
		},
		"a map": {
			func(n, c *debate.Config) { n.Prompts = c.Prompts },
			func(c *debate.Config) { c.Prompts["turn"] = "It is round {{.Round}}." },
		},
	} {
		t.Run(name, func(t *testing.T) {
			sharing := func(_ *debate.Engine, f *debate.Flow) {
				deep := f.Normalize
				f.Normalize = func(given flow.Config) (flow.Config, error) {
					normalized, err := deep(given)
					test.share(normalized.(*debate.Config), given.(*debate.Config))
					return normalized, err
				}
			}
			given := func() debate.Config {
				config := stage.TwoDebaters()
				config.Temperature, config.Prompts = new(0.5), map[string]string{"turn": "Speak in round {{.Round}}."}
				return config
			}
			var during func()
			own, start := starts(t, func(e *debate.Engine, f *debate.Flow) {
				sharing(e, f)
				e.Seed = func() string {
					if during != nil {
						during()
					}
					return "seed"
				}
			})
			config := given()
			first := start(&config)
			during = func() { test.write(&config) } // after the config was read
			_, err := own.Freeze(&config)
			require.NoError(t, err)
			during = nil
			same := given()
			assert.Equal(t, first, start(&same))
			_, alone := starts(t, sharing)
			second := start(&config)
			assert.NotEqual(t, first, second)
			assert.Equal(t, alone(&config), second)
		})
	}
	t.Run("frozen", func(t *testing.T) {
		guidance := "Be brief."
		freezing := func(_ *debate.Engine, f *debate.Flow) {
			freeze := f.Freeze
			f.Freeze = func(c flow.Config) (any, error) {
				frozen, err := freeze(c)
				own := frozen.(*format.Format)
				own.Name, own.Guidance = "house", guidance // as of a file
				return own, err
			}
		}
		_, start := starts(t, freezing)
		told := func() bool {
			t.Helper()
			var found struct{ Texts map[string]string }
			require.NoError(t, json.Unmarshal([]byte(start(stage.TwoDebaters())), &found))
			return slices.ContainsFunc(slices.Collect(maps.Values(found.Texts)), func(text string) bool { return strings.Contains(text, guidance) })
		}
		assert.True(t, told())
		guidance = "Be kind."
		assert.True(t, told())
	})
}

// The ID is no part of a setup, and is checked at each start. So are the prompts of drawn labels, by what is drawn.
func TestWhatDiffersBetweenStartsOfOneSetup(t *testing.T) {
	seed := "one"
	seeded := func(e *debate.Engine, _ *debate.Flow) { e.Seed = func() string { return seed } }
	own, start := starts(t, seeded)
	config := stage.TwoDebaters()
	config.Judging.Anonymous = true
	for _, id := range []string{"", "a", "b", "c d", "a"} {
		for _, seed = range []string{"one", "two", "three", "four"} {
			config.ID = id
			_, alone := starts(t, seeded)
			got := start(config)
			assert.Equal(t, alone(config), got)
			assert.Equal(t, id != "c d", strings.HasPrefix(got, "{"), got)
		}
	}
	setups, _ := engine.Kept(own)
	assert.Len(t, setups, 1)
}

// A debate that is edited begins as its last config says.
func TestASessionStartsByItsLastConfig(t *testing.T) {
	config := stage.TwoDebaters()
	host, _ := stage.Engine(config)
	edited := config
	edited.Topic = "Should trams be free?"
	for range 3 {
		stage.Run(t, host, config)
		stage.Run(t, host, edited)
	}
	for _, one := range []debate.Config{config, edited} {
		session, err := host.New(config)
		require.NoError(t, err)
		require.NoError(t, session.Validate(t.Context()))
		require.NoError(t, session.Edit(one))
		require.NoError(t, session.Validate(t.Context()))
		require.NoError(t, session.Start(t.Context()))
		record, err := session.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, one.Topic, record.Settings().Topic)
		assert.Contains(t, record.Text("system.summarizer"), one.Topic)
	}
}

// node is a value that may hold itself.
type node struct {
	Name   string
	Next   *node
	Any    any
	List   []int
	Map    map[string]*int
	Keys   map[int]int
	Number float64
	Func   func()
	Chan   chan int
	Raw    json.RawMessage
	hidden int
}

// nested returns a node in as many others.
func nested(depth int) (n node) {
	for range depth {
		n = node{Any: n}
	}
	return n
}

// Equal values have one key, and no others have it. What is no data has none, so that nothing is kept of a config which holds it.
func TestKeysStandForValues(t *testing.T) {
	loop := &node{}
	loop.Next = loop
	named := func() any {
		type node struct{ Name string }
		return node{"a"}
	}
	one := 1
	for name, test := range map[string]struct {
		a, b any
		same bool
	}{
		"nothing":              {nil, nil, true},
		"nothing and a value":  {nil, 0, false},
		"numbers":              {1, 1, true},
		"other numbers":        {1, -1, false},
		"another type":         {1, int64(1), false},
		"types of one name":    {named(), func() any { type node struct{ Name string }; return node{"a"} }(), false},
		"values":               {node{Name: "a", Any: []any{1}}, node{Name: "a", Any: []any{1}}, true},
		"another inner value":  {node{Any: []any{1}}, node{Any: []any{2}}, false},
		"another inner type":   {node{Any: 1}, node{Any: "1"}, false},
		"nil and an empty one": {node{List: []int{}}, node{}, false},
		"empty lists":          {node{List: []int{}}, node{List: []int{}}, true},
		"a longer list":        {node{List: []int{1}}, node{List: []int{1, 1}}, false},
		"lists cut elsewhere":  {[][]int{{1}, {2, 3}}, [][]int{{1, 2}, {3}}, false},
		"texts cut elsewhere":  {[]string{"ab", "c"}, []string{"a", "bc"}, false},
		"pointers":             {&one, new(1), true},
		"another pointer":      {&one, new(2), false},
		"maps":                 {map[string]int{"a": 1, "b": 2, "c": 3}, map[string]int{"c": 3, "b": 2, "a": 1}, true},
		"values in turn":       {map[string]int{"a": 1, "b": 2}, map[string]int{"a": 2, "b": 1}, false},
		"another key":          {node{Map: map[string]*int{"a": new(1)}}, node{Map: map[string]*int{"b": new(1)}}, false},
		"a negative zero":      {0.0, math.Copysign(0, -1), false},
		"negative zeros":       {math.Copysign(0, -1), math.Copysign(0, -1), true},
		"bytes":                {node{Raw: json.RawMessage("1")}, node{Raw: json.RawMessage("1")}, true},
		"other bytes":          {node{Raw: json.RawMessage("1")}, node{Raw: json.RawMessage("2")}, false},
		"values in values":     {nested(20), nested(20), true},
		"one value more":       {nested(20), nested(21), false},
		"much text":            {strings.Repeat("a", 1<<19), strings.Repeat("a", 1<<19), true},
		"other text":           {strings.Repeat("a", 1<<19) + "b", strings.Repeat("a", 1<<19) + "c", false},
	} {
		a, b := engine.KeyOf(test.a), engine.KeyOf(test.b)
		assert.NotZero(t, a, name)
		assert.NotZero(t, b, name)
		assert.Equal(t, test.same, a == b, name)
	}
	assert.NotEqual(t, engine.KeyOf("a", "b"), engine.KeyOf("ab"))
	for name, value := range map[string]any{
		"keys that are data": node{Keys: map[int]int{1: 1}},
		"a function":         node{Func: func() {}},
		"a channel":          node{Chan: make(chan int)},
		"a hidden field":     node{hidden: 1},
		"a time":             time.Unix(1, 0),
		"a loop":             loop,
		"a complex number":   1i,
		"too many values":    make([]int, 1<<20),
		"values of no size":  make([]struct{}, 1<<40),
		"too much text":      strings.Repeat("a", 1<<20),
		"values too deep":    nested(100),
	} {
		assert.Zero(t, engine.KeyOf(value), name)
		assert.Zero(t, engine.KeyOf(value, 1), name)
	}
}
