package providertest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/agonist-dev/debate/provider/wire"
)

// adapter speaks the protocol of a vendor that nobody knows: events with a piece of text, and one that
// says why the reply ended.
type adapter struct{ wire.Endpoint }

func (a *adapter) String() string   { return "adapter" }
func (a *adapter) GoString() string { return "adapter" }

func (a *adapter) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	body, err := json.Marshal(providertest.Direct(req))
	if err != nil {
		return nil, err
	}
	x, err := a.Open(ctx, req.ID)
	if err != nil {
		return nil, err
	}
	defer x.Close()
	if err := x.Send(http.MethodPost, "reply", body); err != nil {
		return nil, err
	}
	r := x.NewReply(emit)
	events := x.Events()
	for r.Stop == "" {
		event, err := events.Next()
		if err != nil {
			return r.Failed(x.Cut(err))
		}
		var e struct {
			Text  wire.Text           `json:"text"`
			Call  *provider.ToolCall  `json:"call"`
			Stop  provider.StopReason `json:"stop"`
			Usage provider.Usage      `json:"usage"`
			Error json.RawMessage     `json:"error"`
		}
		if json.Unmarshal(event.Data, &e) != nil {
			return r.Failed(x.Invalid("malformed", "an event is not JSON"))
		}
		if !e.Usage.IsZero() {
			r.Usage = e.Usage
		}
		if wire.Present(e.Error) {
			r.Settled = !e.Usage.IsZero()
			return r.Failed(x.Fault(event.Data))
		}
		r.Say(string(e.Text))
		if e.Call != nil {
			r.Call(r.Calls(), e.Call.ID, e.Call.Name, string(e.Call.Arguments))
		}
		r.Stop = e.Stop
	}
	return r.Done()
}

func (a *adapter) Check(ctx context.Context, _ string) error {
	return a.fetch(ctx, "models", new(struct{ Data []struct{ ID string } }))
}

func (a *adapter) fetch(ctx context.Context, path string, to any) error {
	x, err := a.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	if err := x.Send(http.MethodGet, path, nil); err != nil {
		return err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return x.Cut(err)
	}
	if json.Unmarshal(data, to) != nil {
		return x.Invalid("malformed", "the list is not JSON")
	}
	return nil
}

const stream = "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n\n"

func wholes() []providertest.Whole {
	return []providertest.Whole{{
		Name: "reply", Text: "Cars are loud.", Stop: provider.StopEnd, Calls: []provider.ToolCall{},
		Answer: []byte(stream + "data: {\"text\":\"Cars \"}\n\ndata: {\"text\":\"are \",\"usage\":{\"input\":9}}\n\ndata: {\"text\":\"loud.\"}\n\n" +
			"data: {\"stop\":\"end\",\"usage\":{\"input\":9,\"output\":4}}\n\n"),
	}, {
		Name: "tools", Stop: provider.StopTool,
		Calls: []provider.ToolCall{{ID: "c1", Name: "look", Arguments: json.RawMessage(`{"at": "cars"}`)}, {Name: "now", Arguments: json.RawMessage(`{}`)}},
		Answer: []byte(stream + "data: {\"call\":{\"id\":\"c1\",\"name\":\"look\",\"arguments\":{\"at\":\"cars\"}}}\n\n" +
			"data: {\"call\":{\"name\":\"now\",\"arguments\":{}}}\n\ndata: {\"stop\":\"tool\"}\n\n"),
	}}
}

// suite is what RunHTTP needs to know of an adapter; spoil wraps it.
func suite(spoil func(s providertest.Server, p provider.Provider) provider.Provider) providertest.HTTP {
	h := providertest.HTTP{
		Connect: func(_ testing.TB, s providertest.Server) provider.Provider {
			p := &adapter{wire.Endpoint{
				BaseURL: s.URL, Key: provider.StaticKey(s.Key), Client: s.Client,
				IdleTimeout: s.IdleTimeout, MaxBody: s.MaxBody, MaxLine: s.MaxLine,
			}}
			if spoil != nil {
				return spoil(s, p)
			}
			return p
		},
		Wholes: wholes(),
		Faults: []providertest.Fault{
			{
				Row: "quota", Name: "spent", Kind: provider.KindQuota, Code: "insufficient_quota", RetryAfter: 5 * time.Second,
				Answer: []byte("HTTP/1.1 429 {{KEY}}\nRetry-After: 5\nContent-Length: 62\n\n{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"{{KEY}} spent\"}}"),
			},
			{
				Row: "length", Name: "cut", Stop: provider.StopLength, Text: "Half", Usage: provider.Usage{Input: 2, Output: 1},
				Answer: []byte(stream + "data: {\"text\":\"Half\"}\n\ndata: {\"stop\":\"length\",\"usage\":{\"input\":2,\"output\":1}}\n\n"),
			},
			{
				Row: "length", Name: "cut in a call", Stop: provider.StopLength, Text: "Half", Calls: []provider.ToolCall{},
				Answer: []byte(stream + "data: {\"text\":\"Half\"}\n\ndata: {\"call\":{\"name\":\"look\",\"arguments\":{}}}\n\ndata: {\"stop\":\"length\"}\n\n"),
			},
			{
				Row: "mid-stream-error", Name: "broken", Kind: provider.KindAPI, Usage: provider.Usage{Input: 7}, Message: "Gone",
				Answer: []byte(stream + "data: {\"text\":\"Half\",\"usage\":{\"input\":3}}\n\ndata: {\"error\":{\"message\":\"Gone, {{KEY}}\"},\"usage\":{\"input\":7}}\n\n"),
			},
			{
				Row: "error-under-200", Name: "at once", Kind: provider.KindAPI,
				Answer: []byte(stream + "data: {\"error\":{\"code\":503,\"message\":\"Busy\"}}\n\n"),
			},
		},
		NoSignal: map[string]string{},
	}
	for _, row := range []string{
		"error-null", "slow-down", "budget-in-flight", "moderation", "context-overflow", "window-exceeded", "refusal",
		"content-filter", "no-choices", "blank", "only-thinking", "usage-twice",
	} {
		h.NoSignal[row] = "the vendor has no such signal"
	}
	return h
}

func TestAGoodAdapterPasses(t *testing.T) {
	providertest.RunHTTP(t, suite(nil))
}
