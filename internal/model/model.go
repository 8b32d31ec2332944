// Package model holds what is known of models: their windows, prices and abilities.
package model

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/internal/strictjson"
)

// Row describes one model. Prices are in pico-USD (10⁻¹² USD) per token, so that every price of the table
// is a whole number: 1 USD per million tokens is 1,000,000. If Priced is set, a price of 0 means that it
// costs nothing.
type Row struct {
	Provider string // the name of the vendor or the router: "openai", "openrouter"
	Name     string // as the provider calls the model; may contain slashes
	Family   string // who made it; judges of one family have similar taste

	Window    int // tokens of input and output together
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

// table is the file: one model a line, in the order of the providers' names and then of the models'.
//
//go:embed models.json
var table string

// Lookup yields the row of a model by its exact provider and name. It reads the line of that model
// only, so that a program which needs a few rows does not pay for hundreds.
func Lookup(provider, name string) (Row, bool) {
	_, lines, _ := strings.Cut(table, "[\n")
	line := find(lines, provider, name)
	if line == "" {
		return Row{}, false
	}
	row, err := ParseRow(strings.TrimSuffix(line, ","))
	return row, err == nil // the tests read every line, so there is no error
}

// All yields the rows of the table, in its order.
func All() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		_, lines, _ := strings.Cut(table, "[\n")
		for line := range strings.Lines(lines) {
			row, err := ParseRow(strings.TrimSuffix(strings.TrimSpace(line), ","))
			if err != nil || !yield(row) { // the lines behind the last model end the file
				return
			}
		}
	}
}

// find yields the line of a model; "": there is none. It searches by halves.
func find(lines, provider, name string) string {
	for lines != "" {
		middle := len(lines) / 2
		start := strings.LastIndexByte(lines[:middle], '\n') + 1
		line, _, _ := strings.Cut(lines[start:], "\n")
		switch order := compare(line, provider, name); {
		case order == 0:
			return line
		case order > 0:
			lines = lines[:start]
		default:
			lines = lines[min(start+len(line)+1, len(lines)):]
		}
	}
	return ""
}

// compare says whether a line comes before a model (negative), is that model's, or comes behind it. A
// line without a model is one of those that end the file.
func compare(line, provider, name string) int {
	line, ok := strings.CutPrefix(line, `  {"provider": "`)
	if !ok {
		return 1
	}
	host, rest, _ := strings.Cut(line, `", "model": "`)
	id, _, _ := strings.Cut(rest, `"`)
	return cmp.Or(strings.Compare(host, provider), strings.Compare(id, name))
}

// ParseRow reads one model of the table. Prices are in USD per million tokens; one that is missing is
// not known. An unknown key, and a price that is not a whole number of pico-USD per token, are errors.
func ParseRow(line string) (Row, error) {
	tree, err := strictjson.Decode(line, strictjson.Limits{Exact: true})
	if err != nil {
		return Row{}, fmt.Errorf("model table: %w", err)
	}
	fields, ok := tree.(map[string]any)
	if !ok {
		return Row{}, errors.New("model table: want an object")
	}
	r := reading{prices: make(map[string]int64, 6)}
	for key, value := range fields {
		if err := r.take(key, value); err != nil {
			return Row{}, fmt.Errorf("model table: %.64s: %w", key, err)
		}
	}
	if r.Provider == "" || r.Name == "" || strings.Contains(r.Provider, "/") {
		return Row{}, errors.New("model table: want a model, and a provider without a slash")
	}
	r.price()
	return r.Row, nil
}

// reading is a line that is being read.
type reading struct {
	Row

	prices map[string]int64 // in pico-USD per token, by key
}

// The keys of the two prices without which no price is known.
const (
	inputPrice  = "input_usd_per_mtok"
	outputPrice = "output_usd_per_mtok"
)

// take takes in one field of a line.
func (r *reading) take(key string, value any) (err error) {
	ok := true
	switch key {
	case "provider":
		r.Provider, ok = value.(string)
	case "model":
		r.Name, ok = value.(string)
	case "family":
		r.Family, ok = value.(string)
	case "context_tokens":
		r.Window, err = tokens(value)
	case "max_output_tokens":
		r.MaxOutput, err = tokens(value)
	case "json_schema":
		r.JSONSchema, ok = value.(bool)
	case "tools":
		r.Tools, ok = value.(bool)
	case "reasoning":
		r.Reasoning, ok = value.(bool)
	case inputPrice, outputPrice, "cached_input_usd_per_mtok", "cache_write_usd_per_mtok",
		"input_usd_per_mtok_above_200k", "output_usd_per_mtok_above_200k":
		if value != nil {
			r.prices[key], err = pico(value)
		}
	default:
		return errors.New("unknown key")
	}
	if !ok {
		return errors.New("a value of the wrong type")
	}
	return err
}

// price takes in the prices. A price that is not given is the plain one.
func (r *reading) price() {
	input, known := r.prices[inputPrice]
	output, too := r.prices[outputPrice]
	if r.Priced = known && too; !r.Priced {
		return
	}
	or := func(key string, otherwise int64) int64 {
		if price, ok := r.prices[key]; ok {
			return price
		}
		return otherwise
	}
	r.Input, r.Output = input, output
	r.CachedInput, r.CacheWrite = or("cached_input_usd_per_mtok", input), or("cache_write_usd_per_mtok", input)
	r.InputAbove200k = or("input_usd_per_mtok_above_200k", input)
	r.OutputAbove200k = or("output_usd_per_mtok_above_200k", output)
}

func tokens(value any) (int, error) {
	number, _ := value.(json.Number)
	n, err := strconv.ParseUint(string(number), 10, 31)
	if err != nil {
		return 0, errors.New("want a number of tokens")
	}
	return int(n), nil
}

// pico yields a decimal number of USD per million tokens as pico-USD per token, exactly. A million
// USD per million tokens is refused as nonsense, so that sums of real prices cannot overflow.
func pico(value any) (int64, error) {
	const places = 6 // 10¹² pico-USD to the USD, 10⁶ tokens to the million
	number, ok := value.(json.Number)
	if !ok {
		return 0, errors.New("a price that is not a number")
	}
	usd := string(number)
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
