package debate

import (
	"strconv"
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

// SplitModel splits "provider/model" at the first slash.
func SplitModel(name string) (host, id string, ok bool) {
	host, id, ok = strings.Cut(name, "/")
	return host, id, ok && host != "" && id != ""
}

// ownTemperature reports whether its vendor refuses a temperature for a model: OpenAI does for all that
// reason, and Anthropic since Claude Opus 4.7. A router puts the maker before the name.
func ownTemperature(id string) bool {
	name := id[strings.LastIndexByte(id, '/')+1:]
	switch {
	case strings.HasPrefix(name, "gpt-5"):
		return !strings.Contains(name, "-chat")
	case strings.HasPrefix(name, "o1"), strings.HasPrefix(name, "o3"), strings.HasPrefix(name, "o4"):
		return true
	}
	claude, ok := strings.CutPrefix(name, "claude-")
	line, version, numbered := strings.Cut(claude, "-")
	if !ok || !numbered || line < "a" { // older names put the version first
		return false
	}
	first, rest, _ := strings.Cut(strings.ReplaceAll(version, ".", "-"), "-")
	second, _, _ := strings.Cut(rest, "-")
	major, err := strconv.Atoi(first)
	minor, _ := strconv.Atoi(second) // none, or a day: "20250514"
	return err == nil && (major > 4 && major < 100 || major == 4 && line == "opus" && minor >= 7 && minor < 100)
}

// LookupModel finds a model in the embedded table, by its vendor and its id there; false: it is not in the table.
func LookupModel(vendor, id string) (Model, bool) {
	row, ok := model.Lookup(vendor, id)
	if !ok { // a model that is newer than the table
		return Model{OwnTemperature: ownTemperature(id)}, false
	}
	return Model{
		Family: row.Family, Context: row.Context, MaxOutput: row.MaxOutput, Priced: row.Priced,
		Reasoning:      row.Reasoning,
		OwnTemperature: ownTemperature(id),
		Input:          Money(row.Input), Output: Money(row.Output),
		CachedInput: Money(row.CachedInput), CacheWrite: Money(row.CacheWrite),
		InputLong: Money(row.InputAbove200k), OutputLong: Money(row.OutputAbove200k),
	}, true
}
