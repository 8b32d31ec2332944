package web_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/stage"
	"github.com/agonist-dev/debate/internal/stage/flows"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/web"
)

// withField returns the JSON of a config with a field at a path such as "agents.0.prompt".
func withField(t *testing.T, config flow.Config, path string, value any) []byte {
	t.Helper()
	var tree any
	require.NoError(t, json.Unmarshal([]byte(body(t, config)), &tree))
	at := tree
	steps := strings.Split(path, ".")
	for _, step := range steps[:len(steps)-1] {
		switch inner := at.(type) {
		case map[string]any:
			if inner[step] == nil {
				inner[step] = map[string]any{}
			}
			at = inner[step]
		case []any:
			at = inner[0]
		}
	}
	object, ok := at.(map[string]any)
	require.True(t, ok, path)
	object[steps[len(steps)-1]] = value
	data, err := json.Marshal(tree)
	require.NoError(t, err)
	return data
}

// everyFlow is an engine of all flows, with a tool that changes something and one that does not.
func everyFlow(t *testing.T) *debate.Engine {
	t.Helper()
	engine := flows.Engine(&store.Memory{}, nil)
	engine.Tools = map[string]debate.Tool{
		"write": (&stage.Tally{}).Of(t, flow.ToolInfo{}), "read": (&stage.Tally{}).Of(t, flow.ToolInfo{ReadOnly: true}),
	}
	return engine
}

// TestStrictRefuses: in every flow, what goes beyond a topic, speakers, models and a budget, at its place. What may be is let through.
func TestStrictRefuses(t *testing.T) {
	engine := everyFlow(t)
	image := []any{map[string]any{"url": "https://internal/x.png", "name": "x.png"}}
	extra := map[string]any{"x": 1}
	tests := []struct {
		config flow.Config
		path   string
		value  any
		field  string // "": it is let through
	}{
		{flows.Debate("d"), "participants.0.persona", "A planner", ""},
		{flows.Debate("d"), "participants.0.metadata", map[string]any{"url": "x", "prompt": "y"}, ""},
		{flows.Debate("d"), "labels", map[string]any{"instructions": "x"}, ""},
		{flows.Debate("d"), "tools", []any{"read"}, ""},
		{flows.Debate("d"), "participants.0.instructions", "Obey.", "participants[0].instructions"},
		{flows.Debate("d"), "judging.judges.0.instructions", "Obey.", "judging.judges[0].instructions"},
		{flows.Debate("d"), "judging.instructions", "Obey.", "judging.instructions"},
		{flows.Debate("d"), "prompts", map[string]any{"fence": "x"}, "prompts"},
		{flows.Debate("d"), "customFormat", map[string]any{"name": "own", "phases": []any{}, "end": "rounds"}, "customFormat"},
		{flows.Debate("d"), "attachments", image, "attachments[0].url"},
		{flows.Debate("d"), "participants.0.options.extra", extra, "participants[0].options.extra"},
		{flows.Debate("d"), "participants.0.options.header", map[string]any{"X": "y"}, "participants[0].options.header"},
		{flows.Debate("d"), "participants.0.options.search", true, "participants[0].options.search"},
		{flows.Debate("d"), "participants.0.options.serviceTier", "priority", "participants[0].options.serviceTier"},
		{flows.Debate("d"), "tools", []any{"write"}, "tools[0]"},
		{flows.Debate("d"), "toolPolicy", map[string]any{"approval": "approve"}, "toolPolicy"},
		{flows.Debate("d"), "toolPolicy", map[string]any{"unknown": "again"}, "toolPolicy"},
		{flows.Deliberation("d"), "agents.0.prompt", "Obey.", "agents[0].prompt"},
		{flows.Deliberation("d"), "agents.0.promptFile", "/etc/passwd", "agents[0].promptFile"},
		{flows.Deliberation("d"), "judge.promptFile", "/etc/passwd", "judge.promptFile"},
		{flows.Deliberation("d"), "prompts", map[string]any{"fence": "x"}, "prompts"},
		{flows.Deliberation("d"), "documents", []any{map[string]any{"files": image}}, "documents[0].files[0].url"},
		{flows.Deliberation("d"), "judge.options.header", map[string]any{"X": "y"}, "judge.options.header"},
		{flows.Deliberation("d"), "tools", []any{"write"}, "tools[0]"},
		{flows.Arbitration("d"), "agents.0.prompt", "Obey.", "agents[0].prompt"},
		{flows.Arbitration("d"), "arbiter.prompt", "Obey.", "arbiter.prompt"},
		{flows.Arbitration("d"), "agents.0.tools", []any{"write"}, "tools[0]"},
		{flows.Arbitration("d"), "agents.0.options.extra", extra, "agents[0].options.extra"},
		{flows.Arbitration("d"), "prompts", map[string]any{"fence": "x"}, "prompts"},
	}
	strict, lenient := web.Strict(engine, web.Limits{}), web.Strict(engine, web.Limits{
		Prompts: true, URLs: true, Vendor: true, Tools: []string{"write"},
	})
	for _, tt := range tests {
		config, err := engine.DecodeConfig(withField(t, tt.config, tt.path, tt.value))
		require.NoError(t, err, tt.path)
		_, err = strict(nil, "", config)
		if tt.field == "" {
			assert.NoError(t, err, tt.path)
			continue
		}
		failure, ok := errors.AsType[*flow.Error](err)
		if assert.True(t, ok, "%s of %s is let through", tt.path, config.Flow()) {
			assert.Equal(t, tt.field, failure.Field)
			assert.NotEmpty(t, failure.Hint())
		}
		_, err = lenient(nil, "", config)
		always := strings.HasSuffix(tt.path, "promptFile") || tt.path == "toolPolicy"
		assert.Equal(t, always, err != nil, "%s: %v", tt.path, err)
	}
}

// TestStrictLowersBudgets: to the caps, with a soft limit beside each hard one that it adds. Rounds and participants are refused.
func TestStrictLowersBudgets(t *testing.T) {
	engine := everyFlow(t)
	limits := web.Limits{Cost: debate.USD, Tokens: 10_000, Calls: 50, Rounds: 3, Participants: 2}
	policy := web.Strict(engine, limits)
	caps := debate.Budget{Soft: debate.USD, Hard: debate.USD, SoftTokens: 10_000, HardTokens: 10_000, SoftCalls: 50, HardCalls: 50}
	warned := caps
	warned.Warn = 1
	for name, tt := range map[string]struct{ given, want *debate.Budget }{
		"none":      {nil, &caps},
		"no limits": {&debate.Budget{Warn: 1}, &warned},
		"too much": {
			&debate.Budget{Soft: 2 * debate.USD, Hard: 9 * debate.USD, HardTokens: 10, HardCalls: 60, SoftCalls: 40},
			&debate.Budget{Soft: debate.USD, Hard: debate.USD, HardTokens: 10, HardCalls: 50, SoftCalls: 40},
		},
		"less": {
			&debate.Budget{Hard: debate.USD / 2, HardTokens: 10, HardCalls: 9}, &debate.Budget{Hard: debate.USD / 2, HardTokens: 10, HardCalls: 9},
		},
	} {
		config := flows.Debate("d")
		config.Budget = tt.given
		admitted, err := policy(nil, "", config)
		require.NoError(t, err, name)
		assert.Equal(t, tt.want, admitted.Settings().Budget, name)
	}
	config := flows.Debate("d")
	config.Rounds = 4
	config.Participants = append(config.Participants, debate.Participant{Name: "Cyd", Model: "test/debater"})
	_, err := policy(nil, "", config)
	require.ErrorContains(t, err, "rounds")
	require.ErrorContains(t, err, "participants")
	config = flows.Debate("d")
	config.Rounds = 0
	_, err = policy(nil, "", config)
	require.ErrorContains(t, err, "rounds", "the default could be more")
}

// TestWhatPresetsSayMayBeSaid: their models, instructions and tools, and no others.
func TestWhatPresetsSayMayBeSaid(t *testing.T) {
	engine := everyFlow(t)
	preset := flows.Debate("")
	preset.Participants[0].Instructions, preset.Tools = "Be brief.", []string{"write"}
	policy := web.Strict(engine, web.Limits{}, web.Preset{Config: json.RawMessage(body(t, preset))})
	config := preset
	config.Topic = "Is chess a sport?"
	_, err := policy(nil, "", config)
	require.NoError(t, err)
	config.Participants = []debate.Participant{preset.Participants[0], preset.Participants[1]}
	config.Participants[0].Instructions = "Be brief. Obey."
	_, err = policy(nil, "", config)
	require.ErrorContains(t, err, "participants[0].instructions")
	config = preset
	config.Summarizer = "test/dear"
	_, err = policy(nil, "", config)
	require.ErrorContains(t, err, "test/dear")
	_, err = web.Strict(engine, web.Limits{})(nil, "", config)
	require.ErrorContains(t, err, "instructions")
}

// TestTheWordsOfAConversationStayInItsForks: those of the roles that the program has, too; no others come in.
func TestTheWordsOfAConversationStayInItsForks(t *testing.T) {
	engine := everyFlow(t)
	_, err := engine.Play(t.Context(), flows.Deliberation("plan"))
	require.NoError(t, err)
	c := handler(t, engine, web.Options{Authorize: anybody})
	c.post("conversations/plan/fork", `{"seq":2,"id":"again"}`, http.StatusCreated)
	p := problemOf(t, c.ask(http.MethodPost, "conversations/plan/fork", `{"seq":2,"config":{"judge":{"prompt":"Obey."}}}`))
	assert.Equal(t, []any{http.StatusUnprocessableEntity, "judge.prompt"}, []any{p.Status, p.Field})
	assert.NoError(t, engine.Shutdown(t.Context()))
}

// TestAToolPolicyStaysWithWhatItWasSaidFor: that of a preset with its tools, and that of a conversation with its words.
func TestAToolPolicyStaysWithWhatItWasSaidFor(t *testing.T) {
	engine := everyFlow(t)
	engine.Tools["deploy"] = (&stage.Tally{}).Of(t, flow.ToolInfo{})
	first, second := flows.Debate(""), flows.Debate("")
	first.Tools, first.ToolPolicy.Approval = []string{"write"}, flow.OptionApprove
	second.Tools = []string{"deploy"}
	policy := web.Strict(engine, web.Limits{},
		web.Preset{Config: json.RawMessage(body(t, first))}, web.Preset{Config: json.RawMessage(body(t, second))})
	for _, tools := range [][]string{nil, {"write"}, {"deploy"}, {"write", "deploy"}} {
		config := first
		config.Tools = tools
		_, err := policy(nil, "", config)
		if len(tools) == 0 || len(tools) == 1 && tools[0] == "write" {
			assert.NoError(t, err, tools)
		} else {
			assert.ErrorContains(t, err, "toolPolicy", tools)
		}
	}

	nightly := flows.Debate("nightly")
	nightly.ToolPolicy.Approval = flow.OptionApprove
	_, err := engine.Play(t.Context(), nightly)
	require.NoError(t, err)
	c := handler(t, engine, web.Options{Authorize: anybody})
	c.post("conversations/nightly/fork", `{"seq":2,"id":"again","config":{"budget":{"hardCalls":100}}}`, http.StatusCreated)
	p := problemOf(t, c.ask(http.MethodPost, "conversations/nightly/fork", `{"seq":2,"config":{"topic":"Deploy."}}`))
	assert.Equal(t, []any{http.StatusUnprocessableEntity, "toolPolicy"}, []any{p.Status, p.Field})
	log := strings.Replace(string(stage.Exported(t, engine, "nightly")), `"id":"nightly"`, `"id":"copy"`, 1)
	p = problemOf(t, handler(t, engine, web.Options{
		Authorize: anybody, Policy: web.Strict(engine, web.Limits{Imports: true}),
	}).ask(http.MethodPost, "import", log))
	assert.Equal(t, []any{http.StatusUnprocessableEntity, "toolPolicy"}, []any{p.Status, p.Field})
	assert.NoError(t, engine.Shutdown(t.Context()))
}

// TestWhatHasBegunIsNotChangedBeyondTheLimits: by an amendment, an answer that names a model, or a reopening.
func TestWhatHasBegunIsNotChangedBeyondTheLimits(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{
		Authorize: anybody, Start: engine.Submit, Policy: web.Strict(engine, web.Limits{
			Cost: debate.USD, Rounds: 4, Models: []string{"test/debater", "test/judge"},
		}),
	})
	for path, bodies := range map[string]map[string]string{
		"rests/amend": {
			`{"budget":{"hard":2}}`: "budget",
			`{"budget":{}}`:         "budget",
			`{"rounds":5}`:          "rounds",

			`{"models":{"Ada":{"model":"test/dear"}}}`: "models",
			`{"toolPolicy":{"approval":"approve"}}`:    "toolPolicy",
		},
		"asks/questions/" + question(t, engine): {`{"option":"model","model":"test/dear"}`: "models"},
		"done/reopen":                           {`{"rounds":2}`: "rounds", `{"rounds":1,"budget":{"hard":2}}`: "budget"},
	} {
		for sent, field := range bodies {
			p := problemOf(t, c.ask(http.MethodPost, "conversations/"+path, sent))
			assert.Equal(t, []any{http.StatusUnprocessableEntity, field}, []any{p.Status, p.Field}, sent)
		}
	}
	c.post("conversations/rests/amend", `{"rounds":4,"budget":{"soft":1,"hard":1}}`, http.StatusAccepted)
}

// TestLogsFromElsewhere: they are refused, unless the policy accepts them; then with all that was amended.
func TestLogsFromElsewhere(t *testing.T) {
	engine := world(t, nil)
	config := labelled("amended", nil)
	_, err := engine.Submit(t.Context(), config)
	require.NoError(t, err)
	require.NoError(t, engine.Control(t.Context(), "amended", flow.Pause{}))
	require.NoError(t, engine.Control(t.Context(), "amended", flow.Amendment{Rounds: new(9)}))
	plain, changed := string(stage.Exported(t, engine, "rests")), string(stage.Exported(t, engine, "amended"))
	away := func(l web.Limits) client {
		own := stage.Twin(engine)
		own.Store = &store.Memory{}
		return handler(t, own, web.Options{Authorize: anybody, Policy: web.Strict(own, l)})
	}
	p := problemOf(t, away(web.Limits{}).ask(http.MethodPost, "import", plain))
	assert.Equal(t, http.StatusUnprocessableEntity, p.Status)
	assert.Contains(t, p.Detail, "logs from elsewhere")
	trusting := away(web.Limits{Imports: true, Rounds: 5})
	trusting.post("import", plain, http.StatusCreated)
	p = problemOf(t, trusting.ask(http.MethodPost, "import", changed))
	assert.Equal(t, http.StatusUnprocessableEntity, p.Status)
	assert.Contains(t, p.Field, "rounds")
	assert.Equal(t, http.StatusUnprocessableEntity, away(web.Limits{Imports: true, Cost: 1}).ask(http.MethodPost, "import", plain).Code)
	sealed := string(stage.SnapshotOf(t, engine, "rests"))
	p = problemOf(t, trusting.ask(http.MethodPost, "import", sealed))
	assert.Equal(t, "events[0].body.seed", p.Field)
}

// TestAPolicySeesWhoAsks: and what it returns is started.
func TestAPolicySeesWhoAsks(t *testing.T) {
	engine := world(t, nil)
	c := handler(t, engine, web.Options{
		Authorize: anybody, Start: engine.Submit,
		Policy: func(_ *http.Request, who string, c flow.Config) (flow.Config, error) {
			config, err := flow.ConfigAs[debate.Config](c)
			if err != nil || who == "eve" {
				return nil, errors.Join(err, &flow.Error{Kind: "validation", Field: "topic", Err: errors.New("not for " + who)})
			}
			own := *config
			own.Rounds = 2
			return own, nil
		},
	})
	id, _ := c.as("pat").post("conversations", body(t, labelled("", nil)), http.StatusCreated)["id"].(string)
	assert.Equal(t, 2, stage.StoredRecord(t, engine, id).Settings().Rounds)
	p := problemOf(t, c.as("eve").ask(http.MethodPost, "conversations", body(t, labelled("", nil))))
	assert.Equal(t, "topic: not for eve", p.Detail)
	amends := c.as("pat").ask(http.MethodPost, "conversations/rests/amend", `{"rounds":2}`)
	assert.Equal(t, http.StatusUnprocessableEntity, amends.Code, "this policy takes no amendment")
}
