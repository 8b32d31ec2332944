package openaicompat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
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
	h := providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := openaicompat.Compatible(s.URL+"/v1", s.Key)
			p.Client, p.IdleTimeout, p.MaxBody, p.MaxLine = s.Client, s.IdleTimeout, s.MaxBody, s.MaxLine
			return p
		},
		Wholes: wholes,
		Faults: providertest.Faults(t, "testdata/fault"),
	}
	providertest.RunHTTP(t, h)
	golden(t, "table.golden", h.Table())
}
