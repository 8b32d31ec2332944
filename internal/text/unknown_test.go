package text_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/internal/text"
)

func TestUnknownNamesAreToldWithTheKnownOnes(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("name-%02d", i)
	}
	twelve := "name-20, name-21, name-22, name-23, name-24, name-25, name-26, name-27, name-28, name-29"
	cases := map[string]struct {
		err        error
		says, mend string
	}{
		"some": {
			text.Unknown("side", "pro", "neutral", "for", "against"),
			`no side "pro" is known: there are against, for, neutral`, "use one of against, for, neutral",
		},
		"one":              {text.Unknown("vendor", "opnai", "openai"), `no vendor "opnai" is known: there is only openai`, "use openai"},
		"none":             {text.Unknown[string]("input", "note"), `no input "note" is known: there is none`, ""},
		"of no sort":       {text.Unknown("", "dice", "judge", "voting"), `"dice" is not known: there are judge, voting`, "use one of judge, voting"},
		"that may be left": {text.Unknown("side", "x", "", "for"), `no side "x" is known: there is only for; it may be left out`, "use for, or leave it out"},
		"twice":            {text.Unknown("vendor", "x", "a", "b", "a"), `no vendor "x" is known: there are a, b`, "use one of a, b"},
		"with blanks":      {text.Unknown("agent", "Eve", "Dr Ada", "Ben"), `no agent "Eve" is known: there are Ben, "Dr Ada"`, `use one of Ben, "Dr Ada"`},
		"a key":            {text.UnknownKey("ruonds", "rounds", "topic"), "is not a known key: there are rounds, topic", "use one of rounds, topic"},
		"another state":    {text.Absent("inquiry", "open", "a", "b"), `no inquiry "a" is open: there is only b`, "use b"},
		"registered": {
			text.Unregistered("tool", "Engine.Tools", "sing", "read"), `no tool "sing" is registered: there is only read`,
			`use read, or set Engine.Tools["sing"] before the engine is first used`,
		},
		"registered, but none": {
			text.Unregistered[string]("tool", "Engine.Tools", "sing"), `no tool "sing" is registered: there is none`,
			`set Engine.Tools["sing"] before the engine is first used`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			assert.EqualError(t, tc.err, tc.says)
			unknown, ok := errors.AsType[*text.UnknownNameError](tc.err)
			require.True(t, ok)
			assert.Equal(t, tc.mend, unknown.Mend())
		})
	}
	says := text.Unknown("name", "nane-2", many...).Error()
	assert.Contains(t, says, twelve)
	assert.True(t, strings.HasSuffix(says, " and 28 more"), says)
}

// TestTheKnownNamesAreThoseThatWereMeant: of many names those are listed that have what was written, or most of it, also where other
// names are as short as it is.
func TestTheKnownNamesAreThoseThatWereMeant(t *testing.T) {
	models := []string{"openai/gpt-5", "anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4", "google/gemini-2.5-pro"}
	for i := range 300 {
		models = append(models, fmt.Sprintf("aardvark/claude-%03d", i), fmt.Sprintf("xai/o%d", i))
	}
	flags := []string{"--problemDescription"}
	for each := range strings.FieldsSeq("agents budget color config context demo depth format help input judge json labels model output quiet rounds store theme topic") {
		flags = append(flags, "--"+each, "--no-"+each)
	}
	for written, known := range map[string][]string{"sonnet4": models, "gpt5x": models, "gemini": models, "--problem": flags, "--roudns": flags} {
		meant := map[string]string{
			"sonnet4": "anthropic/claude-sonnet-4, anthropic/claude-sonnet-4-5", "gpt5x": "openai/gpt-5", "gemini": "google/gemini-2.5-pro",
			"--problem": "--problemDescription", "--roudns": "--rounds",
		}[written]
		says := text.Unknown("", written, known...).Error()
		assert.Contains(t, says, meant, written)
		assert.Contains(t, says, fmt.Sprintf("and %d more", len(known)-12))
	}
}

// Names come from users and vendors: an error about one is a line of a bounded length, whatever the names are.
func TestUnknownNamesAreOneLine(t *testing.T) {
	longform.Lone(t)
	hostile := "\x1b[31mred\nERROR all is lost " + strings.Repeat("x", 10_000)
	known := make([]string, 10_000)
	for i := range known {
		known[i] = fmt.Sprintf("%s%d", hostile, i)
	}
	err := text.Absent("flow", "known to "+hostile, hostile, known...)
	for _, says := range []string{err.Error(), text.Unregistered("flow", "Engine.Flows", hostile, known[0]).Error()} {
		assert.NotContains(t, says, "\x1b")
		assert.NotContains(t, says, "\n")
		assert.Less(t, len(says), 2000)
	}
}

// An error that is shown twice finds the names that are most like the unknown one once.
func TestTheKnownNamesAreComparedOnce(t *testing.T) {
	known := make([]string, 1000)
	for i := range known {
		known[i] = fmt.Sprintf("%s%d", strings.Repeat("n", 70), i)
	}
	err := text.Unknown("name", "nane", known...)
	assert.Contains(t, err.Error(), "and 988 more")
	assert.Less(t, testing.AllocsPerRun(10, func() { _ = err.Error() }), 100.0)
}
