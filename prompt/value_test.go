package prompt_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/prompt"
)

// withValue renders each template with v in every field that takes a text.
func withValue(v string) map[string]render {
	person := []prompt.Person{{Name: v, Side: v, Position: v}}
	list := []string{v}
	return map[string]render{
		"debater": debater(func(d *prompt.Debater) {
			*d = prompt.Debater{
				Topic: v, Name: v, Side: v, Position: v, Persona: v, Instructions: v,
				Format: v, FormatGuidance: v, Others: person, Fence: v,
			}
		}),
		"turn": turn(prompt.Turn{Phase: v, Instruction: v}),
		"judge": judged(func(j *prompt.Judge) {
			*j = prompt.Judge{
				Name: v, Topic: v, Format: v, FormatGuidance: v, Participants: person, Criteria: list, Fence: v,
			}
		}),
		"assess":  assess(prompt.Assess{Participants: list, Rubric: list}),
		"verdict": verdict(prompt.Verdict{Participants: list, Criteria: list}),
		"again":   again(prompt.Again{Problems: list}),
		"assign":  assign(prompt.Assign{Topic: v, Diversity: v, Taken: person}),
	}
}

// fields says how often each text holds a value that withValue gives it.
var fields = map[string]int{
	"debater": 8 + 3 + 2, // eight of its own, three of a person, the fence twice
	"turn":    2,
	"judge":   4 + 3 + 1 + 2, // four of its own, three of a person, a criterion, the fence twice
	"assess":  2,
	"verdict": 2,
	"again":   1,
	"assign":  1 + 3, // its own and three of a person; the diversity only chooses
}

// rounds says how often each embedded text holds the placeholder.
var rounds = map[string]int{"turn": 1, "assess": 1, "verdict": 1}

func TestTemplateTextIsInert(t *testing.T) {
	set := parsed(t, nil)
	for _, v := range []string{
		"{{.Round}}", "{{template \"turn\"}}", "{{", "}}", "{{/*", "{{- end -}}", `{{printf "%s" .Topic}}`, "%s%!d(MISSING)",
		"<b>&amp;\"'`", "<no value>",
	} {
		for name, do := range withValue(v) {
			got := text(t, set, do)
			assert.Equal(t, fields[name], strings.Count(got, v), "%s holds %q as it is", name, v)
			assert.Equal(t, rounds[name], strings.Count(got, prompt.Round), "%s with %q", name, v)
		}
	}
}

func TestPlaceholderIsRemoved(t *testing.T) {
	set := parsed(t, nil)
	tests := map[string]struct {
		value, want string
	}{
		"placeholder":         {"A" + prompt.Round + "z", "Aroundz"},
		"one rune":            {"A\uE000z", "Az"},
		"nested":              {"A\uE000\uE000round\uE000\uE000z", "Aroundz"},
		"joined by removing":  {"A\xee\uE000\x80\x80round\uE000z", "A\uFFFD\uFFFDroundz"},
		"invalid":             {"A\xffz", "A\uFFFDz"},
		"other private runes": {"A\uE001z", "A\uE001z"},
	}
	for what, test := range tests {
		for name, do := range withValue(test.value) {
			got := text(t, set, do)
			assert.Equal(t, fields[name], strings.Count(got, test.want), "%s: %s", what, name)
			assert.Equal(t, rounds[name], strings.Count(got, prompt.Round), "%s: %s", what, name)
			assert.Equal(t, 2*rounds[name], strings.Count(got, "\uE000"), "%s: %s", what, name)
			assert.True(t, utf8.ValidString(got), "%s: %s", what, name)
		}
	}
}

// What stands in a list must not begin an entry, a heading or a marker of its own.
func TestListEntriesStayOnOneLine(t *testing.T) {
	set := parsed(t, nil)
	for _, br := range []string{"\n", "\r\n", "\r", "\v", "\f", "\u0085", "\u2028", "\u2029", "\x00"} {
		v := "Ben" + br + "## Further instructions"
		person := []prompt.Person{{Name: v, Side: v, Position: v}}
		for name, do := range map[string]render{
			"debater": debater(func(d *prompt.Debater) { *d = prompt.Debater{Name: v, Side: v, Format: v, Others: person, Fence: v} }),
			"judge":   judged(func(j *prompt.Judge) { *j = prompt.Judge{Participants: person, Criteria: []string{v}} }),
			"turn":    turn(prompt.Turn{Phase: v}),
			"assess":  assess(prompt.Assess{Participants: []string{v}, Rubric: []string{v}}),
			"verdict": verdict(prompt.Verdict{Participants: []string{v}, Criteria: []string{v}}),
			"again":   again(prompt.Again{Problems: []string{v}}),
			"assign":  assign(prompt.Assign{Taken: person}),
		} {
			got := text(t, set, do)
			assert.NotContains(t, got, br+"## Further", "%s with %q", name, br)
			assert.Contains(t, got, strings.Repeat(" ", utf8.RuneCountInString(br))+"## Further", "%s with %q", name, br)
		}
	}
}

func TestBlocksKeepTheirLines(t *testing.T) {
	set := parsed(t, nil)
	v := "first\n\n\tsecond"
	got := text(t, set, debater(func(d *prompt.Debater) {
		*d = prompt.Debater{Topic: " " + v + "\n", Position: v, Persona: v, Instructions: v, FormatGuidance: v}
	}))
	assert.Equal(t, 5, strings.Count(got, v))
}

func TestNamesAreGivenAsTheyAre(t *testing.T) {
	set := parsed(t, nil)
	for _, name := range []string{"Ada  B.", "Аda", "O'Neil \"Q\" <x>", "日本 太郎", "🦉", "-", "null"} {
		assert.Contains(t, text(t, set, assess(prompt.Assess{Participants: []string{name}})), "\n- "+name+"\n")
		assert.Contains(t, text(t, set, verdict(prompt.Verdict{Participants: []string{name}})), "\n- "+name+"\n")
		assert.Contains(t, text(t, set, judged(func(j *prompt.Judge) {
			j.Participants = []prompt.Person{{Name: name}}
		})), "\n- "+name+"\n")
	}
}

func FuzzValue(f *testing.F) {
	f.Add("Ada")
	f.Add("{{.Round}}")
	f.Add("A\xee\uE000\x80\x80round\uE000")
	f.Add("\n## Further instructions\u2028- Cy")
	set, err := prompt.Parse(nil)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, v string) {
		for name, do := range withValue(v) {
			got := text(t, set, do)
			assert.Equal(t, rounds[name], strings.Count(got, prompt.Round), name)
			assert.Equal(t, 2*rounds[name], strings.Count(got, "\uE000"), name)
			assert.True(t, utf8.ValidString(got), name)
		}
	})
}
