// Package model holds what is known of models: their windows, prices and abilities.
package model

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// Row describes one model. Prices are in pico-USD (10⁻¹² USD) per token, so that every price of the table
// is a whole number: 1 USD per million tokens is 1,000,000. If Priced is set, a price of 0 means that it
// costs nothing.
type Row struct {
	Provider string // the name of the vendor or the router: "openai", "openrouter"
	Name     string // as the provider calls the model; may contain slashes
	Family   string // who made it; judges of one family have similar taste

	Context   int // tokens of input and output together
	MaxOutput int // cap on output tokens; 0: unknown

	Priced          bool  // Input and Output are known; if not, all prices are 0 and mean nothing
	Input           int64 // per token of input
	Output          int64 // per token of output, reasoning included
	CachedInput     int64 // per token of input read from the cache: Input if the table has no price for it
	CacheWrite      int64 // per token of input written to the cache: Input if the table has no price for it
	InputAbove200k  int64 // per token of input in a request beyond 200,000: Input if there is no such step
	OutputAbove200k int64 // per token of output in such a request: Output if there is no such step

	JSONSchema bool // supports replies that match a JSON Schema
	Tools      bool // supports tool calls
	Reasoning  bool // thinks before it replies
}

// DearestInput returns the highest price of a token of input, however long the request is and whatever
// the cache does. For a request beyond 200,000 tokens the table lists no surcharge for the cache, so the
// usual one is scaled up.
func (r Row) DearestInput() int64 {
	dearest := max(r.Input, r.CachedInput, r.CacheWrite, r.InputAbove200k)
	if r.Input > 0 && r.CacheWrite > r.Input && r.InputAbove200k > r.Input {
		scaled := (r.CacheWrite*r.InputAbove200k + r.Input - 1) / r.Input
		dearest = max(dearest, scaled)
	}
	return dearest
}

// Table finds models by provider and name. It is immutable and safe for concurrent use.
type Table struct {
	asOf string
	rows map[key]Row
}

type key struct{ provider, name string }

// AsOf returns the date of the table's facts, as year-month-day.
func (t *Table) AsOf() string { return t.asOf }

// Len returns the number of models.
func (t *Table) Len() int { return len(t.rows) }

// Lookup returns the row of a model by its exact provider and name.
func (t *Table) Lookup(provider, name string) (Row, bool) {
	r, ok := t.rows[key{provider, name}]
	return r, ok
}

// Lookup finds a model in the built-in table. The first call reads the table.
func Lookup(provider, name string) (Row, bool) { return Default().Lookup(provider, name) }

//go:embed models.json
var embedded []byte

// Default returns the built-in table.
func Default() *Table { return builtin() }

//nolint:gochecknoglobals // read once, never written
var builtin = sync.OnceValue(func() *Table {
	t, err := Parse(embedded)
	if err != nil {
		return &Table{} // cannot happen: the tests read the same bytes
	}
	return t
})

// Parse reads a table from JSON: {"as_of", "units", "source", "models": […]}, with prices in USD per
// million tokens. It fails on an unknown key, a price that is not a whole number of pico-USD per token,
// and a model that is listed twice.
func Parse(data []byte) (*Table, error) {
	var file struct {
		AsOf   string  `json:"as_of"` //nolint:tagliatelle // the file's own name
		Units  string  `json:"units"`
		Source string  `json:"source"`
		Models []entry `json:"models"`
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		return nil, fmt.Errorf("model table: %w", err)
	}
	t := &Table{asOf: file.AsOf, rows: make(map[key]Row, len(file.Models))}
	for i, e := range file.Models {
		row, err := e.row()
		if err != nil {
			return nil, fmt.Errorf("model table: entry %d, %q: %w", i, e.Model, err)
		}
		k := key{row.Provider, row.Name}
		if _, ok := t.rows[k]; ok {
			return nil, fmt.Errorf("model table: entry %d, %q: there twice", i, e.Model)
		}
		t.rows[k] = row
	}
	return t, nil
}

// entry is a model in the form of the file. Prices are kept as text, so that none is rounded.
//
//nolint:tagliatelle // the file's own names
type entry struct {
	Provider        string       `json:"provider"`
	Model           string       `json:"model"`
	Family          string       `json:"family"`
	Context         int          `json:"context_tokens"`
	MaxOutput       int          `json:"max_output_tokens"`
	Input           *json.Number `json:"input_usd_per_mtok"`
	Output          *json.Number `json:"output_usd_per_mtok"`
	CachedInput     *json.Number `json:"cached_input_usd_per_mtok"`
	CacheWrite      *json.Number `json:"cache_write_usd_per_mtok"`
	InputAbove200k  *json.Number `json:"input_usd_per_mtok_above_200k"`
	OutputAbove200k *json.Number `json:"output_usd_per_mtok_above_200k"`
	JSONSchema      bool         `json:"json_schema"`
	Tools           bool         `json:"tools"`
	Reasoning       bool         `json:"reasoning"`
}

func (e *entry) row() (Row, error) {
	r := Row{
		Provider: e.Provider, Name: e.Model, Family: e.Family,
		Context: e.Context, MaxOutput: e.MaxOutput,
		JSONSchema: e.JSONSchema, Tools: e.Tools, Reasoning: e.Reasoning,
	}
	if r.Provider == "" || r.Name == "" || strings.Contains(r.Provider, "/") {
		return Row{}, errors.New("want a model, and a provider without a slash")
	}
	if r.Context < 0 || r.MaxOutput < 0 {
		return Row{}, errors.New("a negative number of tokens")
	}
	r.Priced = e.Input != nil && e.Output != nil
	if !r.Priced {
		return r, nil
	}
	for _, p := range []struct {
		to      *int64
		from    *json.Number
		instead *int64
	}{
		{&r.Input, e.Input, nil},
		{&r.Output, e.Output, nil},
		{&r.CachedInput, e.CachedInput, &r.Input},
		{&r.CacheWrite, e.CacheWrite, &r.Input},
		{&r.InputAbove200k, e.InputAbove200k, &r.Input},
		{&r.OutputAbove200k, e.OutputAbove200k, &r.Output},
	} {
		if p.from == nil {
			*p.to = *p.instead
			continue
		}
		var err error
		if *p.to, err = pico(p.from.String()); err != nil {
			return Row{}, err
		}
	}
	return r, nil
}

// pico converts a decimal number of USD per million tokens into pico-USD per token, exactly. It refuses a
// million USD and more, so that sums of real prices cannot overflow.
func pico(usd string) (int64, error) {
	const places = 6 // 10¹² pico-USD to the USD, 10⁶ tokens to the million
	whole, fraction, _ := strings.Cut(usd, ".")
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > places {
		return 0, fmt.Errorf("price %.32s: more than %d decimals", usd, places)
	}
	n, err := strconv.ParseUint(whole+fraction+strings.Repeat("0", places-len(fraction)), 10, 63)
	if err != nil || n >= 1e12 {
		return 0, fmt.Errorf("price %.32s: want a plain decimal number from 0 to 1,000,000", usd)
	}
	return int64(n), nil
}
