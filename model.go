package debate

import (
	"strings"

	"github.com/agonist-dev/debate/internal/model"
)

// Model holds the prices and sizes of a model. Prices are per token; they are frozen when a debate
// starts. The embedded table knows the common models; Engine.Models replaces or adds rows.
type Model struct {
	Family    string `json:"family,omitempty"`    // models of one family judge each other kindly
	Context   int    `json:"context,omitempty"`   // the window, in tokens; 0: unknown
	MaxOutput int    `json:"maxOutput,omitempty"` // most output tokens of a reply; 0: unknown
	// OwnTemperature: the model takes no temperature but its own, so that none is sent to it.
	OwnTemperature bool `json:"ownTemperature,omitempty"`
	// Reasoning: the model thinks before it answers, and its thoughts count as output.
	Reasoning bool `json:"reasoning,omitempty"`
	// Priced tells a known price, which may be zero, from an unknown one.
	Priced bool  `json:"priced,omitempty"`
	Input  Money `json:"input,omitempty"`
	Output Money `json:"output,omitempty"`
	// CachedInput and CacheWrite are the prices of input that a vendor's cache held or took; 0: as Input.
	CachedInput Money `json:"cachedInput,omitempty"`
	CacheWrite  Money `json:"cacheWrite,omitempty"`
	// Thinking is the price of an output token spent on reasoning; 0: as Output.
	Thinking Money `json:"thinking,omitempty"`
	// InputLong and OutputLong are the prices of a request of more than 200,000 input tokens; 0: the same.
	InputLong  Money `json:"inputLong,omitempty"`
	OutputLong Money `json:"outputLong,omitempty"`
}

// longInput is the size, in tokens, from which some vendors charge more for the whole request.
const longInput = 200_000

// Cost is what a request of this usage costs.
func (m Model) Cost(u Usage) Money {
	input, output := m.Input, m.Output
	if u.Input > longInput {
		input, output = max(input, m.InputLong), max(output, m.OutputLong)
	}
	plain := max(0, u.Input-u.CachedInput-u.CacheWrite)
	return input.times(plain).
		plus(orElse(m.CachedInput, input).times(u.CachedInput)).
		plus(orElse(m.CacheWrite, input).times(u.CacheWrite)).
		plus(output.times(max(0, u.Output-u.Reasoning))).
		plus(orElse(m.Thinking, output).times(min(u.Reasoning, u.Output)))
}

// orElse yields a price, or the one that stands for it if it is not given.
func orElse(price, otherwise Money) Money {
	if price == 0 {
		return otherwise
	}
	return price
}

// Bound is the most that a request can cost: so many input tokens at the dearest rate, and as many
// output tokens as are allowed.
func (m Model) Bound(input, output int) Money {
	dearest, out := max(m.Input, m.CachedInput, m.CacheWrite), max(m.Output, m.Thinking)
	if input > longInput {
		dearest, out = max(dearest, m.InputLong), max(out, m.OutputLong)
	}
	return dearest.times(input).plus(out.times(output))
}

// divide splits "provider/model" at the first slash.
func divide(name string) (host, id string, ok bool) {
	host, id, ok = strings.Cut(name, "/")
	return host, id, ok && host != "" && id != ""
}

// ownTemperature reports whether OpenAI refuses a temperature for the model, as it does for all that reason.
func ownTemperature(id string) bool {
	id = strings.TrimPrefix(id, "openai/")
	for _, prefix := range []string{"gpt-5", "o1", "o3", "o4"} {
		if strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}

// tableModel finds a model in the embedded table.
func tableModel(vendor, id string) (Model, bool) {
	row, ok := model.Lookup(vendor, id)
	if !ok {
		return Model{}, false
	}
	return Model{
		Family: row.Family, Context: row.Context, MaxOutput: row.MaxOutput, Priced: row.Priced,
		Reasoning:      row.Reasoning,
		OwnTemperature: row.Family == "openai" && row.Reasoning && ownTemperature(id),
		Input:          Money(row.Input), Output: Money(row.Output),
		CachedInput: Money(row.CachedInput), CacheWrite: Money(row.CacheWrite),
		InputLong: Money(row.InputAbove200k), OutputLong: Money(row.OutputAbove200k),
	}, true
}
