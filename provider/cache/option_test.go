package cache_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
)

// TestOptionsMakeARequestAnotherOne: each option, field, header and file is part of what a request asks. A file counts by
// its data, whatever hash it names.
func TestOptionsMakeARequestAnotherOne(t *testing.T) {
	picture := provider.Part{Type: "image/png", Name: "a", Hash: "h", Data: []byte("1")}
	other := picture
	other.Data = []byte("2")
	named := picture
	named.Name = "b"
	jpeg := picture
	jpeg.Type = "image/jpeg"
	with := func(o provider.Options) *provider.Request { return &provider.Request{Model: "m", Options: &o} }
	parted := func(last bool, parts ...provider.Part) *provider.Request {
		req := &provider.Request{Model: "m", Messages: []provider.Message{{Text: "a"}}, Last: provider.Message{Text: "b"}}
		if last {
			req.Last.Parts = parts
		} else {
			req.Messages[0].Parts = parts
		}
		return req
	}
	s := shelf{}
	p := &cache.Provider{Provider: picky{}, Store: s}
	for i, req := range []*provider.Request{
		{Model: "m"},
		with(provider.Options{Effort: provider.EffortLow}), with(provider.Options{Effort: provider.EffortHigh}),
		with(provider.Options{TopP: new(0.5)}), with(provider.Options{TopP: new(1.0)}),
		with(provider.Options{Stop: []string{"ab"}}), with(provider.Options{Stop: []string{"a", "b"}}),
		with(provider.Options{Seed: new(int64(0))}), with(provider.Options{Seed: new(int64(-1))}),
		with(provider.Options{ServiceTier: "low"}), with(provider.Options{Verbosity: provider.VerbosityLow}),
		with(provider.Options{Search: true}), with(provider.Options{Reasoning: provider.ReasoningHide}), with(provider.Options{Reasoning: provider.ReasoningAsk}),
		with(provider.Options{Extra: map[string]json.RawMessage{"a": []byte("1"), "b": []byte("2")}}),
		with(provider.Options{Extra: map[string]json.RawMessage{"a": []byte("2"), "b": []byte("1")}}),
		with(provider.Options{Header: map[string]string{"a": "1"}}), with(provider.Options{Header: map[string]string{"a": "2"}}),
		parted(true), parted(true, picture), parted(false, picture), parted(true, other), parted(true, named), parted(true, jpeg),
		parted(true, picture, other), parted(true, other, picture),
	} {
		for again := range 2 {
			r, _ := ask(t, p, req)
			assert.Equal(t, again == 1, r.Cached, "request %d", i)
		}
		assert.Len(t, s, i+1)
	}
	r, _ := ask(t, p, with(provider.Options{}))
	assert.True(t, r.Cached, "options that ask for nothing are none")
	renamed := picture
	renamed.Hash = "other"
	r, _ = ask(t, p, parted(true, renamed))
	assert.True(t, r.Cached)
}

// thinker is a model that says all that a reply can hold.
type thinker struct{}

func (thinker) Generate(_ context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	fence := req.Last.Fence
	r := &provider.Response{
		Text: "No " + fence + ": yes.", Stop: provider.StopEnd, ID: "gen-1", Model: "m", Reasoning: "Is it " + fence + "?",
		Citations: []provider.Citation{{Title: "A " + fence, URL: "https://a.example/", Quote: "q"}, {URL: "https://b.example/"}},
		Cost:      new(0.5), Left: []string{"seed"}, Usage: provider.Usage{Input: 1, Output: 1},
	}
	r.Citations[0].Start = strings.Index(r.Text, "yes")
	r.Citations[0].End = r.Citations[0].Start + 3
	emit(provider.Chunk{Text: r.Reasoning, Reasoning: true})
	emit(provider.Chunk{Text: r.Text})
	return r, nil
}

// TestAReplyIsKeptWhole: thoughts, sources, the id and what was left out come back, with this request's fence words. The
// cost does not: the reply costs nothing this time. Places that have moved are dropped.
func TestAReplyIsKeptWhole(t *testing.T) {
	p := &cache.Provider{Provider: thinker{}, Store: shelf{}}
	for i, fence := range []string{"1234567890", "1234567890", "0987654321", "123456789012"} {
		want, err := thinker{}.Generate(t.Context(), &provider.Request{Last: provider.Message{Fence: fence}}, func(provider.Chunk) {})
		require.NoError(t, err)
		if i > 0 {
			want.Cost, want.Cached, want.Usage = nil, true, provider.Usage{}
		}
		if len(fence) != 10 {
			want.Citations[0].Start, want.Citations[0].End = 0, 0
		}
		var chunks []provider.Chunk
		r, err := p.Generate(t.Context(), &provider.Request{Last: provider.Message{Fence: fence}}, func(c provider.Chunk) { chunks = append(chunks, c) })
		require.NoError(t, err)
		assert.Equal(t, want, r)
		assert.Equal(t, []provider.Chunk{{Text: want.Reasoning, Reasoning: true}, {Text: want.Text}}, chunks)
	}
}

// TestPlacesOfAHostileStore: what a store says of places is not believed.
func TestPlacesOfAHostileStore(t *testing.T) {
	for _, place := range []string{`"start":-1,"end":2`, `"start":3,"end":2`, `"start":0,"end":99`, `"start":9007199254740993`} {
		s := shelf{}
		p := &cache.Provider{Provider: thinker{}, Store: s}
		ask(t, p, &provider.Request{})
		for key, value := range s {
			var e map[string]any
			require.NoError(t, json.Unmarshal(value, &e))
			e["citations"] = []any{json.RawMessage(`{"url":"https://a.example/",` + place + `}`)}
			s[key], _ = json.Marshal(e)
		}
		r, _ := ask(t, p, &provider.Request{})
		assert.False(t, r.Cached, place)
	}
}

// A source may name a place that is none in the text. The engine then takes it as one without a place; so does the cache.
func TestASourceWithoutAPlaceIsStored(t *testing.T) {
	calls := 0
	inner := generates(func(*provider.Request) *provider.Response {
		calls++
		return &provider.Response{Text: "text", Stop: provider.StopEnd, Citations: []provider.Citation{
			{URL: "https://a.example/", Start: 1, End: 3},
			{URL: "https://b.example/", Start: 2, End: 1 << 20},
			{URL: "https://c.example/", Start: -1, End: 2},
			{URL: "https://d.example/", Start: 3, End: 1},
		}}
	})
	p := &cache.Provider{Provider: inner}
	first, _ := ask(t, p, &provider.Request{Model: "m"})
	assert.Equal(t, 1<<20, first.Citations[1].End, "the reply itself is the provider's")
	second, _ := ask(t, p, &provider.Request{Model: "m"})
	assert.True(t, second.Cached)
	assert.Equal(t, 1, calls)
	assert.Equal(t, []provider.Citation{
		{URL: "https://a.example/", Start: 1, End: 3}, {URL: "https://b.example/"}, {URL: "https://c.example/"}, {URL: "https://d.example/"},
	}, second.Citations)
}

// generates is a provider that replies as a function says.
type generates func(*provider.Request) *provider.Response

func (g generates) Generate(_ context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	r := g(req)
	emit(provider.Chunk{Text: r.Text})
	return r, nil
}
