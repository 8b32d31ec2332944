package openaicompat_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

func TestFaults(t *testing.T) {
	var wholes []providertest.Whole
	answers := fixtures(t, "answer/*.http")
	for _, name := range []string{
		"stream_openai", "stream_openrouter", "stream_deepseek", "stream_think_tags", "stream_tools", "stream_no_done", "stream_cr_only",
		"stream_crlf_bom_events", "stream_second_choice_ignored", "whole_json", "whole_json_tools",
	} {
		r, _, err := ask(t, played(answers[name]), request()) // its golden file holds what it says
		require.NoError(t, err)
		wholes = append(wholes, providertest.Whole{Name: name, Answer: answers[name], Text: r.Text})
	}
	wholes = append(wholes, providertest.Wholes(t, "testdata/whole")...)
	faults := providertest.Faults(t, "testdata/fault")
	for _, f := range faults {
		assert.NotEmpty(t, f.Source.Origin, "%s does not say where it is from", f.Name)
	}
	h := providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := preset(s.Vendor)(s.Key)
			p.BaseURL = s.URL + "/v1"
			p.Client, p.IdleTimeout, p.MaxBody, p.MaxLine = s.Client, s.IdleTimeout, s.MaxBody, s.MaxLine
			return p
		},
		Wholes: wholes,
		Faults: faults,
		Long:   longform.Asked(),
	}
	providertest.RunHTTP(t, h)
	golden(t, "table.golden", h.Table())
	golden(t, "evidence.golden", h.Evidence(t))
}
