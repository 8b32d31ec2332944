package engine_test

import (
	"encoding/json"
	"fmt"
	"math"
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
	require.NoError(t, own.Shutdown(t.Context(), false))
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

// counted is an engine that counts how often a flow copies configs and renders prompts.
type counted struct {
	*kernel.Engine

	start            func(flow.Config) string
	copied, rendered int
}

func counting(t *testing.T) *counted {
	t.Helper()
	c := &counted{}
	c.Engine, c.start = starts(t, func(_ *debate.Engine, f *debate.Flow) {
		normalize, texts := f.Normalize, f.Texts
		f.Normalize = func(given flow.Config) (flow.Config, error) {
			c.copied++
			return normalize(given)
		}
		f.Texts = func(s flow.Setup) (map[string]string, error) {
			c.rendered++
			return texts(s)
		}
	})
	c.copied, c.rendered = 0, 0
	return c
}

// A config is kept when it comes again, and only if nothing is wrong with it.
func TestWhatIsWorthKeepingIsKept(t *testing.T) {
	c := counting(t)
	kept := func() (setups, renderings int) {
		a, b := engine.Kept(c.Engine)
		return len(a), len(b)
	}
	wrong := stage.TwoDebaters()
	wrong.Topic = ""
	for range 4 {
		require.Error(t, c.Validate(t.Context(), wrong))
	}
	c.start(stage.TwoDebaters())
	setups, renderings := kept()
	assert.Zero(t, setups)
	assert.Zero(t, renderings)
	want := c.start(stage.TwoDebaters())
	setups, renderings = kept()
	assert.Equal(t, 1, setups)
	assert.Equal(t, 1, renderings)
	copied, rendered := c.copied, c.rendered
	assert.Equal(t, want, c.start(stage.TwoDebaters()))
	assert.Equal(t, copied+2, c.copied, "once for Validate, and once for Freeze")
	assert.Equal(t, rendered, c.rendered)
}

// A config that is different at each start costs no copies, and pushes nothing out.
func TestConfigsThatNeverComeAgainCostNoCopies(t *testing.T) {
	c, config := counting(t), stage.TwoDebaters()
	for range 3 {
		c.start(config)
	}
	setups, renderings := engine.Kept(c.Engine)
	copied, rendered := c.copied, c.rendered
	for n := range 40 {
		config.Topic = fmt.Sprintf("Question %d?", n)
		c.start(config)
	}
	assert.Equal(t, copied+80, c.copied)
	assert.Equal(t, rendered+40, c.rendered)
	againSetups, againRenderings := engine.Kept(c.Engine)
	assert.Equal(t, setups, againSetups)
	assert.Equal(t, renderings, againRenderings)
}

// Configs that differ in what no prompt speaks of have the same prompts.
func TestMarksOfTheHostShareThePrompts(t *testing.T) {
	c := counting(t)
	for n := range 20 {
		config := stage.TwoDebaters()
		config.Labels = map[string]string{"trace": fmt.Sprint(n)}
		config.Unattended = n%2 == 0
		config.Patience = time.Duration(n+1) * time.Minute
		config.Participants[0].Metadata = map[string]string{"user": fmt.Sprint(n)}
		_, alone := starts(t, nil)
		assert.Equal(t, alone(config), c.start(config))
	}
	assert.Equal(t, 2, c.rendered, "for the first start, and to keep it")
	assert.Equal(t, 41, c.copied, "twice for each start, and once to keep the prompts")
	setups, _ := engine.Kept(c.Engine)
	assert.Empty(t, setups)
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
	_, start := starts(t, func(e *debate.Engine, _ *debate.Flow) {
		shop.Provider = e.Providers["test"]
		e.Providers["test"] = shop
	})
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
			config := stage.TwoDebaters()
			config.Temperature, config.Prompts = new(0.5), map[string]string{"turn": "Speak in round {{.Round}}."}
			own, start := starts(t, sharing)
			start(&config)
			start(&config)
			first := start(&config)
			test.write(&config)
			_, alone := starts(t, sharing)
			second := start(&config)
			assert.NotEqual(t, first, second)
			assert.Equal(t, alone(&config), second)
			setups, renderings := engine.Kept(own)
			assert.Empty(t, setups)
			assert.Empty(t, renderings)
		})
	}
	t.Run("frozen", func(t *testing.T) {
		guidance := "Be brief."
		freezing := func(_ *debate.Engine, f *debate.Flow) {
			freeze := f.Freeze
			f.Freeze = func(c flow.Config) (any, error) {
				frozen, err := freeze(c)
				frozen.(*format.Format).Guidance = guidance // as of a file
				return frozen, err
			}
		}
		_, start := starts(t, freezing)
		start(stage.TwoDebaters())
		start(stage.TwoDebaters())
		first := start(stage.TwoDebaters())
		require.Contains(t, first, guidance)
		guidance = "Be kind."
		_, alone := starts(t, freezing)
		assert.Equal(t, alone(stage.TwoDebaters()), start(stage.TwoDebaters()))
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

// A session needs the plan of its config until it starts, and no longer.
func TestASessionKeepsItsPlanUntilItStarts(t *testing.T) {
	config := stage.TwoDebaters()
	budgeted := config
	budgeted.Budget = &flow.Budget{HardCalls: 1000} // its checks make the start
	host, _ := stage.Engine(config)
	own := facing(t, host)
	for _, one := range []debate.Config{config, budgeted} {
		session, err := own.NewSession(t.Context(), one, false)
		require.NoError(t, err)
		require.NoError(t, session.Validate(t.Context()))
		assert.True(t, engine.Planned(session))
		require.NoError(t, session.Start(t.Context()))
		assert.False(t, engine.Planned(session))
		_, err = session.Wait(t.Context(), false)
		require.NoError(t, err)
	}
	require.NoError(t, own.Shutdown(t.Context(), false))
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

// What is no data is never equal, so that no config which holds it has a setup. Values that share memory are not apart.
func TestValuesAreCompared(t *testing.T) {
	loop := &node{}
	loop.Next = loop
	one, list := 1, []int{1}
	for name, test := range map[string]struct {
		a, b        any
		same, apart bool
	}{
		"nothing":              {nil, nil, true, true},
		"nothing and a value":  {nil, 1, false, false},
		"numbers":              {1, 1, true, true},
		"another type":         {1, int64(1), false, false},
		"values":               {node{Name: "a", Any: []any{1}}, node{Name: "a", Any: []any{1}}, true, true},
		"another inner value":  {node{Any: []any{1}}, node{Any: []any{2}}, false, false},
		"another inner type":   {node{Any: 1}, node{Any: "1"}, false, false},
		"nil and an empty one": {node{List: []int{}}, node{}, false, false},
		"empty lists":          {node{List: []int{}}, node{List: []int{}}, true, true},
		"a longer list":        {node{List: []int{1}}, node{List: []int{1, 1}}, false, false},
		"a shared list":        {node{List: list}, node{List: list}, true, false},
		"a shared pointer":     {&one, &one, true, false},
		"maps":                 {node{Map: map[string]*int{"a": new(1)}}, node{Map: map[string]*int{"a": new(1)}}, true, true},
		"another key":          {node{Map: map[string]*int{"a": new(1)}}, node{Map: map[string]*int{"b": new(1)}}, false, false},
		"shared in a map":      {node{Map: map[string]*int{"a": &one}}, node{Map: map[string]*int{"a": &one}}, true, false},
		"keys that are data":   {node{Keys: map[int]int{1: 1}}, node{Keys: map[int]int{1: 1}}, false, false},
		"no number":            {node{Number: math.NaN()}, node{Number: math.NaN()}, false, false},
		"a function":           {node{Func: func() {}}, node{}, false, false},
		"a channel":            {node{Chan: make(chan int)}, node{Chan: make(chan int)}, false, false},
		"bytes":                {node{Raw: json.RawMessage("1")}, node{Raw: json.RawMessage("1")}, true, true},
		"a hidden field":       {node{hidden: 1}, node{hidden: 1}, false, false},
		"a time":               {time.Unix(1, 0), time.Unix(1, 0), false, false},
		"a loop":               {loop, loop, false, false},
		"another loop":         {loop, &node{Next: loop}, false, false},
		"a negative zero":      {0.0, math.Copysign(0, -1), false, false},
		"negative zeros":       {math.Copysign(0, -1), math.Copysign(0, -1), true, true},
		"complex numbers":      {1i, 1i, false, false},
		"too many values":      {make([]int, 1<<16), make([]int, 1<<16), false, false},
	} {
		if number := engine.Numbers(); test.same {
			assert.NotZero(t, number(false, test.a), name)
			assert.Equal(t, number(false, test.a), number(false, test.b), name)
		}
		assert.Equal(t, test.same, engine.Same(test.a, test.b), name)
		assert.Equal(t, test.same, engine.Alike(test.a, test.b), name)
		assert.Equal(t, test.apart, engine.Apart(test.a, test.b), name)
	}
}

// marked has fields of which prompts do not speak.
type marked struct {
	Topic string
	Marks map[string]string `prompt:"-"`
	Files []int             `prompt:"any"`
	Count int               `prompt:"any"`
	Inner *marked
}

// What no prompt depends on is no difference for prompts. A tag that does not fit its field is none.
func TestTagsSayWhatPromptsDependOn(t *testing.T) {
	number := engine.Numbers()
	given := marked{Topic: "a", Files: []int{1}, Inner: &marked{Marks: map[string]string{"a": "b"}}}
	for name, test := range map[string]struct {
		other marked
		alike bool
	}{
		"marks":          {marked{Topic: "a", Marks: map[string]string{"c": "d"}, Files: []int{1}, Inner: &marked{}}, true},
		"other files":    {marked{Topic: "a", Files: []int{2, 3}, Inner: &marked{}}, true},
		"no files":       {marked{Topic: "a", Inner: &marked{}}, false},
		"files inside":   {marked{Topic: "a", Files: []int{1}, Inner: &marked{Files: []int{1}}}, false},
		"a number":       {marked{Topic: "a", Files: []int{1}, Count: 1, Inner: &marked{}}, false},
		"another topic":  {marked{Topic: "b", Files: []int{1}, Inner: &marked{}}, false},
		"nothing inside": {marked{Topic: "a", Files: []int{1}}, false},
	} {
		assert.Equal(t, test.alike, engine.Alike(given, test.other), name)
		assert.Equal(t, test.alike, number(true, given) == number(true, test.other), name)
		assert.False(t, engine.Same(given, test.other), name)
		assert.NotEqual(t, number(false, given), number(false, test.other), name)
	}
	assert.NotEqual(t, number(true, "a"), number(false, "a"), "what is noted of prompts is not noted of configs")
	assert.NotZero(t, number(false, strings.Repeat("a", 1<<20)))
	assert.Zero(t, number(false, strings.Repeat("a", 1<<20), "a"), "more text than is kept")
}
