package agentfile_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/arbiter"
	"github.com/agonist-dev/debate/arbiter/agentfile"
	"github.com/agonist-dev/debate/provider"
)

func folder(files map[string]string) fstest.MapFS {
	out := make(fstest.MapFS)
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func TestAgentsAreReadFromAFolder(t *testing.T) {
	agents, err := agentfile.Load(folder(map[string]string{
		"b.md": "---\nname: Ben\nmodel: test/m\ntools: [read_file, run]\nfallbacks:\n  - test/n\nmaxIterations: 4\nmaxTokens: 900\n" +
			"temperature: 0.5\ndescription: >-\n  writes\n  code\noptions: {effort: high}\nmetadata: {team: red}\n---\n\nYou write.\n\n---\nStill the body.\n",
		"ada.md": "\ufeff---\r\nmodel: test/m\r\n---\r\nYou plan.\r\n", "notes.txt": "no agent", "old/c.md": "no agent either",
	}))
	require.NoError(t, err)
	half := 0.5
	assert.Equal(t, []arbiter.Agent{
		{Name: "ada", Model: "test/m", Prompt: "You plan."},
		{
			Name: "Ben", Description: "writes code", Model: "test/m", Fallbacks: []string{"test/n"}, Tools: []string{"read_file", "run"},
			MaxIterations: 4, MaxTokens: 900, Temperature: &half, Options: &provider.Options{Effort: provider.EffortHigh},
			Metadata: map[string]string{"team": "red"}, Prompt: "You write.\n\n---\nStill the body.",
		},
	}, agents)
}

func TestMistakesNameFileAndLine(t *testing.T) {
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"an unknown key":    {"---\nmodel: m/m\nmodell: x\n---\n", []string{"a.md:3:1", "modell"}},
		"two mistakes":      {"---\nmodel: 7\nname: a\nmaxTokens: many\n---\n", []string{"a.md:2", "a.md:4", "model", "maxTokens"}},
		"a key twice":       {"---\nmodel: m/m\nmodel: m/n\n---\n", []string{"a.md:3", "is a duplicate"}},
		"broken YAML":       {"---\nmodel: m/m\ntools: [a\n---\n", []string{"a.md:", "did not find"}},
		"no front matter":   {"You plan.", []string{"a.md:1", "front matter"}},
		"no end":            {"---\nmodel: m/m\n", []string{"a.md:1", "does not end"}},
		"a list":            {"---\n- a\n---\n", []string{"a.md:2", "keys to values"}},
		"a prompt":          {"---\nprompt: x\n---\n", []string{"a.md:2", "below the front matter"}},
		"an unknown option": {"---\noptions: {efort: high}\n---\n", []string{"a.md:2", "efort"}},
		"nested keys": {
			"---\noptions:\n  effort: high\n  efort: 1\n  search: {a: x}\n---\n",
			[]string{"a.md:4:3: options.efort: is not a known key", "a.md:5:3: options.search: is an object"},
		},
		"a nested value":         {"---\ntools:\n  - a\n  - 7\n---\n", []string{"a.md:4:5: tools[1]: is a number, not a text"}},
		"a nested key twice":     {"---\nmetadata:\n  a: x\n  a: y\n---\n", []string{"a.md:4:3: metadata.a: is a duplicate"}},
		"a key that is a number": {"---\nmetadata:\n  1: x\n---\n", []string{"a.md:3:3: metadata.1: is a key that is not a string"}},
		"a nested infinity":      {"---\noptions:\n  extra:\n    a: [1, .inf]\n---\n", []string{"a.md:4:12: options.extra.a[1]: cannot be written as JSON"}},
		"behind an alias":        {"---\nmetadata: &m\n  a: [1]\noptions: *m\n---\n", []string{"a.md:3:3: metadata.a: is a list", "a.md:3:3: options.a: is not a known key"}},
		"a number of YAML 1.1":   {"---\nmaxTokens: 010\n---\n", []string{"a.md:2:12: maxTokens: is another number in YAML 1.1"}},
		"a number with signs":    {"---\nmaxTokens: 4_096\n---\n", []string{"a.md:2:12: maxTokens: is another number in YAML 1.1"}},
		"an infinite number":     {"---\ntemperature: .inf\n---\n", []string{"a.md:2:14", "JSON"}},
		"aliases of aliases":     {"---\ntools: &a [x]\nfallbacks: [*a, *a]\n---\n", []string{"a.md:3"}},
		"no UTF-8":               {"---\nmodel: \xff\n---\n", []string{"UTF-8"}},
		"larger than allowed":    {"---\nmodel: m/m\n---\n" + strings.Repeat("x", 256<<10), []string{"larger"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := agentfile.Load(folder(map[string]string{"a.md": test.text}))
			for _, part := range test.want {
				require.ErrorContains(t, err, part)
			}
		})
	}
	_, err := agentfile.Load(folder(nil))
	require.ErrorContains(t, err, "no file *.md")
	_, err = agentfile.Load(folder(map[string]string{"a.md": "---\nname: x\n---\n", "b.md": "---\nname: x\n---\n"}))
	require.ErrorContains(t, err, "b.md:1")
	many := make(map[string]string)
	for i := range 101 {
		many[fmt.Sprintf("a%03d.md", i)] = "---\nmodel: m/m\n---\n"
	}
	_, err = agentfile.Load(folder(many))
	require.ErrorContains(t, err, "more than 100")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("---\nmodel: m/m\noptions: {effort: high}\n---\nBody"))
	f.Add([]byte("---\na: &a [*a]\n---\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		agent, err := agentfile.Parse("a.md", data)
		if err == nil {
			assert.NotEmpty(t, agent.Name)
		}
	})
}

// What is no file is not opened: a pipe without a writer would never be.
func TestAPipeIsNotOpened(t *testing.T) {
	t.Parallel()
	agents := folder(map[string]string{"pipe.md": "---\nname: pipe\ndescription: Waits.\n---\nWait."})
	agents["pipe.md"].Mode = fs.ModeNamedPipe
	_, err := agentfile.Load(agents)
	require.ErrorContains(t, err, "pipe.md: it is no file")
}
