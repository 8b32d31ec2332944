package settings_test

import (
	"errors"
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
	"github.com/agonist-dev/debate/internal/longform"
)

// load reads a config file of this name and text, and returns what it would start.
func load(t testing.TB, name, text string) (*settings.Settings, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	source, err := settings.Open(path)
	if err != nil {
		return nil, err
	}
	return source.Load(settings.Wish{Problem: "Design a cache", Has: func(vendor string) bool { return vendor == "openai" }})
}

// places returns where the mistakes of an error stand, as "line:column path".
func places(err error) (all []string) {
	for line := range strings.Lines(settings.Sorted(err).Error()) {
		_, line, _ = strings.Cut(strings.TrimSpace(line), ".json:")
		all = append(all, line)
	}
	return all
}

// A surrogate pair is one character in JSON, and the two syntaxes give the same config.
func TestJSONIsReadAsJSON(t *testing.T) {
	t.Parallel()
	const agents = `"agents": [{"id": "a\ud83d\ude00", "model": "openai/x", "temperature": 1e-1}, {"id": "b\/c\t", "model": "openai/x"}]`
	fromJSON, err := load(t, "c.json", "\ufeff{"+agents+"}")
	require.NoError(t, err)
	c := fromJSON.Config.(*deliberation.Config)
	assert.Equal(t, "a😀", c.Agents[0].ID)
	assert.InDelta(t, 0.1, *c.Agents[0].Temperature, 1e-12)
	assert.Equal(t, "b/c\t", c.Agents[1].ID)
	assert.Equal(t, "Design a cache", c.Problem)

	fromYAML, err := load(t, "c.yaml", "agents:\n- {id: a😀, model: &m openai/x, temperature: .1}\n- id: \"b/c\\t\"\n  model: *m\n")
	require.NoError(t, err)
	assert.Equal(t, fromJSON.Config, fromYAML.Config)

	for _, half := range []string{`\ud83d`, `\ude00`, `\ud83dx`, `\ude00\ud83d`, `\ud83d\ud83d\ude00`, `\ud83d\\ude00`} {
		_, err := load(t, "c.json", `{"context": "`+half+`"}`)
		assert.ErrorContains(t, err, "half of a surrogate pair", half)
	}
	for _, whole := range []string{`\\ud83d`, `\ud83d\ude00\ud83d\ude00`, `\u00e9`} {
		_, err := load(t, "c.json", `{"context": "`+whole+`"}`)
		assert.NoError(t, err, whole)
	}
}

// The keys that only one flow has say which flow a file is of.
func TestAFlowIsKnownByItsKeys(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		`{}`:                        &deliberation.Config{},
		`{"participants": []}`:      &debate.Config{},
		`{"topic": "x"}`:            &debate.Config{},
		`{"arbiter": {}}`:           &arbiter.Config{},
		`{"task": "x"}`:             &arbiter.Config{},
		`{"flow": "arbiter"}`:       &arbiter.Config{},
		`{"flow": "debate"}`:        &debate.Config{},
		`{"debate": {"rounds": 2}}`: &deliberation.Config{},
	} {
		loaded, err := load(t, "c.json", text)
		require.NoError(t, err, text)
		assert.IsType(t, want, loaded.Config, text)
	}
}

// A mistake hides no other, follows from no other, and is said once.
func TestMistakesHideNothing(t *testing.T) {
	t.Parallel()
	loaded, err := load(t, "c.json", `{"agents": [
	{"id": 1, "model": "openai/x"},
	{"id": "b", "model": 2, "foo": {}},
	{"id": "c", "model": "openai/x", "temperature": 9}], "rounds": "two", "rounds": 2, "judge": 5}`)
	require.Error(t, err)
	require.NotNil(t, loaded)
	engine := &debate.Engine{SkipModelCheck: true, Flows: map[string]*debate.Flow{deliberation.FlowName: deliberation.Flow()}}
	demo.Play(engine, "openai/x")
	err = errors.Join(err, loaded.Check(t.Context(), engine, nil, func(string) string { return "" }))
	assert.Equal(t, []string{
		"2:3: agents[0].id: is a number, not a text",
		"3:14: agents[1].model: is a number, not a text",
		"3:26: agents[1].foo: is not a known key: there are fallbacks, id, maxTokens, model, name, options, origin, overdue, person, prompt, role, tools and 7 more",
		"4:35: agents[2].temperature: is not between 0 and 2",
		"4:55: rounds: is a text, not a number",
		"4:72: rounds: is a duplicate: first in line 4",
		"4:85: judge: is a number, not an object",
	}, places(err))
	assert.False(t, settings.OfFlags(err))
}

// A file of a document is given by a path beside the config. Each mistake about files says so, and none follows from another one.
func TestDocumentsAreGivenByTheirPaths(t *testing.T) {
	t.Parallel()
	const given = "; a file is given as documents: [{files: [{path: report.txt}]}], or by --file report.txt"
	for files, want := range map[string]string{
		`[{"name": "Report", "files": [{"path": "report.txt"}]}]`:           "",
		`[{"name": "Report", "files": ["report.txt"]}]`:                     "documents[0].files[0]: is a text, not an object" + given,
		`[{"name": "Report", "files": [{"name": "report.txt"}]}]`:           "documents[0].files[0]: has no path" + given,
		`[{"name": "Report", "files": [{"url": "https://x.test/report"}]}]`: "documents[0].files[0]: has no path" + given,
		`[{"name": "Report", "files": [{"path": "gone.txt"}]}]`:             "gone.txt ",
		`[]`: "quotes: checks quotations from text documents, and there are none" + given,
	} {
		folder := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(folder, "report.txt"), []byte("It rained in May."), 0o600))
		path := filepath.Join(folder, "c.json")
		require.NoError(t, os.WriteFile(path, []byte(`{"topic": "x", "quotes": true, "format": "round-limited", "rounds": 1, "participants": [
			{"name": "Ada", "side": "for", "model": "demo/script"}, {"name": "Ben", "side": "against", "model": "demo/script"}], "documents": `+files+`}`), 0o600))
		source, err := settings.Open(path)
		require.NoError(t, err)
		loaded, err := source.Load(settings.Wish{Has: func(string) bool { return false }})
		if loaded != nil {
			engine := &debate.Engine{}
			demo.Play(engine)
			err = errors.Join(err, loaded.Check(t.Context(), engine, nil, func(string) string { return "" }))
		}
		if want == "" {
			require.NoError(t, err)
			file := loaded.Config.(*debate.Config).Documents[0].Files[0]
			assert.Equal(t, []string{"report.txt", "It rained in May."}, []string{file.Name, string(file.Data)})
			continue
		}
		require.Error(t, err, files)
		said := settings.Sorted(err).Error()
		assert.Contains(t, said, want)
		assert.Equal(t, 1, strings.Count(said, "\n")+1, said)
	}
}

// Numbers are those of YAML 1.2. What only YAML 1.1 takes for a number, or for another one, is a mistake with its place.
func TestNumbersOfYAML(t *testing.T) {
	t.Parallel()
	const agents = "agents:\n- {id: a, model: openai/x}\n- {id: b, model: openai/x}\n"
	for written, want := range map[string]int{
		"10": 10, "010": 10, "0010": 10, "+7": 7, "0o12": 10, "0xA": 10, "0x0f": 15, "09": 9, "!!int 012": 12, "!!int \"8\"": 8,
	} {
		loaded, err := load(t, "c.yaml", agents+"maxTokens: "+written+"\n")
		require.NoError(t, err, written)
		assert.Equal(t, want, loaded.Config.(*deliberation.Config).MaxTokens, written)
	}
	for written, want := range map[string]float64{"0.5": 0.5, "00.5": 0.5, ".5": 0.5, "1.": 1, "5e-1": 0.5, "+0.25": 0.25, "1E0": 1} {
		loaded, err := load(t, "c.yaml", "agents:\n- {id: a, model: openai/x, temperature: "+written+"}\n- {id: b, model: openai/x}\n")
		require.NoError(t, err, written)
		assert.InDelta(t, want, *loaded.Config.(*deliberation.Config).Agents[0].Temperature, 1e-12, written)
	}
	for _, written := range []string{"1_000", "0b11", "-0x10", "0_7", "1_0.5"} {
		_, err := load(t, "c.yaml", agents+"maxTokens: "+written+"\n")
		require.Error(t, err, written)
		assert.Contains(t, settings.Sorted(err).Error(), "c.yaml:4:1: maxTokens: is the number", written)
	}
	for _, written := range []string{".inf", "-.INF", ".nan"} {
		_, err := load(t, "c.yaml", agents+"maxTokens: "+written+"\n")
		assert.ErrorContains(t, err, "is no number that JSON can say", written)
	}
}

// A hostile file ends in an error, soon.
func TestHostileFilesAreBounded(t *testing.T) {
	longform.Lone(t)
	t.Parallel()
	bomb := "a0: &a0 [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]\n"
	for _, c := range "bcdefghij" {
		before := string(c - 1)
		bomb += string(c) + "0: &" + string(c) + "0 [" + strings.Repeat("*"+before+"0, ", 9) + "*" + before + "0]\n"
	}
	merges := "a: &a {x: 1}\n" + strings.Repeat("b: {<<: *a}\n", 1000)
	for name, c := range map[string]struct{ file, text, want string }{
		"deep JSON":        {"c.json", strings.Repeat("[", 1<<20), "is no JSON"},
		"deep objects":     {"c.json", strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000), "lies more than 64 levels deep"},
		"deep YAML":        {"c.yaml", "a: " + strings.Repeat("[", 1<<16), "c.yaml"},
		"deep flow":        {"c.yaml", "a: " + strings.Repeat("[", 3000) + strings.Repeat("]", 3000), "lies more than 64 levels deep"},
		"many values":      {"c.json", `{"a": [` + strings.Repeat("1,", 200_000) + "1]}", "is too much"},
		"one long line":    {"c.json", "{\n" + strings.Repeat(`"aaaaaaaaaaaa": 1,`, 99_000) + `"b": 1}`, "c.json:2:19: aaaaaaaaaaaa"},
		"many keys":        {"c.yaml", strings.Repeat("k: v\n", longform.Sized(150_000, 150_000, 30_000)), "c.yaml"},
		"alias bomb":       {"c.yaml", bomb, "is too much"},
		"own anchor":       {"c.yaml", "a: &a {b: *a}", "levels deep"},
		"own merge":        {"c.yaml", "a: &a {<<: *a}", "levels deep"},
		"many merges":      {"c.yaml", merges, "is a duplicate"},
		"too large":        {"c.yaml", strings.Repeat("#", 4<<20+1), "is larger than 4 MiB"},
		"binary":           {"c.json", "\x7fELF\x01\x02", "c.json:1:1: there is a control character, U+007F"},
		"half a letter":    {"c.yaml", "rounds: 2\nproblem: \xe6\xbc", "c.yaml:2:10: is no text in UTF-8"},
		"UTF-16":           {"c.json", "\xff\xfe{\x00", "c.json:1:1: is no text in UTF-8"},
		"key of objects":   {"c.yaml", "? {a: b}\n: c", "has a key that is no text"},
		"infinity":         {"c.yaml", "temperature: .inf", "c.yaml:1:1: temperature: is no number that JSON can say"},
		"tag":              {"c.yaml", "temperature: !!binary aGk=", "has the tag !!binary"},
		"tag of a list":    {"c.yaml", "agents: !!set [a]", "has the tag !!set"},
		"tag of a mapping": {"c.yaml", "judge: !hot {model: a/b}", "c.yaml:1:1: judge: has the tag !hot"},
		"own tag":          {"c.yaml", "temperature: !hot 3", "has the tag !hot"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, c.file, c.text)
			require.Error(t, err)
			assert.Contains(t, settings.Sorted(err).Error(), c.want)
			assert.Less(t, len(err.Error()), 20_000)
		})
	}
}

// FuzzLoad lets any bytes be a config file: they make a config, or an error whose mistakes have a place.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		`{"agents": [{"id": "a", "model": "openai/x"}], "rounds": 2}`, `{"agents": [{"provider": "x", "tools": [{}]}], "debate": {}}`,
		`{"debate": {"summarization": {"enabled": false}, "timeoutPerRound": 5, "terminationCondition": 3}, "judge": {"role": []}}`,
		"agents:\n- &a {id: x, <<: {role: y}}\n- *a\n", "flow: arbiter\nagents: [1]\narbiter: 2", "participants: {}", "a: *b", `{"a": "\ud800"}`,
		"x: [", "? [a]\n: b", "--- 1\n--- 2", "\ufeff{}", "documents: [{files: [{path: 3}]}]",
	} {
		f.Add([]byte(text), true)
		f.Add([]byte(text), false)
	}
	f.Fuzz(func(t *testing.T, data []byte, asJSON bool) {
		name := "c.yaml"
		if asJSON {
			name = "c.json"
		}
		loaded, err := load(t, name, string(data))
		if err == nil {
			require.NotNil(t, loaded.Config)
			return
		}
		for line := range strings.Lines(settings.Sorted(err).Error()) {
			assert.NotEmpty(t, strings.TrimSpace(line))
		}
		var mistake *settings.Error
		require.ErrorAs(t, err, &mistake)
	})
}
