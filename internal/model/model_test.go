package model_test

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/model"
)

func ExampleLookup() {
	row, ok := model.Lookup("anthropic", "claude-haiku-4-5")
	fmt.Println(ok, row.Window, row.Input, row.Output)
	// Output: true 200000 1000000 5000000
}

// The table is compared with an independent reading of the file, by fractions.
func TestEveryRow(t *testing.T) {
	data, err := os.ReadFile("models.json")
	require.NoError(t, err)
	var file struct {
		Models []map[string]json.RawMessage `json:"models"`
	}
	require.NoError(t, json.Unmarshal(data, &file))
	require.Greater(t, len(file.Models), 300)
	var last []string
	for _, m := range file.Models {
		var provider, name string
		require.NoError(t, json.Unmarshal(m["provider"], &provider))
		require.NoError(t, json.Unmarshal(m["model"], &name))
		require.Negative(t, slices.Compare(last, []string{provider, name}), "%s: the file is sorted, and names no model twice", name)
		last = []string{provider, name}
		row, ok := model.Lookup(provider, name)
		require.True(t, ok, name)
		assert.Equal(t, provider, row.Provider)
		assert.Equal(t, name, row.Name)
		assert.NotEmpty(t, row.Family, name)
		if routed := []string{"openrouter/auto", "openrouter/bodybuilder"}; slices.Contains(routed, name) {
			assert.False(t, row.Priced, "%s routes to models that cost", name)
			continue
		}
		assert.True(t, row.Priced, name)
		assert.Positive(t, row.Window, name)
		assert.LessOrEqual(t, row.MaxOutput, row.Window, name)
		for _, p := range []struct {
			field   string
			got     int64
			instead int64
		}{
			{"input_usd_per_mtok", row.Input, -1},
			{"output_usd_per_mtok", row.Output, -1},
			{"cached_input_usd_per_mtok", row.CachedInput, row.Input},
			{"cache_write_usd_per_mtok", row.CacheWrite, row.Input},
			{"input_usd_per_mtok_above_200k", row.InputAbove200k, row.Input},
			{"output_usd_per_mtok_above_200k", row.OutputAbove200k, row.Output},
		} {
			want := big.NewRat(p.instead, 1)
			if raw, ok := m[p.field]; ok {
				_, ok := want.SetString(string(raw))
				require.True(t, ok)
				want.Mul(want, big.NewRat(1e6, 1))
			}
			assert.Zero(t, want.Cmp(big.NewRat(p.got, 1)), "%s %s: %d", name, p.field, p.got)
			assert.GreaterOrEqual(t, p.got, int64(0))
			assert.LessOrEqual(t, p.got, row.DearestInput()+row.Output+row.OutputAbove200k)
		}
	}
}

func TestLookup(t *testing.T) {
	row, ok := model.Lookup("anthropic", "claude-sonnet-4-5")
	require.True(t, ok)
	assert.Equal(t, model.Row{
		Provider: "anthropic", Name: "claude-sonnet-4-5", Family: "anthropic", Window: 200_000, MaxOutput: 64_000,
		Priced: true, Input: 3_000_000, Output: 15_000_000, CachedInput: 300_000, CacheWrite: 3_750_000,
		InputAbove200k: 6_000_000, OutputAbove200k: 22_500_000, JSONSchema: true, Tools: true, Reasoning: true,
	}, row)
	assert.Equal(t, int64(7_500_000), row.DearestInput(), "written to the cache beyond 200,000 tokens")

	row, ok = model.Lookup("anthropic", "claude-3-haiku-20240307")
	require.True(t, ok)
	assert.False(t, row.Reasoning)
	assert.Equal(t, int64(300_000), row.DearestInput(), "writing to the cache is the dearest")
	row, ok = model.Lookup("deepseek", "deepseek-v3")
	require.True(t, ok)
	assert.True(t, row.Priced)
	assert.Zero(t, row.CacheWrite, "a price of 0 that is given is not replaced")
	row, ok = model.Lookup("openrouter", "openrouter/free")
	require.True(t, ok)
	assert.True(t, row.Priced)
	assert.Zero(t, row.Input+row.Output)
	assert.Zero(t, row.MaxOutput)

	for _, m := range [][2]string{
		{"", ""}, {"a", "a"}, {"zzz", "z"}, {"xai", "zzz"}, {"openai", ""}, {"openai", "gpt"}, {"openai\"", "gpt-5"}, {"openai", "gpt-5\n"}, {"openai", "gpt-0"}, {"OpenAI", "gpt-5"}, {"anthropic", "gpt-5"}, {"openai/gpt-5", ""}, {"openai", "gpt-5 "},
	} {
		row, ok := model.Lookup(m[0], m[1])
		assert.False(t, ok, m)
		assert.Zero(t, row)
	}
}

func parse(fields string) (model.Row, error) {
	return model.ParseRow(`{"provider":"p","model":"m"` + fields + `}`)
}

func TestParseRow(t *testing.T) {
	row, err := parse(`,"input_usd_per_mtok":0.0028,"output_usd_per_mtok":999999.999999`)
	require.NoError(t, err)
	assert.Equal(t, model.Row{
		Provider: "p", Name: "m", Priced: true, Input: 2800, CachedInput: 2800, CacheWrite: 2800, InputAbove200k: 2800,
		Output: 999_999_999_999, OutputAbove200k: 999_999_999_999,
	}, row)
	for _, fields := range []string{
		``, `,"input_usd_per_mtok":1`, `,"output_usd_per_mtok":1,"cached_input_usd_per_mtok":1`, `,"input_usd_per_mtok":null,"output_usd_per_mtok":1`,
	} {
		row, err = parse(fields)
		require.NoError(t, err)
		assert.Equal(t, model.Row{Provider: "p", Name: "m"}, row, "a price that is not given is not known")
	}
	row, err = parse(`,"input_usd_per_mtok":1,"output_usd_per_mtok":1.50000000000`)
	require.NoError(t, err)
	assert.Equal(t, int64(1_500_000), row.Output)
}

func TestParseRowRefuses(t *testing.T) {
	for fields, want := range map[string]string{
		`,"input_usd_per_mtok":1,"output_usd_per_mtok":0.0000001`:                        "more than 6 decimals",
		`,"input_usd_per_mtok":1,"output_usd_per_mtok":1e3`:                              "want a plain decimal number",
		`,"input_usd_per_mtok":-1,"output_usd_per_mtok":1`:                               "want a plain decimal number",
		`,"input_usd_per_mtok":1000000,"output_usd_per_mtok":1`:                          "want a plain decimal number",
		`,"input_usd_per_mtok":1` + strings.Repeat("0", 40) + `,"output_usd_per_mtok":1`: "want a plain decimal number",
		`,"input_usd_per_mtok":"one","output_usd_per_mtok":1`:                            "not a number",
		`,"price":1`:               "unknown key",
		`,"context_tokens":-1`:     "want a number of tokens",
		`,"max_output_tokens":1.5`: "want a number of tokens",
		`,"family":7`:              "wrong type",
		`,"tools":"yes"`:           "wrong type",
		`,"model":"m"`:             "duplicate key",
	} {
		_, err := parse(fields)
		require.ErrorContains(t, err, want, fields)
	}
	for _, line := range []string{``, `[]`, `{}`, `{"provider":"p"}`, `{"model":"m"}`, `{"provider":"a/b","model":"m"}`, `{"provider":"","model":"m"}`} {
		_, err := model.ParseRow(line)
		require.Error(t, err, line)
	}
}

func FuzzParseRow(f *testing.F) {
	f.Add("0.0028")
	f.Add("-1")
	f.Add("1e-7")
	f.Add("123456.1234560")
	f.Fuzz(func(t *testing.T, price string) {
		row, err := parse(`,"input_usd_per_mtok":` + price + `,"output_usd_per_mtok":0`)
		if err != nil || !row.Priced || strings.ContainsAny(price, `,{}"`) {
			return
		}
		want, ok := new(big.Rat).SetString(strings.TrimSpace(price))
		require.True(t, ok, price)
		require.Zero(t, want.Mul(want, big.NewRat(1e6, 1)).Cmp(big.NewRat(row.Input, 1)), price)
	})
}

func BenchmarkLookup(b *testing.B) {
	for b.Loop() {
		if _, ok := model.Lookup("openai", "gpt-5"); !ok {
			b.Fatal("not found")
		}
	}
}

func TestAllRowsInTheirOrder(t *testing.T) {
	data, err := os.ReadFile("models.json")
	require.NoError(t, err)
	var names []string
	for row := range model.All() {
		names = append(names, row.Provider+"/"+row.Name)
		found, ok := model.Lookup(row.Provider, row.Name)
		require.True(t, ok, row.Name)
		require.Equal(t, found, row)
	}
	assert.Len(t, names, strings.Count(string(data), `"provider": `))
	for row := range model.All() {
		assert.Equal(t, names[0], row.Provider+"/"+row.Name)
		break
	}
}
