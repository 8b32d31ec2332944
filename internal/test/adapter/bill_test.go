package adapter_test

import (
	"bufio"
	"bytes"
	"math"
	"net/http"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/openaicompat"
	"github.com/agonist-dev/debate/provider/providertest"
)

// recorded answers each request with one recorded answer.
type recorded []byte

// RoundTrip implements [http.RoundTripper].
func (r recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	return http.ReadResponse(bufio.NewReader(bytes.NewReader(r)), req)
}

// bill is what is known of a recorded answer that tells its cost.
type bill struct {
	model  string // as it is asked for, and as the table of models calls it
	reason string // why the table says something else; "": it says the same
}

// bills are the recorded answers that tell their cost, by the vendor and the name of the fixture.
func bills() map[string]bill {
	const gone = "the table has no row: the vendor has taken the model from its list"
	return map[string]bill{
		"openrouter/reasoning":               {model: "anthropic/claude-sonnet-4.5"},
		"openrouter/reasoning-anthropic":     {model: "anthropic/claude-haiku-4.5"},
		"openrouter/text":                    {model: "anthropic/claude-haiku-4.5"},
		"openrouter/tools-reasoning-details": {model: "anthropic/claude-haiku-4.5"},
		"openrouter/search": {
			model: "deepseek/deepseek-chat", reason: "the search is billed beside the tokens",
		},
		"xai/reasoning": {model: "grok-3-mini"},
		"xai/text":      {model: "grok-4-fast", reason: gone},
		"xai/tools":     {model: "grok-4-fast", reason: gone},
	}
}

// TestBillsOfRecordedAnswers compares what the table of models says of the usage with what the vendor itself has charged, in
// every recorded answer that tells it: within 1 %, or there is a reason.
func TestBillsOfRecordedAnswers(t *testing.T) {
	presets := map[string]func(string) *openaicompat.Provider{"openrouter": openaicompat.OpenRouter, "xai": openaicompat.XAI}
	known, agree, told := bills(), 0, 0
	const folder = "../../../provider/openaicompat/testdata/"
	search, err := os.ReadFile(folder + "search/openrouter.http")
	require.NoError(t, err)
	answers := map[string][]providertest.Whole{
		"openrouter": append(providertest.Wholes(t, folder+"whole/openrouter"), providertest.Whole{Name: "search", Answer: search}),
		"xai":        providertest.Wholes(t, folder+"whole/xai"),
	}
	for vendor, wholes := range answers {
		for _, w := range wholes {
			p := presets[vendor]("sk-0123456789abcdef0123")
			p.Client = &http.Client{Transport: recorded(w.Answer)}
			r, err := p.Generate(t.Context(), &provider.Request{Model: "m", Last: provider.Message{Text: "?"}}, func(provider.Chunk) {})
			require.NoError(t, err, w.Name)
			if r.Cost == nil {
				continue
			}
			name := vendor + "/" + w.Name
			b, listed := known[name]
			require.True(t, listed, "%s tells a cost of %g USD for %+v: say which model was asked", name, *r.Cost, r.Usage)
			delete(known, name)
			row, _ := flow.LookupModel(vendor, b.model)
			ours := float64(row.Cost(r.Usage)) / float64(flow.USD)
			told++
			if math.Abs(ours-*r.Cost) <= 0.01**r.Cost {
				agree++
				assert.Empty(t, b.reason, name)
				continue
			}
			assert.NotEmpty(t, b.reason, "%s: told %g USD, the table says %g", name, *r.Cost, ours)
			t.Logf("%s: told %g USD, the table says %g: %s", name, *r.Cost, ours, b.reason)
		}
	}
	assert.Empty(t, known, "these answers tell no cost")
	t.Logf("%d of %d bills agree within 1 %%; the others have a reason", agree, told)
}
