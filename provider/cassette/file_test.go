package cassette_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cassette"
)

const golden = "testdata/golden.json"

// recordGolden records a little of everything.
func recordGolden(t *testing.T) string {
	t.Helper()
	tape, file := recording(t, cassette.Options{Secrets: []string{"hunter2"}})
	v := &vendor{
		answer: func(req *provider.Request) answer {
			switch req.ID {
			case "cars/r1.ada/1":
				return said("A city centre", " is a room.\n", "\nIts password is hunter2,", " its fence "+fence+".")
			case "cars/r2.ben/1":
				return answer{
					chunks: []string{"Half of"}, response: &provider.Response{Usage: provider.Usage{Input: 40}},
					err: &provider.Error{
						Kind: provider.KindRateLimit, Status: 429, Code: "slow_down", Message: "Key sk-canary5f1d7a0c93be is too fast.\nWait.",
						RequestID: "req_1", RetryAfter: 1500 * time.Millisecond,
					},
				}
			default:
				return answer{response: &provider.Response{Stop: provider.StopTool, Calls: []provider.ToolCall{
					{ID: "c1", Name: "lookup", Arguments: []byte(`{"word":"kerb","most":[1,2]}`), Opaque: []byte(`"sealed"`)},
				}}}
			}
		},
	}
	v.VendorName = "acme"
	p := tape.Wrap("v", v)
	require.NoError(t, p.(provider.Checker).Check(t.Context(), "m-spare"))
	for _, id := range []string{"cars/r2.ben/2", "cars/r1.ada/1", "cars/r2.ben/1"} {
		req := full(fence)
		req.ID = id
		ask(p, req)
	}
	require.NoError(t, tape.Close())
	return file
}

func TestGolden(t *testing.T) {
	got := contents(t, recordGolden(t))
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(golden), 0o755))
		require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
	}
	assert.Equal(t, contents(t, golden), got)

	tape := open(t, golden, cassette.Options{})
	req := full(otherFence)
	req.ID = "cars/r1.ada/1"
	assert.Equal(t, []string{"A city centre", " is a room.\n", "\nIts password is [redacted],", " its fence " + otherFence + "."},
		ask(tape.Wrap("v", nil), req).chunks)
	assert.Len(t, tape.Unused(), 2)
}

func TestWhatIsNoCassette(t *testing.T) {
	good := contents(t, golden)
	replace := func(old, with string) string {
		require.Contains(t, good, old)
		return strings.Replace(good, old, with, 1)
	}
	line := func(of string) int {
		before, _, found := strings.Cut(good, of)
		require.True(t, found, of)
		return 1 + strings.Count(before, "\n")
	}
	end := strings.Count(good, "\n")
	entry := func(id string) int { return line(`"id": "`+id+`"`) - 3 } // where it begins
	tests := []struct {
		name   string
		data   string
		line   int
		detail string
	}{
		{"nothing", "", 1, "the end of the file is missing"},
		{"cut at the end", good[:len(good)-2], end, "missing"},
		{"cut in the middle", good[:strings.Index(good, `"chunks"`)+4], line(`"chunks"`), "missing"},
		{"no JSON", replace(`"version": 2,`, `"version": 2;`), 2, "';'"},
		{"no UTF-8", replace("Looks.", "Look\x80."), line("Looks."), "UTF-8"},
		{"another value after it", good + "\n{}", end + 2, "follows"},
		{"rubbish after it", good + "x", end + 1, "follows"},
		{"an earlier version", replace(`"version": 2`, `"version": 1`), 2, `reads version 2, the file has "1": remove it and record it again`},
		{"a later version", replace(`"version": 2`, `"version": 3`), 2, `has "3"`},
		{"a version in words", replace(`"version": 2`, `"version": "2"`), 2, "reads version 2"},
		{"no version", `{"entries":[]}`, 1, `has ""`},
		{"no object", `[]`, 1, "reads version 2"},
		{"no entries", `{"version":2}`, 1, `"entries" is missing`},
		{"entries that are none", `{"version":2,"entries":null}`, 1, `"entries"`},
		{"entries of another kind", `{"version":2,"entries":{}}`, 1, `"entries"`},
		{"an entry that is none", "{\"version\":2,\n\"entries\":[null]}", 2, `the value of "entries"`},
		{"an entry of another kind", "{\"version\":2,\n\"entries\":[7]}", 2, `"entries"`},
		{"a provider that is none", `{"version":2,"providers":{"v":null},"entries":[]}`, 1, `the value of "v"`},
		{"an entry without a request", "{\"version\":2,\n\"entries\":[{\"provider\":\"v\",\"request\":null}]}", 2, "request: is missing"},
		{"an entry that lacks a request", "{\"version\":2,\n\"entries\":[{\"provider\":\"v\"}]}", 2, `"request" is missing`},
		{"an unknown field", replace(`"id": "cars/r1.ada/1",`, `"id": "cars/r1.ada/1", "colour": 1,`), line("r1.ada"), `"colour" is unknown`},
		{"a field in capitals", replace(`"self": "Ada"`, `"SELF": "Ada"`), line(`"self"`), `"SELF" is unknown`},
		{"a field twice", replace(`"self": "Ada"`, `"self": "Ada", "self": "Ben"`), line(`"self"`), `the value of "self"`},
		{"an unknown provider field", replace(`"vendor":`, `"keys": 1, "vendor":`), line(`"vendor"`), `"keys"`},
		{"the data of a part", replace(`"text": "Go on;`, `"parts": [{"data": "YQ=="}], "text": "Go on;`), line("Go on;"), `"parts"`},
		{"a number for a text", replace(`"self": "Ada"`, `"self": 7`), line(`"self"`), "self"},
		{"a text for a number", replace(`"maxTokens": 99`, `"maxTokens": "99"`), line(`"maxTokens"`), "maxTokens"},
		{"a list with one line", replace(`"Go on; the word is ⟦fence 1⟧."`, `["⟦lines⟧", "Go on; the word is ⟦fence 1⟧."]`), line("Go on;"), `the value of "text"`},
		{"a list of no lines", replace(`"Go on; the word is ⟦fence 1⟧."`, `["Go on;", "the word is ⟦fence 1⟧."]`), line(`"last"`), `"last" is unknown`},
		{"sizes that do not add up", replace(`"sizes": "7"`, `"sizes": "6"`), entry("cars/r2.ben/1"), "1 bytes are left"},
		{"sizes that are none", replace(`"sizes": "7"`, `"sizes": "-7"`), entry("cars/r2.ben/1"), `"-7" is no size`},
		{"a piece that ends in a bracket", replace(`"sizes": "13 12 28 25"`, `"sizes": "13 12 44 9"`), entry("cars/r1.ada/1"), "chunks: a bracket"},
		{"a piece that ends in the bytes of one", replace(`"sizes": "13 12 28 25"`, `"sizes": "13 12 40 13"`), entry("cars/r1.ada/1"), "chunks: the pieces do not add up"},
		{"a fence that is none", replace(`its fence ⟦fence 1⟧`, `its fence ⟦fence 2⟧`), entry("cars/r1.ada/1"), "response.text: a bracket"},
		{"a bracket of another kind", replace(`its fence ⟦fence 1⟧`, `its fence ⟦fancy 1⟧`), entry("cars/r1.ada/1"), "response.text: a bracket"},
		{"a bracket that is not closed", replace(`its fence ⟦fence 1⟧.`, `its fence ⟦fence 1`), entry("cars/r1.ada/1"), "response.text: a bracket"},
		{"a fence beyond all others", replace(`the word is ⟦fence 1⟧`, `the word is ⟦fence 10000⟧`), entry("cars/r1.ada/1"), "entry 1: request.last.text: a bracket"},
		{"a fence without a number", replace(`the word is ⟦fence 1⟧`, `the word is ⟦fence x⟧`), entry("cars/r1.ada/1"), "request.last.text: a bracket"},
		{"a duration that is none", replace(`"retryAfter": 1500000000`, `"retryAfter": "soon"`), line(`"retryAfter"`), `"retryAfter"`},
		{"too long", strings.Repeat(" ", cassette.MaxFile+1), 1, "longer"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := cassette.Load([]byte(test.data), cassette.Options{})
			var failure *cassette.FileError
			require.ErrorAs(t, err, &failure)
			assert.Equal(t, test.line, failure.Line, failure)
			assert.Contains(t, failure.Detail, test.detail)
			assert.Equal(t, fmt.Sprintf("cassette: line %d: %s", failure.Line, failure.Detail), err.Error())
		})
	}
	file := filepath.Join(t.TempDir(), "x.json")
	require.NoError(t, os.WriteFile(file, []byte("{"), 0o600))
	for _, mode := range []cassette.Mode{cassette.Replay, cassette.Extend} {
		_, err := cassette.Open(file, cassette.Options{Mode: mode})
		assert.EqualError(t, err, "cassette: "+file+":1: the end of the file is missing")
	}
	assert.Equal(t, "{", contents(t, file), "what cannot be read is left alone")
}

// A file that is hardly longer than another takes hardly more memory to read.
func TestFencesAreBounded(t *testing.T) {
	cost := func(fence int) uint64 {
		var b strings.Builder
		b.WriteString(`{"version":2,"entries":[`)
		for i := range 2000 {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"provider":"x","request":{"model":"⟦fence %d⟧%d"}}`, fence, i)
		}
		b.WriteString(`]}`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := cassette.Load([]byte(b.String()), cassette.Options{})
		runtime.ReadMemStats(&after)
		if fence > 64 {
			require.ErrorAs(t, err, new(*cassette.FileError))
		} else {
			require.NoError(t, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	least := cost(1)
	assert.Less(t, cost(64), 2*least)
	assert.Less(t, cost(65), 2*least)
	assert.Less(t, cost(10_000), 2*least)
}

// White space, the order of entries, and how JSON writes a text, are free.
func TestWhatIsFreeInAFile(t *testing.T) {
	good := contents(t, golden)
	var short bytes.Buffer
	require.NoError(t, json.Compact(&short, []byte(good)))
	begin, end := strings.Index(good, "[\n    {")+1, strings.LastIndex(good, "\n  ]")
	entries := strings.Split(good[begin:end], ",\n    {")
	for i := range entries[1:] {
		entries[i+1] = "\n    {" + entries[i+1]
	}
	entries[0], entries[2] = entries[2], entries[0]
	for name, data := range map[string]string{
		"short": short.String(), "spaces": "\n\n" + good + "\n\t ", "escapes": strings.ReplaceAll(good, "A city", `A\u0020city`),
		"order": good[:begin] + strings.Join(entries, ",") + good[end:],
	} {
		t.Run(name, func(t *testing.T) {
			require.NotEqual(t, good, data)
			tape, err := cassette.Load([]byte(data), cassette.Options{})
			require.NoError(t, err)
			assert.Equal(t, []string{"v cars/r1.ada/1", "v cars/r2.ben/1", "v cars/r2.ben/2"}, tape.Unused())
			file := filepath.Join(t.TempDir(), "x.json")
			require.NoError(t, os.WriteFile(file, []byte(data), 0o600))
			tape = open(t, file, cassette.Options{Mode: cassette.Extend})
			require.NoError(t, tape.Wrap("v", nil).(provider.Checker).Check(t.Context(), "m-spare"))
			ask(tape.Wrap("v", saying(said("x"))), &provider.Request{ID: "z"})
			want := strings.TrimSuffix(good, "\n  ]\n}\n")
			assert.True(t, strings.HasPrefix(contents(t, file), want), "it is written in the one form")
		})
	}
}

// FuzzLoad: whatever is read is refused with a place, or can be replayed, and written as it was.
func FuzzLoad(f *testing.F) {
	data, err := os.ReadFile(golden)
	require.NoError(f, err)
	f.Add(data)
	f.Add([]byte(`{"version":2,"entries":[]}`))
	f.Add([]byte(`{"version":2,"entries":[{"provider":"v","request":{"model":"⟦fence 1⟧"},"response":{"text":"⟦fence 1⟧⟦x80⟧"},"chunks":{"sizes":"1 0"}}]}`))
	f.Add([]byte(`{"version":2,"entries":[{"provider":"v","request":{"tools":[{"parameters":{"a":["⟦lines⟧","",""]}}]},"error":{"retryAfter":1}}]}`))
	f.Add([]byte(`{"version":2,"entries":[{"provider":"v","request":{"messages":[{"toolCalls":[{"id":"","name":"","arguments":null}]}]}}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		tape, err := cassette.Load(data, cassette.Options{})
		if err != nil {
			var failure *cassette.FileError
			require.ErrorAs(t, err, &failure)
			require.NotEmpty(t, failure.Detail)
			require.LessOrEqual(t, failure.Line, 1+bytes.Count(data, []byte("\n")))
			require.Positive(t, failure.Line)
			return
		}
		unused := tape.Unused()
		unseen(t, ask(tape.Wrap("v", nil), &provider.Request{Self: "nobody else is called this"}).err)
		require.Equal(t, unused, tape.Unused())
	})
}

// FuzzReplay: any text in any pieces, with any fence, is given again, and none of the secret is written.
func FuzzReplay(f *testing.F) {
	f.Add("It is 1234567890123456, no less: ⟦x41⟧.", "1234567890123456", "no less", 7, 12)
	f.Add("\x80⟦\xe2\x9f", "\xe2", "\x80", 1, 2)
	f.Add("aaaa", "aa", "a", 1, 3)
	f.Add("{\"a\":[]}", "x", "", 0, 0)
	const placeholders = "[redacted] ⟦fence 1⟧"
	folder := f.TempDir()
	n := 0
	f.Fuzz(func(t *testing.T, text, word, secret string, first, second int) {
		if len(secret) < 4 || strings.Contains(placeholders, secret) {
			secret = ""
		}
		n++
		file := filepath.Join(folder, fmt.Sprint(os.Getpid(), "-", n))
		defer func() { _ = os.Remove(file) }()
		a, b := min(max(0, first), len(text)), min(max(0, second), len(text))
		a, b = min(a, b), max(a, b)
		req := func(word string) *provider.Request {
			return &provider.Request{Self: "s", Last: provider.Message{Speaker: "Ada", Fence: word, Text: "x" + word}}
		}
		want := said(text[:a], text[a:b], text[b:])
		want.response.Calls = []provider.ToolCall{{Arguments: []byte(text)}}
		options := cassette.Options{Mode: cassette.Record}
		if secret != "" {
			options.Secrets = []string{secret}
		}
		tape, err := cassette.Open(file, options)
		require.NoError(t, err)
		ask(tape.Wrap("v", saying(want)), req(word))
		require.NoError(t, tape.Close())

		options.Mode = cassette.Replay
		tape, err = cassette.Open(file, options)
		require.NoError(t, err)
		got := ask(tape.Wrap("v", nil), req(word))
		require.NoError(t, got.err)
		require.Equal(t, got.response.Text, strings.Join(got.chunks, ""))
		require.Len(t, got.chunks, 3)
		if secret == "" && !strings.Contains(got.response.Text, "[redacted]") {
			require.Equal(t, text, got.response.Text)
			require.Equal(t, text, string(got.response.Calls[0].Arguments))
		}
		if secret != "" && !strings.Contains(word, secret) {
			require.NotContains(t, got.response.Text, secret)
		}
	})
}
