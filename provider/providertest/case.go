package providertest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// testCase is one requirement of the contract.
type testCase struct {
	name string
	run  func(x *exam)
}

func cases() []testCase {
	list := []testCase{
		{"plain", plain},
		{"chunks", chunks},
		{"first chunk before the end", early},
		{"prompt", prompt},
		{"empty system", emptySystem},
		{"temperature", temperature},
		{"usage and model", usage},
		{"usage of a cache", cacheUsage},
		{"usage that does not add up", oddUsage},
		{"schema", structured},
		{"tools", tools},
		{"text before tools", textBeforeTools},
		{"tool results", toolResults},
		{"sealed calls of another vendor", foreignCalls},
		{"request untouched", untouched},
		{"concurrent", concurrent},
		{"canceled before", canceledBefore},
		{"canceled in mid-stream", canceledMidStream},
		{"deadline in mid-stream", deadlineMidStream},
		{"cut stream", func(x *exam) { cut(x, "Half of ", "a rep") }},
		{"cut before the first word", func(x *exam) { cut(x) }},
		{"failure in mid-stream", midStream},
		{"reasoning apart", reasoning},
		{"citations", citations},
	}
	for _, stop := range []provider.StopReason{
		provider.StopEnd, provider.StopLength, provider.StopRefusal, provider.StopFilter,
	} {
		list = append(list, testCase{"stop " + string(stop), func(x *exam) { stops(x, stop) }})
	}
	for _, kind := range []provider.Kind{
		provider.KindRateLimit, provider.KindQuota, provider.KindAPI, provider.KindTimeout,
		provider.KindContextOverflow, provider.KindAuthentication, provider.KindContentFilter,
		provider.KindValidation, provider.KindInvalidResponse,
	} {
		list = append(list, testCase{"failure " + string(kind), func(x *exam) { fails(x, kind) }})
	}
	return list
}

func plain(x *exam) {
	p := x.open(Scenario{Name: "plain", Reply: []string{"Cities are for people."}})
	r := x.succeed(p, request())
	if r == nil {
		return
	}
	if r.Text != "Cities are for people." {
		x.errorf("the text is %q", r.Text)
	}
	if r.Stop != provider.StopEnd {
		x.errorf("the stop reason is %q, want %q", r.Stop, provider.StopEnd)
	}
}

func chunks(x *exam) {
	pieces := []string{
		"Ünï", "code, \"quo", "tes\"\n\n", "data: [DONE]\n\n", "event: error\r\n", " `<think>no</think>` ", "{\"error\":{}}", "🙂", ".",
	}
	p := x.open(Scenario{Name: "chunks", Reply: pieces})
	if r := x.succeed(p, request()); r != nil && r.Text != strings.Join(pieces, "") {
		x.errorf("the text is %q, want %q", r.Text, strings.Join(pieces, ""))
	}
}

func early(x *exam) {
	hold := make(chan struct{})
	release := sync.OnceFunc(func() { close(hold) })
	// Without a chunk, nothing releases the server. It is released late, so that the case ends.
	late := time.AfterFunc(x.patience/2, func() {
		x.errorf("no chunk came before the server had sent the last")
		release()
	})
	p := x.open(Scenario{Name: "early", Reply: []string{"first ", "last"}, Hold: hold})
	a := x.ask(context.Background(), p, request(), func(string) { release() })
	late.Stop()
	release()
	if a.err != nil {
		x.errorf("Generate failed: %v", a.err)
	}
}

// sent sends req and returns the request as the server received it.
func (x *exam) sent(s Scenario, req *provider.Request) (Sent, bool) {
	var mu sync.Mutex
	var got []Sent
	s.Sent = func(one Sent) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, one)
	}
	if len(s.Reply)+len(s.Calls) == 0 {
		s.Reply = []string{yes}
	}
	if x.succeed(x.open(s), req) == nil {
		return Sent{}, false
	}
	mu.Lock()
	defer mu.Unlock()
	if len(got) != 1 {
		x.errorf("the server reported %d requests, want 1: a provider does not retry", len(got))
		return Sent{}, false
	}
	return got[0], true
}

func prompt(x *exam) {
	req := request()
	sent, ok := x.sent(Scenario{Name: "prompt"}, req)
	if !ok {
		return
	}
	if m := missing(sent, req); m != "" {
		x.errorf("this did not reach the vendor: %s", m)
	}
	if sent.Model != req.Model {
		x.errorf("the model is %q, want %q", sent.Model, req.Model)
	}
	if sent.MaxTokens != req.MaxTokens {
		x.errorf("the limit of output tokens is %d, want %d", sent.MaxTokens, req.MaxTokens)
	}
	if sent.Schema || len(sent.Tools) > 0 {
		x.errorf("a schema or tools were sent that nobody asked for")
	}
}

func emptySystem(x *exam) {
	req := request()
	req.System = ""
	if sent, ok := x.sent(Scenario{Name: "empty system"}, req); ok && sent.System != "" {
		x.errorf("a system prompt was made up: %q", sent.System)
	}
}

func temperature(x *exam) {
	req := request()
	sent, ok := x.sent(Scenario{Name: "temperature 0"}, req)
	if ok && (sent.Temperature == nil || *sent.Temperature != 0) {
		x.errorf("a temperature of 0 was not sent")
	}
	req.Temperature = nil
	if sent, ok = x.sent(Scenario{Name: "no temperature"}, req); ok && sent.Temperature != nil {
		x.errorf("a temperature of %v was made up", *sent.Temperature)
	}
}

func usage(x *exam) {
	want := provider.Usage{Input: 120, CachedInput: 64, Output: 30, Reasoning: 10}
	p := x.open(Scenario{Name: "usage", Reply: []string{yes}, Usage: want, Model: "model-1-2026"})
	r := x.succeed(p, request())
	if r == nil {
		return
	}
	got := r.Usage
	// Not every vendor counts cached and reasoning tokens.
	if got.CachedInput == 0 {
		got.CachedInput = want.CachedInput
	}
	if got.Reasoning == 0 {
		got.Reasoning = want.Reasoning
	}
	if got != want {
		x.errorf("the usage is %+v, want %+v", r.Usage, want)
	}
	if r.Model != "" && r.Model != "model-1-2026" {
		x.errorf("the model is %q; the vendor reported another", r.Model)
	}
}

func cacheUsage(x *exam) {
	want := provider.Usage{Input: 120, CachedInput: 16, CacheWrite: 64, Output: 30}
	r := x.succeed(x.open(Scenario{Name: "usage of a cache", Reply: []string{yes}, Usage: want}), request())
	if r == nil {
		return
	}
	got := r.Usage
	if got.CachedInput == 0 {
		got.CachedInput = want.CachedInput
	}
	if got.CacheWrite == 0 {
		got.CacheWrite = want.CacheWrite
	}
	if got != want {
		x.errorf("the usage is %+v, want %+v", r.Usage, want)
	}
}

// oddUsage lets the server report more cached tokens than input, because it counts them beside it: they are input, or unknown, but no
// output.
func oddUsage(x *exam) {
	odd := provider.Usage{Input: 12, CachedInput: 9000, Output: 3}
	r := x.succeed(x.open(Scenario{Name: "usage that does not add up", Reply: []string{yes}, Usage: odd}), request())
	if r != nil && r.Usage.Output != odd.Output && !r.Usage.IsZero() {
		x.errorf("the usage is %+v; the server reported %d output tokens", r.Usage, odd.Output)
	}
}

func structured(x *exam) {
	const text = `{"reason":"clearer","score":1,"winner":null}`
	req := request()
	req.Schema = schema()
	sent, ok := x.sent(Scenario{Name: "schema", Reply: []string{text[:9], text[9:]}}, req)
	if ok && !sent.Schema {
		x.errorf("the schema was not sent")
	}
}

func tools(x *exam) {
	req := request()
	req.Tools = []provider.Tool{tool()}
	calls := []provider.ToolCall{
		{ID: "call_a", Name: lookup, Arguments: json.RawMessage(`{"word":"kerb"}`)},
		{ID: "call_b", Name: lookup, Arguments: json.RawMessage(`{"word":"toll"}`)},
	}
	s := Scenario{Name: "tools", Calls: calls, Stop: provider.StopTool}
	if sent, ok := x.sent(s, req); ok && !slices.Equal(sent.Tools, []string{lookup}) {
		x.errorf("the tools sent are %q", sent.Tools)
	}
	r := x.succeed(x.open(s), req)
	if r == nil {
		return
	}
	if r.Stop != provider.StopTool {
		x.errorf("the stop reason is %q, want %q", r.Stop, provider.StopTool)
	}
	if len(r.Calls) != len(calls) {
		x.errorf("there are %d tool calls, want %d", len(r.Calls), len(calls))
		return
	}
	for i, c := range r.Calls {
		if c.Name != calls[i].Name || !sameJSON(c.Arguments, calls[i].Arguments) {
			x.errorf("tool call %d is %s(%s)", i, c.Name, c.Arguments)
		}
	}
	if r.Calls[0].ID == "" || r.Calls[1].ID == "" || r.Calls[0].ID == r.Calls[1].ID {
		x.errorf("the tool calls cannot be told apart by their ids")
	}
}

func sameJSON(a, b json.RawMessage) bool {
	var u, v any
	return json.Unmarshal(a, &u) == nil && json.Unmarshal(b, &v) == nil && reflect.DeepEqual(u, v)
}

func untouched(x *exam) {
	req, want := x.offering(request(), tool()), x.offering(request(), tool())
	req.Schema, want.Schema = schema(), schema()
	x.succeed(x.open(Scenario{Name: "request untouched", Reply: []string{yes}}), req)
	if what := touched(req, want); what != "" {
		x.errorf("Generate changed the request: %s", what)
	}
}

func concurrent(x *exam) {
	p := x.open(Scenario{Name: "concurrent", Reply: []string{"one ", "two ", "three"}})
	req := request() // shared: it is read only
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if r := x.succeed(p, req); r != nil && r.Text != "one two three" {
				x.errorf("the text is %q", r.Text)
			}
		})
	}
	group.Wait()
}

func canceledBefore(x *exam) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := x.ask(ctx, x.open(Scenario{Name: "canceled before", Reply: []string{yes}}), request(), nil)
	x.wantKind(a, provider.KindCanceled)
}

func canceledMidStream(x *exam) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	p := x.open(Scenario{Name: "canceled in mid-stream", Reply: []string{"first ", "last"}, Hold: make(chan struct{})})
	a := x.ask(ctx, p, request(), func(string) { cancel() })
	x.wantKind(a, provider.KindCanceled)
}

func deadlineMidStream(x *exam) {
	ctx := overdue{context.Background(), make(chan struct{})}
	p := x.open(Scenario{Name: "deadline in mid-stream", Reply: []string{"first ", "last"}, Hold: make(chan struct{})})
	pass := sync.OnceFunc(func() { close(ctx.past) })
	x.wantKind(x.ask(ctx, p, request(), func(string) { pass() }), provider.KindTimeout)
}

// overdue is a context whose deadline passes when past is closed, so that a slow machine does not choose the moment.
type overdue struct {
	context.Context

	past chan struct{}
}

func (o overdue) Done() <-chan struct{} { return o.past }

func (o overdue) Err() error {
	select {
	case <-o.past:
		return context.DeadlineExceeded
	default:
		return nil
	}
}

func cut(x *exam, pieces ...string) {
	p := x.open(Scenario{Name: "cut stream", Reply: pieces, Cut: true})
	x.wantKind(x.ask(context.Background(), p, request(), nil), provider.KindNetwork)
}

func midStream(x *exam) {
	p := x.open(Scenario{Name: "failure in mid-stream", Reply: []string{"Half of ", "a rep"}, Fail: provider.KindAPI})
	a := x.ask(context.Background(), p, request(), nil)
	x.wantKind(a, provider.KindAPI)
	if got := strings.Join(a.chunks, ""); !a.hung && got != "Half of a rep" {
		x.errorf("the chunks before the failure are %q", got)
	}
}

func stops(x *exam, stop provider.StopReason) {
	p := x.open(Scenario{Name: "stop " + string(stop), Reply: []string{"As far as it went"}, Stop: stop})
	a := x.ask(context.Background(), p, request(), nil)
	// A refusal by the vendor or the model may be reported in either way.
	declined := map[provider.StopReason]provider.Kind{
		provider.StopRefusal: provider.KindRefusal, provider.StopFilter: provider.KindContentFilter,
	}
	switch {
	case a.hung:
	case a.err != nil:
		if k, ok := declined[stop]; !ok || kind(a.err) != k {
			x.errorf("Generate failed: %v", a.err)
		}
	case a.response != nil && a.response.Stop != stop:
		x.errorf("the stop reason is %q, want %q", a.response.Stop, stop)
	}
}

func fails(x *exam, want provider.Kind) {
	s := Scenario{Name: "failure " + string(want), Fail: want}
	if want == provider.KindRateLimit {
		s.RetryAfter = 7 * time.Second
	}
	var count int
	var mu sync.Mutex
	s.Sent = func(Sent) {
		mu.Lock()
		defer mu.Unlock()
		count++
	}
	a := x.ask(context.Background(), x.open(s), request(), nil)
	x.wantKind(a, want)
	var e *provider.Error
	if errors.As(a.err, &e) && e.RetryAfter != s.RetryAfter {
		x.errorf("RetryAfter is %v, want %v", e.RetryAfter, s.RetryAfter)
	}
	if e != nil && strings.Contains(e.Message, `{"`) {
		x.errorf("the message is JSON and not what the vendor said in it, which wire.Endpoint.Explain can read: %s", e.Message)
	}
	mu.Lock()
	defer mu.Unlock()
	if count > 1 {
		x.errorf("the server got %d requests: a provider does not retry", count)
	}
}

// wantKind requires a failure of one kind.
func (x *exam) wantKind(a answer, want provider.Kind) {
	switch got := kind(a.err); {
	case a.hung:
	case a.err == nil:
		x.errorf("Generate returned %s, want an error of kind %s", describe(a.response), want)
	case got != want:
		x.errorf("the error is of kind %q, want %q: %v", got, want, a.err)
	}
}

func describe(r *provider.Response) string {
	if r == nil {
		return "nothing"
	}
	return fmt.Sprintf("a reply (%q)", r.Text)
}
