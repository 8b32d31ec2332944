package stage_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate"
	"github.com/agonist-dev/debate/examples/internal/stage"
	"github.com/agonist-dev/debate/provider/scripted"
)

func TestAModelIsFoundByItsKey(t *testing.T) {
	for _, test := range []struct {
		set  map[string]string
		want string
	}{
		{nil, "script/without-a-key"},
		{map[string]string{"OPENAI_API_KEY": "k"}, "openai/gpt-4.1-mini"},
		{map[string]string{"OPENROUTER_API_KEY": "k"}, "openrouter/openai/gpt-4.1-mini"},
		{map[string]string{"MISTRAL_API_KEY": "k"}, "mistral/mistral-small-latest"},
		{map[string]string{"MISTRAL_API_KEY": "k", "OPENAI_API_KEY": "k"}, "openai/gpt-4.1-mini"},
		{map[string]string{"OPENAI_BASE_URL": "http://localhost:1/v1"}, "local/gpt-4.1-mini"},
		{map[string]string{"OPENAI_BASE_URL": "http://localhost:1/v1", "OPENAI_MODEL": "llama:8b", "OPENAI_API_KEY": "k"}, "local/llama:8b"},
	} {
		script := debate.Provider(&scripted.Provider{})
		engine, model := stage.Choose(func(name string) string { return test.set[name] }, script)
		assert.Equal(t, test.want, model)
		host, _, _ := strings.Cut(model, "/")
		assert.Contains(t, engine.Providers, host)
		assert.Equal(t, test.set == nil, engine.Providers[host] == script, model)
	}
}

func TestNothingOfAModelControlsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	stage.Printer{Out: &out}.Speak("  ", "red \x1b[31malert\x07\u202e and\r\nmore"+strings.Repeat(" long", 20))
	assert.Equal(t, "  red [31malert and more"+strings.Repeat(" long", 11)+"\n  long"+strings.Repeat(" long", 8)+"\n", out.String())
}

func TestALineIsAtMostAsWideAsAScreen(t *testing.T) {
	for _, test := range []struct{ name, text, want string }{
		{"nothing", "", "  \n"},
		{"just fits", strings.Repeat("é", 38) + " " + strings.Repeat("é", 39), "  " + strings.Repeat("é", 38) + " " + strings.Repeat("é", 39) + "\n"},
		{"one too many", strings.Repeat("é", 39) + " " + strings.Repeat("é", 39), "  " + strings.Repeat("é", 39) + "\n  " + strings.Repeat("é", 39) + "\n"},
		{"a long word", "a " + strings.Repeat("b", 90) + " c", "  a\n  " + strings.Repeat("b", 90) + "\n  c\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out bytes.Buffer
			stage.Printer{Out: &out}.Speak("  ", test.text)
			assert.Equal(t, test.want, out.String())
		})
	}
}

func TestACleanTextIsOneLine(t *testing.T) {
	assert.Equal(t, "one two [2J three", stage.Clean("\tone\r\n\n two \x1b[2J\u2028th\u200bree\x00 "))
}

func TestAQuotationIsCut(t *testing.T) {
	var out bytes.Buffer
	stage.Printer{Out: &out}.Quote("| ", "one\n\n  two\x1b and more\nthree\nfour", 8, 3)
	assert.Equal(t, "| one\n|   two a…\n| three\n| …\n", out.String())
}

func TestALineIsWrappedWhole(t *testing.T) {
	for text, want := range map[string]string{
		"": "|\n", "abcd": "| abcd\n", "  a\x07b\tcd": "|   ab\n|  cd\n", "éééé…": "| éééé\n| …\n",
	} {
		var out bytes.Buffer
		stage.Printer{Out: &out}.Wrap("| ", text, 4)
		assert.Equal(t, want, out.String())
	}
}

func TestAScriptIsReadByCall(t *testing.T) {
	said := stage.Speeches("# r1.opening.1.Ada\nGood\n  evening.\n\n# r1.opening.2.Ben\nNo # comment.\n")
	assert.Equal(t, "Good evening.", said["r1.opening.1.Ada"])
	assert.Equal(t, "No # comment.", said["r1.opening.2.Ben"])
	assert.Empty(t, said["r2.closing.1.Ada"])
}
