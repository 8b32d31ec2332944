package cache_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
	"github.com/agonist-dev/debate/provider/scripted"
)

// shelf is a store that a test reads and writes.
type shelf map[string][]byte

func (s shelf) Get(_ context.Context, key string) ([]byte, bool, error) {
	value, ok := s[key]
	return value, ok, nil
}

func (s shelf) Put(_ context.Context, key string, value []byte) error {
	s[key] = value
	return nil
}

// stored returns a shelf with one reply in it, and the reply's key.
func stored(t *testing.T) (shelf, string) {
	t.Helper()
	s := shelf{}
	ask(t, &cache.Provider{Provider: answers(scripted.Reply{Text: "kept 7315"}), Store: s}, question())
	require.Len(t, s, 1)
	for key := range s {
		return s, key
	}
	return nil, ""
}

func TestWhatIsStored(t *testing.T) {
	s, key := stored(t)
	assert.Regexp(t, "^[0-9a-f]{64}$", key)
	assert.JSONEq(t, `{"version":1,"key":"`+key+`","text":"kept \u001a0;","stop":"end","model":"model-1"}`, string(s[key]))
}

// A key that changes by accident loses what every host has stored.
func TestAKeyLasts(t *testing.T) {
	_, key := stored(t)
	assert.Equal(t, "679545f2153b7b0727d8e171335f6ff4dae0726980c6e13836e6a8ab71874884", key)
}

func TestAHostileValueIsAMiss(t *testing.T) {
	s, key := stored(t)
	good := map[string]any{}
	require.NoError(t, json.Unmarshal(s[key], &good))
	call := func(fields map[string]any) map[string]any {
		c := map[string]any{"id": "c", "name": "n"}
		maps.Copy(c, fields)
		return map[string]any{"calls": []any{c}, "stop": "tool"}
	}
	for name, change := range map[string]any{
		"not JSON":               "{",
		"empty":                  "",
		"null":                   "null",
		"a list":                 "[]",
		"deep":                   strings.Repeat("[", 100_000),
		"more after it":          string(s[key]) + "{}",
		"too long":               string(s[key]) + strings.Repeat(" ", cache.DefaultMaxReply),
		"another version":        map[string]any{"version": 2},
		"no version":             map[string]any{"version": nil},
		"another key":            map[string]any{"key": strings.Repeat("0", 64)},
		"a cut reply":            map[string]any{"stop": "length"},
		"no stop":                map[string]any{"stop": ""},
		"blank":                  map[string]any{"text": " "},
		"a fence too many":       map[string]any{"text": "\x1a1;"},
		"a fence below":          map[string]any{"text": "\x1a-1;"},
		"a fence beyond":         map[string]any{"text": "\x1a99999999999999999999;"},
		"a fence of no number":   map[string]any{"text": "\x1ax;"},
		"an open placeholder":    map[string]any{"text": "kept \x1a"},
		"an unclosed one":        map[string]any{"text": "kept \x1a0"},
		"a text of another type": map[string]any{"text": 1},
		"calls of another type":  map[string]any{"calls": "c"},
		"arguments":              call(map[string]any{"arguments": "{"}),
		"opaque":                 call(map[string]any{"opaque": "{"}),
		"a call's placeholder":   call(map[string]any{"id": "\x1a"}),
	} {
		t.Run(name, func(t *testing.T) {
			value, ok := change.(string)
			if !ok {
				spoiled := maps.Clone(good)
				maps.Copy(spoiled, change.(map[string]any))
				data, err := json.Marshal(spoiled)
				require.NoError(t, err)
				value = string(data)
			}
			s := shelf{key: []byte(value)}
			var heard []error
			p := &cache.Provider{
				Provider: answers(scripted.Reply{Text: "asked"}), Store: s,
				OnError: func(err error) { heard = append(heard, err) },
			}
			response, _ := ask(t, p, question())
			assert.Equal(t, "asked", response.Text)
			assert.Len(t, heard, 1)
			again, _ := ask(t, p, question())
			assert.True(t, again.Cached, "the value was replaced")
			assert.Equal(t, "asked", again.Text)
		})
	}
}

// A small value of many placeholders does not become a large reply.
func TestAValueDoesNotSwell(t *testing.T) {
	long := strings.Repeat("7", 10_000)
	req := &provider.Request{Self: "Ada", Messages: []provider.Message{{Fence: long}}}
	for name, spoil := range map[string]func(e map[string]any){
		"in a text": func(e map[string]any) { e["text"] = strings.Repeat("\x1a0;", 5) },
		"in calls": func(e map[string]any) {
			e["calls"] = []any{map[string]any{"id": "\x1a0;"}, map[string]any{"id": "\x1a0;"}, map[string]any{"id": "\x1a0;"}}
		},
		"before one": func(e map[string]any) { e["text"] = strings.Repeat("a", 15_000) + "\x1a0;" },
		"after one":  func(e map[string]any) { e["text"] = "\x1a0;" + strings.Repeat("a", 15_000) },
	} {
		t.Run(name, func(t *testing.T) {
			s := shelf{}
			p := &cache.Provider{
				Provider: answers(scripted.Reply{Text: "first"}, scripted.Reply{Text: "second"}), Store: s, MaxReply: 20_000,
			}
			ask(t, p, req)
			for key, value := range s {
				var e map[string]any
				require.NoError(t, json.Unmarshal(value, &e))
				spoil(e)
				s[key], _ = json.Marshal(e)
			}
			response, _ := ask(t, p, req)
			assert.False(t, response.Cached)
			assert.Equal(t, "second", response.Text)
		})
	}
}

func FuzzValue(f *testing.F) {
	f.Add(`,"text":"kept","stop":"end"}`)
	f.Add(`,"text":"\u001a0;\u001a;","stop":"end","model":"m"}`)
	f.Add(`,"calls":[{"id":"c","name":"n","arguments":"{}","opaque":"1"}],"stop":"tool"}`)
	f.Add(`,"text":"\u001a5;","stop":"end"}`)
	f.Fuzz(func(t *testing.T, rest string) {
		key := keyed(t, fenceA, "first", "last")
		req := &provider.Request{
			Messages: []provider.Message{{Text: "first", Fence: fenceA}}, Last: provider.Message{Text: "last"},
		}
		p := &cache.Provider{
			Provider: &scripted.Provider{Reply: func(*provider.Request) scripted.Reply { return scripted.Reply{Text: "asked"} }},
			Store:    shelf{key: []byte(`{"version":1,"key":"` + key + `"` + rest)},
		}
		response, chunks := ask(t, p, req)
		assert.Equal(t, response.Text, strings.Join(chunks, ""))
		if !response.Cached {
			assert.Equal(t, "asked", response.Text)
			return
		}
		assert.Contains(t, []provider.StopReason{provider.StopEnd, provider.StopTool}, response.Stop)
		assert.True(t, response.Usage.IsZero())
		assert.True(t, strings.TrimSpace(response.Text) != "" || len(response.Calls) > 0)
		for _, c := range response.Calls {
			assert.True(t, len(c.Arguments) == 0 || json.Valid(c.Arguments))
			assert.True(t, len(c.Opaque) == 0 || json.Valid(c.Opaque))
		}
	})
}
