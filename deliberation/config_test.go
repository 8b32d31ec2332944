package deliberation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// validated checks a config with an engine that has what the tests name.
func validated(t *testing.T, config deliberation.Config) error {
	t.Helper()
	engine, p := engineFor(nil)
	look, err := flow.NewTool(flow.ToolInfo{Description: "looks", ReadOnly: true}, func(context.Context, flow.ToolUse, struct{}) (string, error) { return "", nil })
	require.NoError(t, err)
	engine.Tools = map[string]flow.Tool{"look": look}
	engine.Functions = map[string]flow.Function{"own": ownSynthesizer()}
	err = engine.Validate(t.Context(), config)
	assert.Empty(t, p.Requests(), "nothing is asked")
	return err
}

// fields returns the fields that an error names.
func fields(t *testing.T, err error) []string {
	t.Helper()
	require.Error(t, err)
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	var out []string
	for _, one := range all {
		var failure *flow.Error
		require.ErrorAs(t, one, &failure)
		assert.Equal(t, provider.KindValidation, failure.Kind)
		out = append(out, failure.Field)
	}
	return out
}

func TestBadInputNamesItsField(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	file := func(name string, data []byte) string {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, data, 0o600))
		return path
	}
	empty, latin := file("empty.md", []byte(" \n")), file("latin.md", []byte("na\xefve"))
	type change = func(*deliberation.Config)
	for name, test := range map[string]struct {
		change change
		field  string
		says   string
	}{
		"no problem":          {func(c *deliberation.Config) { c.Problem = " \n" }, "problem", "empty"},
		"problem in no UTF-8": {func(c *deliberation.Config) { c.Problem = "a\xff" }, "problem", "UTF-8"},
		"context with NUL":    {func(c *deliberation.Config) { c.Context = "a\x00" }, "context", "NUL"},
		"no agents":           {func(c *deliberation.Config) { c.Agents = nil }, "agents", "2 to 100"},
		"one agent":           {func(c *deliberation.Config) { c.Agents[0].Disabled, c.Agents[1].Disabled = true, true }, "agents", "there is 1"},
		"unknown role":        {func(c *deliberation.Config) { c.Agents[1].Role = "wizard" }, "agents[1].role", "architect, data-modeling, generalist, performance"},
		"no model":            {func(c *deliberation.Config) { c.Agents[2].Model = "" }, "agents[2].model", "empty"},
		"half a model":        {func(c *deliberation.Config) { c.Agents[2].Model = "gpt" }, "agents[2].model", "provider/model"},
		"half a fallback":     {func(c *deliberation.Config) { c.Agents[2].Fallbacks = []string{"test/b", "/c"} }, "agents[2].fallbacks[1]", "provider/model"},
		"model of a disabled": {func(c *deliberation.Config) {
			c.Agents = append(c.Agents, deliberation.Agent{ID: "dan", Disabled: true})
		}, "agents[3].model", ""},
		"two of one id":       {func(c *deliberation.Config) { c.Agents[2].ID = "ADA" }, "agents[2].id", "agents[0]"},
		"no id":               {func(c *deliberation.Config) { c.Agents[0].ID = "" }, "agents[0].id", "empty"},
		"id with a dot":       {func(c *deliberation.Config) { c.Agents[0].ID = "a.b" }, "agents[0].id", "dot"},
		"name of two lines":   {func(c *deliberation.Config) { c.Agents[0].Name = "a\nb" }, "agents[0].name", "line"},
		"reserved id":         {func(c *deliberation.Config) { c.Agents[0].ID = "judge" }, "agents[0].id", "library"},
		"unknown method":      {func(c *deliberation.Config) { c.Synthesis = "dice" }, "synthesis", "judge, merge, registered, voting"},
		"synthesizer missing": {func(c *deliberation.Config) { c.Synthesis = "registered" }, "synthesizer", "empty"},
		"synthesizer unused":  {func(c *deliberation.Config) { c.Synthesizer = "own" }, "synthesizer", `synthesis is "judge"`},
		"unknown termination": {func(c *deliberation.Config) { c.Termination.Kind = "boredom" }, "termination.kind", "convergence, fixed, quality"},
		"threshold above 100": {func(c *deliberation.Config) {
			c.Termination = deliberation.Termination{Kind: "quality", Threshold: number(100.5)}
		}, "termination.threshold", "between 0 and 100"},
		"threshold below 0": {func(c *deliberation.Config) {
			c.Termination = deliberation.Termination{Kind: "convergence", Threshold: number(-1)}
		}, "termination.threshold", "between 0 and 100"},
		"threshold is no number": {func(c *deliberation.Config) {
			c.Termination = deliberation.Termination{Kind: "quality", Threshold: number(math.NaN())}
		}, "termination.threshold", "between 0 and 100"},
		"threshold without use":    {func(c *deliberation.Config) { c.Termination.Threshold = number(50) }, "termination.threshold", `"fixed" has none`},
		"unknown topology":         {func(c *deliberation.Config) { c.Topology.Kind = "star" }, "topology.kind", "all, nearest, ring"},
		"nearest none":             {func(c *deliberation.Config) { c.Topology.Kind = "nearest" }, "topology.k", "1 to 2"},
		"nearest too many":         {func(c *deliberation.Config) { c.Topology = deliberation.Topology{Kind: "nearest", K: 3} }, "topology.k", "1 to 2"},
		"k without use":            {func(c *deliberation.Config) { c.Topology.K = 1 }, "topology.k", "none"},
		"unknown proposals":        {func(c *deliberation.Config) { c.Proposals = "stale" }, "proposals", "carry, fresh"},
		"missing prompt file":      {func(c *deliberation.Config) { c.Agents[0].PromptFile = "nowhere.md" }, "agents[0].promptFile", "nowhere.md"},
		"empty prompt file":        {func(c *deliberation.Config) { c.Agents[0].PromptFile = empty }, "agents[0].promptFile", "empty"},
		"prompt file in no UTF-8":  {func(c *deliberation.Config) { c.Judge.PromptFile = latin }, "judge.promptFile", "UTF-8"},
		"prompt file is a folder":  {func(c *deliberation.Config) { c.Judge.PromptFile = t.TempDir() }, "judge.promptFile", "no file"},
		"two prompts":              {func(c *deliberation.Config) { c.Agents[0].Prompt, c.Agents[0].PromptFile = "x", latin }, "agents[0].prompt", "promptFile"},
		"blank prompt":             {func(c *deliberation.Config) { c.Judge.Prompt = " " }, "judge.prompt", "blank"},
		"judge without a model":    {func(c *deliberation.Config) { c.Judge.Model = "" }, "judge.model", `synthesis "judge"`},
		"evaluation without judge": {func(c *deliberation.Config) { c.Judge.Model, c.Synthesis, c.Termination.Kind = "", "voting", "quality" }, "judge.model", `termination "quality"`},
		"judge with half a model":  {func(c *deliberation.Config) { c.Judge.Model = "gpt" }, "judge.model", "provider/model"},
		"fallbacks of nothing":     {func(c *deliberation.Config) { c.Judge.Model, c.Judge.Fallbacks = "", []string{"a/b"} }, "judge.fallbacks", ""},
		"temperature":              {func(c *deliberation.Config) { c.Temperature = number(2.1) }, "temperature", "0 and 2"},
		"agent's temperature":      {func(c *deliberation.Config) { c.Agents[0].Temperature = number(-0.1) }, "agents[0].temperature", "0 and 2"},
		"negative rounds":          {func(c *deliberation.Config) { c.Rounds = -1 }, "rounds", "negative"},
		"negative time":            {func(c *deliberation.Config) { c.RoundTimeout = -time.Second }, "roundTimeout", "negative"},
		"time of no round":         {func(c *deliberation.Config) { c.RoundTimeout = 60 * time.Millisecond }, "roundTimeout", "three phases do not fit in less than 3s"},
		"time of too short rounds": {
			func(c *deliberation.Config) { c.RoundTimeout, c.TurnTimeout = time.Minute, 30*time.Second }, "roundTimeout", "raise it to 1m30s, or lower turnTimeout",
		},
		"negative tool calls":     {func(c *deliberation.Config) { c.ToolCalls = -1 }, "toolCalls", "negative"},
		"summary of no length":    {func(c *deliberation.Config) { c.Summaries.MaxLength = 5 }, "summaries.maxLength", "100"},
		"agent's summary":         {func(c *deliberation.Config) { c.Agents[1].Summaries = &deliberation.Summaries{Threshold: -1} }, "agents[1].summaries.threshold", "negative"},
		"empty tool name":         {func(c *deliberation.Config) { c.Tools = []string{""} }, "tools[0]", "empty"},
		"tool twice":              {func(c *deliberation.Config) { c.Agents[0].Tools = &[]string{"look", "look"} }, "agents[0].tools[1]", "is a duplicate"},
		"own role without words":  {func(c *deliberation.Config) { c.Roles = []deliberation.Role{{Name: "own"}} }, "roles[0].system", "empty"},
		"own role without a name": {func(c *deliberation.Config) { c.Roles = []deliberation.Role{{System: "x"}} }, "roles[0].name", ""},
		"own role twice": {func(c *deliberation.Config) {
			c.Roles = []deliberation.Role{{Name: "a", System: "x"}, {Name: "a", System: "x"}}
		}, "roles[1].name", "earlier"},
		"more critiques than can be at once": {func(c *deliberation.Config) { c.Agents = crowd(65) }, "topology", "4160 critiques at once"},
		"more nearest than can be at once": {func(c *deliberation.Config) {
			c.Agents, c.Topology = crowd(100), deliberation.Topology{Kind: "nearest", K: 40}
		}, "topology", "4000 critiques at once"},
		"more questions than can be at once": {func(c *deliberation.Config) {
			c.Agents, c.Topology.Kind = crowd(100), "ring"
			c.Clarification = deliberation.Clarification{On: true, Questions: 41}
		}, "clarification.questions", "at most 40"},
		"more tools than can be used at once": {func(c *deliberation.Config) {
			c.Agents, c.Tools, c.ToolCalls = crowd(60), []string{"look"}, 9
		}, "toolCalls", "at most 8"},
		"tool calls beyond all bounds": {func(c *deliberation.Config) { c.Tools, c.ToolCalls = []string{"look"}, math.MaxInt }, "toolCalls", "at most"},
		"tool calls without tools":     {func(c *deliberation.Config) { c.ToolCalls = 3 }, "toolCalls", "no agent that takes part has tools"},
		"tool calls of nobody": {func(c *deliberation.Config) {
			c.Agents[2].Tools, c.Agents[2].Disabled, c.ToolCalls = &[]string{"look"}, true, 3
		}, "toolCalls", "no agent that takes part"},
		"iterations of nothing": {func(c *deliberation.Config) { c.Clarification.Iterations = 2 }, "clarification.iterations", "not on"},
		"questions of nothing":  {func(c *deliberation.Config) { c.Clarification.Questions = 2 }, "clarification.questions", "not on"},
		"threshold of summaries that are off": {func(c *deliberation.Config) {
			c.Summaries = deliberation.Summaries{Off: true, Threshold: 900}
		}, "summaries.threshold", "off"},
		"length of summaries that are off": {func(c *deliberation.Config) {
			c.Agents[0].Summaries = &deliberation.Summaries{Off: true, MaxLength: 900}
		}, "agents[0].summaries.maxLength", "off"},
		"temperature of nobody": {func(c *deliberation.Config) {
			c.Synthesis, c.Judge = "voting", deliberation.Judge{Temperature: number(1)}
		}, "judge.temperature", "judge.model is not"},
		"tokens of nobody": {func(c *deliberation.Config) {
			c.Synthesis, c.Judge = "voting", deliberation.Judge{MaxTokens: 9}
		}, "judge.maxTokens", "judge.model is not"},
		"prompt of nobody": {func(c *deliberation.Config) {
			c.Synthesis, c.Judge = "voting", deliberation.Judge{Prompt: "You."}
		}, "judge.prompt", "judge.model is not"},
		"an id that no store has": {func(c *deliberation.Config) { c.ID = "../x" }, "id", ""},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			test.change(&config)
			err := validated(t, config)
			assert.Equal(t, []string{test.field}, fields(t, err))
			assert.ErrorContains(t, err, test.says)
		})
	}
}

// crowd is that many agents.
func crowd(n int) []deliberation.Agent {
	agents := make([]deliberation.Agent, n)
	for i := range agents {
		agents[i] = deliberation.Agent{ID: fmt.Sprintf("a%d", i), Model: "test/agent"}
	}
	return agents
}

// TestAsManyAsCanBeAtOnce: what stands at a bound is accepted.
func TestAsManyAsCanBeAtOnce(t *testing.T) {
	for name, change := range map[string]func(*deliberation.Config){
		"64 of all": func(c *deliberation.Config) { c.Agents = crowd(64) },
		"100 of 39": func(c *deliberation.Config) {
			c.Agents, c.Topology = crowd(100), deliberation.Topology{Kind: "nearest", K: 39}
		},
		"60 with tools": func(c *deliberation.Config) { c.Agents, c.Tools, c.ToolCalls = crowd(60), []string{"look"}, 8 },
		"a synthesizer's words": func(c *deliberation.Config) {
			c.Synthesis, c.Synthesizer, c.Judge = "registered", "own", deliberation.Judge{Prompt: "You sum up."}
		},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			change(&config)
			require.NoError(t, validated(t, config))
		})
	}
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	config := three()
	config.Problem, config.Synthesis, config.Agents[0].Role = "", "dice", "wizard"
	assert.Equal(t, []string{"problem", "synthesis", "agents[0].role"}, fields(t, validated(t, config)))
	config.Agents[1].PromptFile = "nowhere.md"
	assert.Equal(t, []string{"problem", "synthesis", "agents[0].role", "agents[1].promptFile"}, fields(t, validated(t, config)))
}

// TestWhatTheEngineChecks: what is registered is known to the engine alone. Nothing is asked or stored.
func TestWhatTheEngineChecks(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*deliberation.Config)
		field  string
	}{
		"tool":         {func(c *deliberation.Config) { c.Tools = []string{"nothing"} }, "tools[0]"},
		"agent's tool": {func(c *deliberation.Config) { c.Agents[1].Tools = &[]string{"nothing"} }, "agents[1].tools[0]"},
		"provider":     {func(c *deliberation.Config) { c.Agents[1].Model = "nobody/x" }, "agents[1].model"},
		"fallback":     {func(c *deliberation.Config) { c.Agents[1].Fallbacks = []string{"nobody/x"} }, "agents[1].fallbacks[0]"},
		"after a disabled": {func(c *deliberation.Config) {
			c.Agents = append([]deliberation.Agent{{ID: "dan", Model: "nobody/d", Disabled: true}}, c.Agents...)
			c.Agents[3].Model = "nobody/x"
		}, "agents[3].model"},
		"tool of a disabled": {func(c *deliberation.Config) {
			c.Agents[0].Tools, c.Agents[0].Disabled, c.Agents[2].Tools = &[]string{"nothing"}, true, &[]string{"nothing"}
		}, "agents[2].tools[0]"},
		"judge":            {func(c *deliberation.Config) { c.Judge.Model = "nobody/x" }, "judge.model"},
		"judge's fallback": {func(c *deliberation.Config) { c.Judge.Fallbacks = []string{"test/y", "nobody/x"} }, "judge.fallbacks[1]"},
		"synthesizer":      {func(c *deliberation.Config) { c.Synthesis, c.Synthesizer = "registered", "nobody" }, "synthesizer"},
		"synthesizer alone": {func(c *deliberation.Config) {
			c.Synthesis, c.Synthesizer, c.Judge = "registered", "nobody", deliberation.Judge{}
		}, "synthesizer"},
	} {
		t.Run(name, func(t *testing.T) {
			config := three()
			test.change(&config)
			engine, p := engineFor(nil)
			assert.Equal(t, []string{test.field}, fields(t, engine.Validate(t.Context(), config)))
			_, err := engine.Start(t.Context(), config)
			assert.Equal(t, []string{test.field}, fields(t, err))
			assert.Empty(t, p.Requests())
		})
	}
}

func TestValidate(t *testing.T) {
	engine, p := engineFor(nil)
	require.NoError(t, engine.Validate(t.Context(), three()))
	assert.Empty(t, p.Requests(), "nothing is asked")
	config := three()
	config.Agents[0].Role = "wizard"
	assert.Equal(t, []string{"agents[0].role"}, fields(t, engine.Validate(t.Context(), config)), "what needs no engine too")
	config = three()
	config.Agents[0].Model, config.Judge.Model = "nobody/a", "nobody/j"
	assert.Equal(t, []string{"agents[0].model", "judge.model"}, fields(t, engine.Validate(t.Context(), config)), "all at once")
	err := (&debate.Engine{}).Validate(t.Context(), three())
	assert.Contains(t, fields(t, err), "flow", "the engine has no such flow")
}

// TestWhatEveryConfigHasIsCheckedToo: what is wrong with the settings that all flows have.
func TestWhatEveryConfigHasIsCheckedToo(t *testing.T) {
	for field, change := range map[string]func(*deliberation.Config){
		"budget.hardTokens": func(c *deliberation.Config) { c.Budget = &flow.Budget{HardTokens: -1} },
		"budget.confirm":    func(c *deliberation.Config) { c.Budget = &flow.Budget{Confirm: true} },
		"retry.base":        func(c *deliberation.Config) { c.Retry = &flow.RetryPolicy{Base: -1} },
		"labels":            func(c *deliberation.Config) { c.Labels = map[string]string{"": "x"} },
		"onFailure[0].calls": func(c *deliberation.Config) {
			c.OnFailure = []flow.FailureRule{{Calls: []flow.CallKind{deliberation.KindCritique, "critic"}, Do: flow.OptionSkip}}
		},
	} {
		t.Run(field, func(t *testing.T) {
			config := three()
			change(&config)
			assert.Equal(t, []string{field}, fields(t, validated(t, config)))
		})
	}
	config := three()
	config.Budget = &flow.Budget{Hard: flow.USD}
	err := validated(t, config)
	assert.Equal(t, "agents[0].model", fields(t, err)[0])
	assert.ErrorContains(t, err, "has no known price, which a budget needs")
	engine, _ := engineFor(nil)
	engine.Models = priced()
	require.NoError(t, engine.Validate(t.Context(), config))
}

// TestTheFrozenConfigIsChecked: a log may hold a config that no start has normalized.
func TestTheFrozenConfigIsChecked(t *testing.T) {
	flow := deliberation.Flow()
	for name, test := range map[string]struct {
		change func(*deliberation.Config)
		field  string
	}{
		"nobody":       {func(c *deliberation.Config) { c.Agents = nil }, "agents"},
		"an evil twin": {func(c *deliberation.Config) { c.Agents[1].ID = "ada" }, "agents[1].id"},
		"no judge":     {func(c *deliberation.Config) { c.Judge = deliberation.Judge{} }, "judge.model"},
		"no threshold": {func(c *deliberation.Config) { c.Termination.Kind = "quality" }, "termination.threshold"},
		"a file":       {func(c *deliberation.Config) { c.Agents[1].PromptFile = "/etc/passwd" }, "agents[1].promptFile"},
		"too many at once": {func(c *deliberation.Config) {
			c.Clarification = deliberation.Clarification{On: true, Iterations: 1, Questions: 5000}
		}, "clarification.questions"},
		"a crowd": {func(c *deliberation.Config) {
			c.Agents = slices.Repeat(c.Agents, 34)
			for i := range c.Agents {
				c.Agents[i].ID = fmt.Sprintf("a%d", i)
			}
		}, "agents"},
	} {
		t.Run(name, func(t *testing.T) {
			normalized, err := flow.Normalize(new(three()))
			require.NoError(t, err)
			config, err := flow.Decode([]byte(toJSON(normalized)))
			require.NoError(t, err)
			require.Empty(t, flow.Check(config, nil, registered{}))
			test.change(config.(*deliberation.Config))
			assert.Equal(t, []string{test.field}, fields(t, errors.Join(flow.Check(config, nil, registered{})...)))
		})
	}
	for text, field := range map[string]string{``: "", `{"problem"`: "", `{"problem":"x","wizard":1}`: "wizard"} {
		_, err := flow.Decode([]byte(text))
		assert.Equal(t, []string{field}, fields(t, err), text)
	}
}

func TestConfigAsJSON(t *testing.T) {
	text := `{"problem":"Design it.","context":"Small.","rounds":4,"agents":[{"id":"ada","model":"test/a","role":"security","tools":[]},
		{"id":"ben","model":"test/b","temperature":0,"summaries":{"off":true}}],"judge":{"model":"test/j"},
		"termination":{"kind":"convergence","threshold":0},"includeFullHistory":false,"clarification":{"on":true},
		"roundTimeout":"90s","turnTimeout":"1m","judgeTimeout":"2m","budget":{"hard":2.5},"unattended":true,"patience":"3m","onFailure":[{"kinds":["refusal"],"do":"skip"}],"labels":{"tenant":"x"}}`
	var config deliberation.Config
	require.NoError(t, json.Unmarshal([]byte(text), &config))
	assert.Equal(t, 90*time.Second, config.RoundTimeout)
	assert.Equal(t, 2*time.Minute, config.JudgeTimeout)
	data, err := json.Marshal(config)
	require.NoError(t, err)
	var again deliberation.Config
	require.NoError(t, json.Unmarshal(data, &again))
	assert.Equal(t, config, again)
	assert.Equal(t, time.Minute, config.Settings().TurnTimeout)
	assert.Equal(t, 3*time.Minute, config.Settings().Patience)
	assert.Equal(t, []flow.FailureRule{{Kinds: []flow.Kind{provider.KindRefusal}, Do: flow.OptionSkip}}, config.Settings().OnFailure)
	assert.InDelta(t, 0, *config.Agents[1].Temperature, 0)
	normalized, err := deliberation.Flow().Normalize(&config)
	require.NoError(t, err)
	made, ok := normalized.(*deliberation.Config)
	require.True(t, ok)
	assert.InDelta(t, 0, *made.Agents[1].Temperature, 0)
	assert.Nil(t, made.Agents[0].Temperature, "it has that of all")
	assert.InDelta(t, deliberation.DefaultTemperature, *made.Temperature, 0)

	for _, bad := range []string{
		`{"problem":"x","wizard":1}`, `{"problem":"x","problem":"y"}`, `{"Problem":"x"}`, `{"roundTimeout":90}`, `{"agents":[{"ID":"a"}]}`, `[]`,
	} {
		err := json.Unmarshal([]byte(bad), &config)
		var failure *flow.Error
		require.ErrorAs(t, err, &failure, bad)
	}
}

func TestTheTopicIsTheFirstLineOfTheProblem(t *testing.T) {
	for problem, topic := range map[string]string{
		"Design it.\nAll of it.":              "Design it.",
		"\n# A shortener\n":                   "A shortener",
		strings.Repeat("ü", 150):              strings.Repeat("ü", 100),
		"#":                                   "a problem",
		"a" + strings.Repeat("漢", 100) + "\n": "a" + strings.Repeat("漢", 66),
	} {
		config := three()
		config.Problem = problem
		assert.Equal(t, topic, config.Settings().Topic)
	}
}

func TestWhichPromptEverybodyGotIsInTheRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ada.md")
	require.NoError(t, os.WriteFile(path, []byte("You are a cook.\n"), 0o600))
	config := three()
	config.Agents[0].PromptFile, config.Agents[1].Prompt = path, "You are a poet."
	config.Roles = []deliberation.Role{{Name: "own", System: "You are a judge of wine."}}
	config.Agents[2].Role = "own"
	engine, p := engineFor(nil)
	r := play(t, engine, config)
	got := view(r).Prompts()
	require.Len(t, got, 4)
	assert.Equal(t, path, got[0].Source)
	assert.Len(t, got[0].SHA256, 64)
	assert.Equal(t, "You are a cook.", got[0].Text)
	assert.Equal(t, deliberation.SourceConfig, got[1].Source)
	assert.Equal(t, "own", got[2].Role)
	assert.Equal(t, deliberation.SourceBuiltIn, got[3].Source)
	assert.Contains(t, prompt(t, p, "r1.critique.ada.ben"), "You are a cook.")
	assert.Contains(t, prompt(t, p, "r2.refine.ben"), "You are a poet.")
	assert.Contains(t, prompt(t, p, "r1.propose.cyd"), "You are a judge of wine.")
	assert.Contains(t, prompt(t, p, "synthesis"), got[3].Text)
}
