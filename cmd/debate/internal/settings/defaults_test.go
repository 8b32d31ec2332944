package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/cmd/debate/internal/demo"
	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/deliberation"
	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/format"
)

// usual reads defaults of this text.
func usual(t *testing.T, text string) (*settings.Defaults, error) {
	t.Helper()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "defaults.yaml"), []byte(text), 0o600))
	return settings.OpenDefaults(folder, "/pat")
}

// began returns the config that a wish and a config file of this text make; "": there is no file.
func began(t *testing.T, text string, w settings.Wish) flow.Config {
	t.Helper()
	path := ""
	if text != "" {
		path = filepath.Join(t.TempDir(), "c.yaml")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	source, err := settings.Open(path)
	require.NoError(t, err)
	w.Problem, w.Has = "Design a cache", func(vendor string) bool { return vendor == "openai" }
	loaded, err := source.Load(w)
	require.NoError(t, err)
	return loaded.Config
}

// A flag goes before a file, a file before the defaults, and these before what is built in.
func TestWhoSaysItFirst(t *testing.T) {
	t.Parallel()
	said, err := usual(t, "model: openai/usual\njudge: openai/usual-judge\nagents: [security, testing]\nrounds: 2\nbudget: 0.5\n")
	require.NoError(t, err)
	const file = "agents:\n- {id: a, model: openai/own}\n- {id: b, model: openai/own}\nrounds: 4\nbudget: {hard: 3}\n"
	five := 5
	for name, c := range map[string]struct {
		file         string
		wish         settings.Wish
		model, judge string
		agents       int
		rounds       int
		hard         float64
	}{
		"built in":           {"", settings.Wish{}, "openai/gpt-4.1-mini", "openai/gpt-4.1-mini", 3, 0, 0},
		"the defaults":       {"", settings.Wish{Usual: *said}, "openai/usual", "openai/usual-judge", 2, 2, 0.5},
		"a file":             {file, settings.Wish{Usual: *said}, "openai/own", "openai/usual-judge", 2, 4, 3},
		"a file alone":       {file, settings.Wish{}, "openai/own", "openai/own", 2, 4, 3},
		"a file of a budget": {"budget: {hard: 3}", settings.Wish{Usual: *said}, "openai/usual", "openai/usual-judge", 3, 0, 3},
		"flags": {
			file,
			settings.Wish{Usual: *said, Model: "openai/flag", Judge: "openai/flag-judge", Rounds: &five, Budget: "7"},
			"openai/flag", "openai/flag-judge", 2, 5, 7,
		},
		"flags without a file": {
			"",
			settings.Wish{Usual: *said, Agents: []string{"architect", "security", "testing", "simplicity"}, Rounds: &five},
			"openai/usual", "openai/usual-judge", 4, 5, 0.5,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := began(t, c.file, c.wish).(*deliberation.Config)
			assert.Equal(t, c.model, got.Agents[0].Model)
			assert.Equal(t, c.judge, got.Judge.Model)
			assert.Len(t, got.Agents, c.agents)
			assert.Equal(t, c.rounds, got.Rounds)
			if c.hard == 0 {
				assert.Nil(t, got.Budget)
				return
			}
			assert.Equal(t, flow.Money(c.hard*float64(flow.USD)), got.Budget.Hard)
		})
	}
}

// What the defaults say wrongly of a conversation is a mistake where they stand.
func TestDefaultsHavePlaces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"agents: [nobody]":                     `defaults.yaml:1:1: agents: no agent "nobody" is known: there are `,
		"rounds: 1\nmodel: mistral/small":      `defaults.yaml:2:1: model: mistral/small needs a key: set it`,
		"rounds: 1\n\njudge: mistral/small":    `defaults.yaml:3:1: judge: mistral/small needs a key: set it`,
		"budget: 0.000001\nmodel: openai/x":    `defaults.yaml:1:1: budget: `,
		"models: {openai/x: {}}\nbudget: 0.50": "has no known price, which a budget needs: --price openai/gpt-4.1-unknown=",
	} {
		said, err := usual(t, text)
		require.NoError(t, err)
		source, err := settings.Open("")
		require.NoError(t, err)
		w := settings.Wish{Problem: "x", Usual: *said, Has: func(vendor string) bool { return vendor == "openai" }}
		if strings.HasPrefix(text, "models") {
			w.Model = "openai/gpt-4.1-unknown"
		}
		loaded, err := source.Load(w)
		if loaded != nil {
			engine := &debate.Engine{SkipModelCheck: true, Flows: map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}}
			demo.Play(engine, "openai/x")
			engine.Models["openai/x"] = debate.Model{Window: 1_000_000, Priced: true, Output: debate.USD / 1000}
			err = loaded.Check(t.Context(), engine, nil, func(string) string { return "needs a key: set it" })
		}
		assert.ErrorContains(t, err, want, text)
	}
}

// A key that is not known hides no other mistake.
func TestAllMistakesOfDefaults(t *testing.T) {
	t.Parallel()
	_, err := usual(t, "modl: openai/x\nrounds: -1\njudge: x\n")
	assert.ErrorContains(t, err, "defaults.yaml:1:1: modl: is not a known key")
	assert.ErrorContains(t, err, "defaults.yaml:2:1: rounds: is at least 1")
	assert.ErrorContains(t, err, "defaults.yaml:3:1: judge: is no model")
	_, err = usual(t, "Models:\n  openai/x: {window: -1}\n") // encoding/json takes it for models
	assert.ErrorContains(t, err, "defaults.yaml:1:1: Models: is not a known key")
}

// Paths are relative to the file or to the user's folder, and rows add to what is built in.
func TestWhatDefaultsSay(t *testing.T) {
	t.Parallel()
	said, err := usual(t, "store: ~/kept/\nenvFile: [a.env, ~/b.env, /c.env]\nmodels:\n"+
		"  ollama/llama3: {window: 32768, maxOutput: 4096, input: 0, output: 0}\n  openai/gpt-4.1: {input: 1, output: 2.5}\n")
	require.NoError(t, err)
	assert.Equal(t, "/pat/kept/", filepath.ToSlash(said.Store))
	assert.Equal(t, []string{filepath.Join(filepath.Dir(said.File), "a.env"), filepath.FromSlash("/pat/b.env"), "/c.env"}, said.EnvFiles)
	assert.Equal(t, 32768, said.Models["ollama/llama3"].Window)
	assert.True(t, said.Models["ollama/llama3"].Priced)
	known, _ := flow.LookupModel("openai", "gpt-4.1")
	row := said.Models["openai/gpt-4.1"]
	assert.Equal(t, known.Window, row.Window)
	assert.Equal(t, flow.USD/1_000_000, row.Input)
	assert.Equal(t, flow.USD/400_000, row.Output)
	assert.Zero(t, row.CachedInput, "one price for all input")
	require.NoError(t, said.Models.Price("openai/gpt-4.1=$0.10/0"))
	require.NoError(t, said.Models.Window("ollama/llama3=8192"))
	assert.Equal(t, flow.USD/10_000_000, said.Models["openai/gpt-4.1"].Input)
	assert.Equal(t, 8192, said.Models["ollama/llama3"].Window)
	assert.Equal(t, 4096, said.Models["ollama/llama3"].MaxOutput)
	for _, wrong := range []string{"", "x", "x=1/2", "a/b", "a/b=1", "a/b=1/-2", "a/b=1/NaN", "a/b=/", "a/b=1/1e9"} {
		assert.Error(t, said.Models.Price(wrong), wrong)
	}
	for _, wrong := range []string{"", "x=1", "a/b", "a/b=", "a/b=0", "a/b=-1", "a/b=1.5"} {
		assert.Error(t, said.Models.Window(wrong), wrong)
	}

	nothing, err := settings.OpenDefaults(t.TempDir(), "")
	require.NoError(t, err)
	assert.Empty(t, nothing.File)
	nothing, err = settings.OpenDefaults("", "")
	require.NoError(t, err)
	assert.Empty(t, nothing.File)
}

// Variables are read as a shell would, and no mistake shows a value.
func TestVariables(t *testing.T) {
	t.Parallel()
	read := func(text string) (map[string]string, error) {
		path := filepath.Join(t.TempDir(), ".env")
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return settings.ReadVariables(path)
	}
	got, err := read("\ufeff# keys\r\nA=1\r\n\r\nexport B = two words # said\nC='$A # \\n'\nD=\"a\\\"b\\nc\" # d\nE=\nF=a=b#c\n  G=x  \nA=2")
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"A": "2", "B": "two words", "C": `$A # \n`, "D": "a\"b\nc", "E": "", "F": "a=b#c", "G": "x",
	}, got)
	for text, want := range map[string]string{
		"A=1\nsk-secret":     ".env:2:1: is not KEY=VALUE",
		"2A=secret":          ".env:1:1: is not KEY=VALUE",
		"A B=secret":         ".env:1:1: is not KEY=VALUE",
		"A='secret":          ".env:1:1: A: the quote ' is not closed",
		"A=\"secret\\\"":     ".env:1:1: A: the quote \" is not closed",
		"A='secret'secret":   ".env:1:1: A: has something behind its quotes",
		"A=secret\x00":       "is no text in UTF-8",
		"A=secret\xff\n\xfe": "is no text in UTF-8",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, want)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// Every format is played by the default cast.
func TestEveryFormatHasACast(t *testing.T) {
	t.Parallel()
	for _, f := range format.Builtin() {
		t.Run(f.Name, func(t *testing.T) {
			t.Parallel()
			source, err := settings.Open("")
			require.NoError(t, err)
			loaded, err := source.Load(settings.Wish{
				Flow: debate.FlowName, Format: f.Name, Problem: "Is it so?", Script: demo.Model,
				Has: func(vendor string) bool { return vendor == demo.Name },
			})
			require.NoError(t, err)
			engine := &debate.Engine{}
			demo.Play(engine)
			assert.NoError(t, loaded.Check(t.Context(), engine, nil, func(string) string { return "" }))
		})
	}
}

// What belongs to a problem stands where the flow has a place for it.
func TestMaterial(t *testing.T) {
	t.Parallel()
	wish := settings.Wish{
		Texts: []settings.Text{{Name: "docs/a.md", Text: "One.\n"}, {Name: "b.md", Text: "Two."}},
		Files: []flow.File{{Name: "dot.png", Data: []byte("\x89PNG\r\n\x1a\n")}},
	}
	const agents = "agents:\n- {id: a, model: openai/x}\n- {id: b, model: openai/x}\n"
	own := began(t, agents+"context: It is small.\n", wish).(*deliberation.Config)
	assert.Equal(t, "It is small.\n\n## docs/a.md\n\nOne.\n\n## b.md\n\nTwo.", own.Context)
	assert.Equal(t, wish.Files, own.Attachments)
	assert.Empty(t, own.Documents)

	work := began(t, "", settings.Wish{Flow: arbiter.FlowName, Texts: wish.Texts, Files: wish.Files}).(*arbiter.Config)
	assert.Equal(t, "Design a cache\n\n## docs/a.md\n\nOne.\n\n## b.md\n\nTwo.", work.Task)
	assert.Equal(t, wish.Files, work.Attachments)

	talk := began(t, "", settings.Wish{Flow: debate.FlowName, Texts: wish.Texts, Files: wish.Files}).(*debate.Config)
	assert.Equal(t, wish.Files, talk.Attachments)
	assert.Equal(t, []flow.Document{
		{Name: "docs/a.md", Files: []flow.File{{Name: "a.md", Data: []byte("One.\n")}}},
		{Name: "b.md", Files: []flow.File{{Name: "b.md", Data: []byte("Two.")}}},
	}, talk.Documents)
}

// An agent of the public program can have its system prompt in the file.
func TestSystemPrompts(t *testing.T) {
	t.Parallel()
	const file = `{"agents": [
	{"id": "a", "model": "x", "provider": "openai", "systemPrompt": "You think."},
	{"id": "b", "model": "x", "provider": "openai"}], "judge": {"model": "x", "provider": "openai", "systemPrompt": "You weigh."}}`
	loaded, err := load(t, "c.json", file)
	require.NoError(t, err)
	c := loaded.Config.(*deliberation.Config)
	assert.Equal(t, "You think.", c.Agents[0].Prompt)
	assert.Equal(t, "You weigh.", c.Judge.Prompt)
	_, err = load(t, "c.json", strings.Replace(file, `"systemPrompt": "You think."`, `"systemPromptPath": "p.md", "systemPrompt": "You think."`, 1))
	assert.ErrorContains(t, err, "c.json:2:78: agents[0].systemPrompt: stands beside systemPromptPath: remove one of them")
}

// What a parser says of usual slips is said in words.
func TestSlips(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"c.json", "{\"rounds\": 2,\n}", "c.json:2:1: is no JSON: there is a comma before this '}', and nothing behind the comma: remove it"},
		{"c.json", `{"agents": [1, ]}`, "c.json:1:16: is no JSON: there is a comma before this ']', and nothing behind the comma: remove it"},
		{"c.yaml", "judge:\n\tmodel: x\n", "c.yaml:2:2: is no YAML: the line is indented by a tab, and YAML takes blanks alone"},
		{"c.yaml", "problem: @home\n", "put quotes around the value"},
	} {
		_, err := load(t, c.name, c.text)
		assert.ErrorContains(t, err, c.want)
	}
}

// Two names that are too much alike are both named, with what is wrong with them.
func TestNamesThatAreAlike(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"agents": [{"id": "Ada", "model": "openai/x"}, {"id": "Ada", "model": "openai/x"}]}`:           `agents[1].id: "Ada" is taken by agents[0].id`,
		`{"agents": [{"id": "Ada", "model": "openai/x"}, {"id": "ada", "model": "openai/x"}]}`:           `"ada" can be confused with "Ada" of agents[0].id: `,
		`{"participants": [{"name": "Ben", "model": "openai/x"}, {"name": "ben", "model": "openai/x"}]}`: `"ben" can be confused with "Ben" of participants[0]: `,
	} {
		loaded, err := load(t, "c.json", text)
		require.NoError(t, err)
		engine := &debate.Engine{SkipModelCheck: true, Flows: map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}}
		demo.Play(engine, "openai/x")
		err = loaded.Check(t.Context(), engine, nil, func(string) string { return "" })
		assert.ErrorContains(t, err, want)
	}
}
