package cache_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/cache"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/scripted"
)

// answers is a provider that gives each of these replies once, in order.
func answers(replies ...scripted.Reply) *scripted.Provider {
	return &scripted.Provider{Replies: map[string][]scripted.Reply{"Ada": replies}}
}

// question is a request with something of everything, made anew each time.
func question() *provider.Request {
	temperature := 0.5
	return &provider.Request{
		ID: "d1/r1.opening.ada/1", Model: "model-1", System: "You are Ada.", Self: "Ada",
		Messages: []provider.Message{
			{Text: "The topic is cars."},
			{
				Speaker: "Ben", Text: "Ban them.", Fence: "7315",
				ToolCalls:  []provider.ToolCall{{ID: "c1", Name: "lookup", Arguments: json.RawMessage(`{"a":1}`), Opaque: json.RawMessage(`"x"`)}},
				ToolResult: &provider.ToolResult{ID: "c1", Text: "found"},
			},
		},
		Last: provider.Message{Text: "Rebut."}, MaxTokens: 100, Temperature: &temperature,
		Schema: &provider.Schema{Name: "answer", JSON: json.RawMessage(`{"type":"object"}`)},
		Tools:  []provider.Tool{{Name: "lookup", Description: "Looks up.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		Labels: map[string]string{"tenant": "t1"},
	}
}

// ask returns the reply and the chunks.
func ask(t *testing.T, p provider.Provider, req *provider.Request) (*provider.Response, []string) {
	t.Helper()
	var chunks []string
	response, err := p.Generate(t.Context(), req, func(c provider.Chunk) { chunks = append(chunks, c.Text) })
	require.NoError(t, err)
	return response, chunks
}

func TestAReplyIsGivenAgain(t *testing.T) {
	calls := []provider.ToolCall{{ID: "c", Name: "lookup", Arguments: json.RawMessage(`{ "a": "<" }`), Opaque: json.RawMessage(`{ "s": 1 }`)}}
	for name, reply := range map[string]scripted.Reply{
		"a speech":       {Text: "Ünï\x1a;\x1a0; <b>\u2028", Chunks: 3, Model: "model-1-2026", Usage: provider.Usage{Input: 9, Output: 4}},
		"calls of tools": {Text: "Let me see.", Calls: calls},
		"calls alone":    {Calls: calls},
		"a call of none": {Calls: []provider.ToolCall{{ID: "c", Name: "now"}}, Stop: provider.StopEnd},
	} {
		t.Run(name, func(t *testing.T) {
			inner := answers(reply)
			p := &cache.Provider{Provider: inner}
			first, chunks := ask(t, p, question())
			assert.False(t, first.Cached)
			assert.Len(t, chunks, max(reply.Chunks, min(len(reply.Text), 1)), "as they came")

			for range 2 {
				again, chunks := ask(t, p, question())
				want := *first
				want.Cached, want.Usage = true, provider.Usage{}
				assert.Equal(t, &want, again)
				assert.Len(t, chunks, min(len(reply.Text), 1))
				assert.Equal(t, reply.Text, strings.Join(chunks, ""))
			}
			assert.Equal(t, 1, inner.Calls())
		})
	}
}

func TestWhatMakesARequestAnotherOne(t *testing.T) {
	same := map[string]func(*provider.Request){
		"nothing":   func(*provider.Request) {},
		"id":        func(r *provider.Request) { r.ID = "d2/r1.opening.ada/1" },
		"labels":    func(r *provider.Request) { r.Labels = nil },
		"the fence": func(r *provider.Request) { r.Messages[1].Fence = "0002" },
	}
	other := map[string]func(*provider.Request){
		"model":            func(r *provider.Request) { r.Model += "x" },
		"system":           func(r *provider.Request) { r.System += "x" },
		"self":             func(r *provider.Request) { r.Self = "" },
		"no messages":      func(r *provider.Request) { r.Messages = nil },
		"a message more":   func(r *provider.Request) { r.Messages = append(r.Messages, provider.Message{}) },
		"order":            func(r *provider.Request) { r.Messages[0], r.Messages[1] = r.Messages[1], r.Messages[0] },
		"text":             func(r *provider.Request) { r.Messages[0].Text += "x" },
		"speaker":          func(r *provider.Request) { r.Messages[1].Speaker = "Cy" },
		"label":            func(r *provider.Request) { r.Messages[1].Label = "round 9" },
		"last label":       func(r *provider.Request) { r.Last.Label = "round 9" },
		"text for label":   func(r *provider.Request) { r.Messages[1].Label, r.Messages[1].Text = "Ban", " them." },
		"text for speaker": func(r *provider.Request) { r.Messages[1].Speaker, r.Messages[1].Text = "BenBan", " them." },
		"no fence":         func(r *provider.Request) { r.Messages[1].Fence = "" },
		"no calls":         func(r *provider.Request) { r.Messages[1].ToolCalls = nil },
		"call id":          func(r *provider.Request) { r.Messages[1].ToolCalls[0].ID = "c2" },
		"call name":        func(r *provider.Request) { r.Messages[1].ToolCalls[0].Name = "find" },
		"call arguments":   func(r *provider.Request) { r.Messages[1].ToolCalls[0].Arguments = json.RawMessage(`{"a":2}`) },
		"call opaque":      func(r *provider.Request) { r.Messages[1].ToolCalls[0].Opaque = nil },
		"no result":        func(r *provider.Request) { r.Messages[1].ToolResult = nil },
		"result id":        func(r *provider.Request) { r.Messages[1].ToolResult.ID = "c2" },
		"result text":      func(r *provider.Request) { r.Messages[1].ToolResult.Text = "lost" },
		"result error":     func(r *provider.Request) { r.Messages[1].ToolResult.Error = true },
		"a file":           func(r *provider.Request) { r.Messages[0].Parts = []provider.Part{{Data: []byte("b")}} },
		"a last file":      func(r *provider.Request) { r.Last.Parts = []provider.Part{{Data: []byte("a")}} },
		"last":             func(r *provider.Request) { r.Last.Text = "Close." },
		"max tokens":       func(r *provider.Request) { r.MaxTokens = 0 },
		"temperature":      func(r *provider.Request) { *r.Temperature = 0 },
		"no temperature":   func(r *provider.Request) { r.Temperature = nil },
		"no schema":        func(r *provider.Request) { r.Schema = nil },
		"schema":           func(r *provider.Request) { r.Schema.JSON = json.RawMessage(`{}`) },
		"schema name":      func(r *provider.Request) { r.Schema.Name = "x" },
		"no tools":         func(r *provider.Request) { r.Tools = nil },
		"tool name":        func(r *provider.Request) { r.Tools[0].Name = "x" },
		"tool description": func(r *provider.Request) { r.Tools[0].Description = "x" },
		"tool parameters":  func(r *provider.Request) { r.Tools[0].Parameters = nil },
	}
	given := func(change func(*provider.Request)) bool {
		p := &cache.Provider{Provider: &scripted.Provider{}}
		ask(t, p, question())
		req := question()
		change(req)
		response, _ := ask(t, p, req)
		return response.Cached
	}
	for name, change := range same {
		assert.True(t, given(change), name)
	}
	for name, change := range other {
		assert.False(t, given(change), name)
	}
	p := &cache.Provider{Provider: &scripted.Provider{}}
	for _, part := range []provider.Part{{Name: "n"}, {Type: "t"}, {Data: []byte("a")}, {Data: []byte("b")}} {
		for want := range 2 {
			req := question()
			req.Messages[0].Parts = []provider.Part{part}
			response, _ := ask(t, p, req)
			assert.Equal(t, want == 1, response.Cached, part)
		}
	}
}

func TestScopesDoNotAnswerForEachOther(t *testing.T) {
	var shared cache.Memory
	for _, scope := range []string{"", "a", "b"} {
		p := &cache.Provider{Provider: answers(scripted.Reply{Text: "of " + scope}), Store: &shared, Scope: scope}
		first, _ := ask(t, p, question())
		assert.Equal(t, "of "+scope, first.Text)
	}
	twin := &cache.Provider{Provider: answers(), Store: &shared, Scope: "a"}
	again, _ := ask(t, twin, question())
	assert.Equal(t, "of a", again.Text)
}

func TestWhatIsNotKept(t *testing.T) {
	call := func(c provider.ToolCall) []provider.ToolCall { return []provider.ToolCall{c} }
	for name, reply := range map[string]scripted.Reply{
		"cut":              {Text: "Half", Stop: provider.StopLength},
		"refused":          {Text: "No.", Stop: provider.StopRefusal},
		"filtered":         {Text: "We", Stop: provider.StopFilter},
		"of no known end":  {Text: "Yes.", Stop: "other"},
		"empty":            {},
		"blank":            {Text: " \n"},
		"not UTF-8":        {Text: "a\xff"},
		"model":            {Text: "Yes.", Model: "a\xff"},
		"call's arguments": {Calls: call(provider.ToolCall{ID: "c", Name: "n", Arguments: json.RawMessage(`{`)})},
		"call's opaque":    {Calls: call(provider.ToolCall{ID: "c", Name: "n", Opaque: json.RawMessage("\"\xff\"")})},
		"call's id":        {Calls: call(provider.ToolCall{ID: "\xff", Name: "n"})},
		"too long":         {Text: strings.Repeat("long ", 200)},
		"failure":          {Err: &provider.Error{Kind: provider.KindAPI}, Usage: provider.Usage{Input: 7}},
	} {
		t.Run(name, func(t *testing.T) {
			inner := answers(reply, scripted.Reply{Text: "A second one."})
			store := shelf{}
			p := &cache.Provider{Provider: inner, Store: store, MaxReply: 1000}
			response, err := p.Generate(t.Context(), question(), func(provider.Chunk) {})
			if reply.Err != nil {
				assert.Equal(t, reply.Err, err)
				assert.Equal(t, reply.Usage, response.Usage)
			} else {
				require.NoError(t, err)
				assert.Equal(t, reply.Text, response.Text)
			}
			assert.Empty(t, store)
			again, _ := ask(t, p, question())
			assert.False(t, again.Cached)
			assert.Equal(t, "A second one.", again.Text)
		})
	}
}

func TestNothingIsNotKept(t *testing.T) {
	p := &cache.Provider{Provider: nothing{}}
	response, err := p.Generate(t.Context(), question(), func(provider.Chunk) {})
	require.NoError(t, err)
	assert.Nil(t, response, "the engine says what is wrong with that")
}

type nothing struct{}

func (nothing) Generate(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error) {
	return nil, nil //nolint:nilnil // what a provider must not do
}

func TestSkippedRequestsAreAskedAnew(t *testing.T) {
	inner := &scripted.Provider{}
	p := &cache.Provider{
		Provider: inner,
		Skip:     func(req *provider.Request) bool { return req.Labels["fresh"] != "" },
	}
	fresh := question()
	fresh.Labels = map[string]string{"fresh": "yes"}
	for range 2 {
		response, _ := ask(t, p, fresh)
		assert.False(t, response.Cached)
	}
	response, _ := ask(t, p, question())
	assert.False(t, response.Cached, "nor are they kept")
	response, _ = ask(t, p, fresh)
	assert.False(t, response.Cached)
	assert.Equal(t, 4, inner.Calls())
}

// broken is a store that does what it is told.
type broken struct {
	value    []byte
	ok       bool
	get, put error
}

func (s broken) Get(context.Context, string) ([]byte, bool, error) { return s.value, s.ok, s.get }
func (s broken) Put(context.Context, string, []byte) error         { return s.put }

func TestAStoreThatFailsFailsNoCall(t *testing.T) {
	down := errors.New("down")
	for name, tt := range map[string]struct {
		store broken
		want  []string
	}{
		"get":                {broken{get: down}, []string{"cache: get: down"}},
		"get, with a value":  {broken{ok: true, value: []byte(`{}`), get: down}, []string{"cache: get: down"}},
		"put":                {broken{put: down}, []string{"cache: put: down"}},
		"both":               {broken{get: down, put: down}, []string{"cache: get: down", "cache: put: down"}},
		"a value of nothing": {broken{ok: true}, []string{"cache: get: the value cannot be read: unexpected end of JSON input"}},
	} {
		t.Run(name, func(t *testing.T) {
			var heard []string
			inner := &scripted.Provider{}
			p := &cache.Provider{Provider: inner, Store: tt.store, OnError: func(err error) { heard = append(heard, err.Error()) }}
			response, chunks := ask(t, p, question())
			assert.False(t, response.Cached)
			assert.Equal(t, response.Text, strings.Join(chunks, ""))
			assert.Equal(t, tt.want, heard)

			p = &cache.Provider{Provider: inner, Store: tt.store}
			ask(t, p, question())
		})
	}
}

func TestNothingIsGivenToACanceledCall(t *testing.T) {
	inner := &scripted.Provider{}
	p := &cache.Provider{Provider: inner}
	ask(t, p, question())
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	late, stop := context.WithTimeout(t.Context(), -1)
	defer stop()
	for ctx, kind := range map[context.Context]provider.Kind{canceled: provider.KindCanceled, late: provider.KindTimeout} {
		_, err := p.Generate(ctx, question(), func(provider.Chunk) { t.Error("a chunk") })
		failure, ok := errors.AsType[*provider.Error](err)
		require.True(t, ok)
		assert.Equal(t, kind, failure.Kind)
		assert.True(t, failure.NotSent)
		assert.ErrorIs(t, err, ctx.Err())
	}
	assert.Equal(t, 1, inner.Calls())
}

func TestAZeroProviderFails(t *testing.T) {
	var p cache.Provider
	_, err := p.Generate(t.Context(), question(), func(provider.Chunk) {})
	failure, ok := errors.AsType[*provider.Error](err)
	require.True(t, ok)
	assert.Equal(t, provider.KindValidation, failure.Kind)
	assert.True(t, failure.NotSent)
	assert.Equal(t, "cache", p.String())
}

func TestAbilitiesAreFoundThroughIt(t *testing.T) {
	p := &cache.Provider{Provider: &scripted.Provider{VendorName: "acme"}}
	vendor, ok := provider.As[provider.Vendor](p)
	require.True(t, ok)
	assert.Equal(t, "acme", vendor.Vendor())
	_, ok = provider.As[provider.Checker](p)
	assert.True(t, ok)
}

type named struct{ scripted.Provider }

func (*named) String() string { return "named" }

func TestItsNameShowsNothingOfWhatIsWrapped(t *testing.T) {
	for _, format := range []string{"%v", "%+v", "%#v", "%s"} {
		assert.Equal(t, "cache(named)", fmt.Sprintf(format, &cache.Provider{Provider: &named{}, Scope: "secret"}))
		assert.Equal(t, "cache", fmt.Sprintf(format, &cache.Provider{Provider: &scripted.Provider{VendorName: "secret"}}))
	}
}

// Many callers, few requests, a store that forgets: everybody gets the reply to the own request.
func TestManyAtOnce(t *testing.T) {
	inner := &scripted.Provider{Reply: func(req *provider.Request) scripted.Reply {
		r := scripted.Reply{Text: "to " + req.Last.Text}
		if strings.HasSuffix(req.Last.Text, "3") {
			r.Stop = provider.StopLength
		}
		return r
	}}
	p := &cache.Provider{Provider: inner, Store: &cache.Memory{MaxEntries: 3}}
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for j := range 50 {
				req := question()
				req.Last.Text = fmt.Sprint((i + j) % 5)
				response, err := p.Generate(t.Context(), req, func(provider.Chunk) {})
				if assert.NoError(t, err) {
					assert.Equal(t, "to "+req.Last.Text, response.Text)
				}
			}
		})
	}
	group.Wait()
	asked := inner.Calls()
	for range 2 {
		_, err := p.Generate(t.Context(), question(), func(provider.Chunk) {})
		require.NoError(t, err)
	}
	assert.Equal(t, asked+1, inner.Calls(), "it is a cache afterwards")
}

func TestConformance(t *testing.T) {
	providertest.Run(t, func(t *testing.T, s providertest.Scenario) provider.Provider {
		t.Helper()
		return &cache.Provider{Provider: adaptertest.Acting(s)}
	})
}
