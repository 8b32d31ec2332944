package prompt_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/prompt"
)

type interview struct{ Who string }

// TestTemplatesOfFlows are parsed, tried and replaced as those of this package.
func TestTemplatesOfFlows(t *testing.T) {
	ask := map[string]prompt.Template{"interview.ask": {Text: "Ask {{.Who}}.", Samples: []any{interview{}, interview{"Ada"}}}}
	set, err := prompt.Parse(nil, ask, nil, ask)
	require.NoError(t, err)
	text, err := set.Render("interview.ask", interview{"Ben"})
	require.NoError(t, err)
	assert.Equal(t, "Ask Ben.", text)
	assert.Contains(t, set.Names(), "interview.ask")

	set, err = prompt.Parse(map[string]string{"interview.ask": "{{.Who}}, please"}, ask)
	require.NoError(t, err)
	text, err = set.Render("interview.ask", interview{"Ben"})
	require.NoError(t, err)
	assert.Equal(t, "Ben, please", text)
	_, err = set.Render("interview.answer", interview{})
	require.ErrorContains(t, err, `"interview.answer"`)

	for want, test := range map[string]struct {
		overrides map[string]string
		own       prompt.Template
	}{
		`"interview.ask": two templates have this name`: {nil, prompt.Template{Text: "Other.", Samples: []any{interview{}}}},
		`"interview.ask": has no sample`:                {nil, prompt.Template{Text: "Ask {{.Who}}."}},
		"Colour":                                        {map[string]string{"interview.ask": "{{.Colour}}"}, ask["interview.ask"]},
	} {
		_, err = prompt.Parse(test.overrides, ask, map[string]prompt.Template{"interview.ask": test.own})
		require.ErrorContains(t, err, want)
	}
	text, _ = prompt.Default("judge")
	shared := map[string]prompt.Template{"judge": {Text: text, Samples: []any{prompt.Judge{}}}}
	_, err = prompt.Parse(map[string]string{"judge": "You judge."}, shared)
	require.ErrorContains(t, err, "never explains the markers", "who shares a template changes nothing in what it has to show")
	_, err = prompt.Parse(nil, map[string]prompt.Template{"judge": {Text: "You judge.", Samples: []any{interview{}}}})
	require.ErrorContains(t, err, `"judge": two templates have this name`)
}
