package providertest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/provider"
)

// attempt makes a request. refused is the failure with which the provider refused it before it was sent, and sent the request as the
// server received it. ok is false if it failed in another way.
func (x *exam) attempt(name string, req *provider.Request) (sent *Sent, ok bool, refused error) {
	var mu sync.Mutex
	s := Scenario{Name: name, Reply: []string{yes}, Sent: func(one Sent) {
		mu.Lock()
		defer mu.Unlock()
		sent = &one
	}}
	a := x.ask(context.Background(), x.open(s), req, nil)
	mu.Lock()
	defer mu.Unlock()
	switch e := fault(a.err); {
	case a.hung:
	case a.err != nil && (e.Kind != provider.KindValidation || !e.NotSent || sent != nil):
		x.errorf("%s: it was refused, but not before it was sent: %v", name, a.err)
	default:
		return sent, true, a.err
	}
	return nil, false, a.err
}

// offering returns the request with tools, unless the provider refuses them because its vendor has none.
func (x *exam) offering(req *provider.Request, tools ...provider.Tool) *provider.Request {
	if !x.toolless() {
		req.Tools = tools
	}
	return req
}

// toolless reports whether the provider refuses each request with tools before it sends it.
func (x *exam) toolless() bool {
	req := request()
	req.Tools = []provider.Tool{tool()}
	e := fault(x.ask(context.Background(), x.open(Scenario{Name: "a tool", Reply: []string{yes}}), req, nil).err)
	return e.NotSent && e.Code == string(provider.AbilityTools)
}

// plainBody returns the body of the suite's request, nil if the server does not report it.
func (x *exam) plainBody() json.RawMessage {
	sent, ok, _ := x.attempt("without options", request())
	if !ok || sent == nil || len(sent.Body) == 0 {
		if len(x.faults()) == 0 {
			x.t.Skip("not checked: the server reports no bodies in Scenario.Sent")
		}
		return nil
	}
	return sent.Body
}

// options sends one option after the other. Each changes the body, or is refused before it is sent.
func options(x *exam) {
	plain := x.plainBody()
	if plain == nil {
		return
	}
	topP, seed := 0.97, int64(7)
	for name, o := range map[string]provider.Options{
		"effort": {Effort: provider.EffortHigh}, "no effort": {Effort: provider.EffortNone}, "topP": {TopP: &topP},
		"stop": {Stop: []string{"END"}},
		"seed": {Seed: &seed}, "serviceTier": {ServiceTier: "flex"}, "verbosity": {Verbosity: provider.VerbosityLow}, "search": {Search: true},
		"reasoning": {Reasoning: provider.ReasoningAsk},
	} {
		req := request()
		req.MaxTokens = 9000 // room for thinking
		before, ok, _ := x.attempt(name+", without it", req)
		req.Options = &o
		sent, also, refused := x.attempt(name, req)
		if !ok || !also || refused != nil || name == "reasoning" || name == "no effort" { // which may be the vendor's default
			continue
		}
		if sent == nil || before == nil || bytes.Equal(sent.Body, before.Body) {
			x.errorf("the option %s was dropped", name)
		}
	}
	req := request()
	req.Options = &provider.Options{}
	if sent, ok, _ := x.attempt("empty options", req); ok && (sent == nil || !bytes.Equal(sent.Body, plain)) {
		x.errorf("empty options change the request")
	}
}

// extraFields sends a field of the vendor's own, and then tries to overwrite each field that the adapter writes.
func extraFields(x *exam) {
	plain := x.plainBody()
	if plain == nil {
		return
	}
	req := request()
	req.Options = &provider.Options{Extra: map[string]json.RawMessage{"x_suite": json.RawMessage(`{"a":["<1>"]}`)}}
	sent, ok, refused := x.attempt("extra field", req)
	var fields map[string]json.RawMessage
	switch {
	case !ok || refused != nil:
	case sent == nil || json.Unmarshal(sent.Body, &fields) != nil || !sameJSON(fields["x_suite"], req.Options.Extra["x_suite"]):
		x.errorf("the extra field was dropped")
	}
	if fields = nil; json.Unmarshal(plain, &fields) != nil {
		x.errorf("the body is no JSON object")
	}
	for name := range fields {
		req.Options = &provider.Options{Extra: map[string]json.RawMessage{name: json.RawMessage(`"suite"`)}}
		if _, ok, refused := x.attempt("extra field "+name, req); ok && refused == nil {
			x.errorf("an extra field overwrites %s, which the adapter writes", name)
		}
	}
}

// headers sends a header, and then tries those that carry credentials.
func headers(x *exam) {
	if x.plainBody() == nil {
		return
	}
	req := request()
	req.Options = &provider.Options{Header: map[string]string{"x-suite": "yes"}}
	if sent, ok, refused := x.attempt("header", req); ok && refused == nil && (sent == nil || sent.Header.Get("X-Suite") != "yes") {
		x.errorf("the header was dropped")
	}
	for _, name := range []string{"Authorization", "x-api-key", "X-Goog-Api-Key", "Cookie", "X-Amz-Security-Token", "Content-Type", "Host"} {
		req.Options = &provider.Options{Header: map[string]string{name: "suite"}}
		if _, ok, refused := x.attempt("header "+name, req); ok && refused == nil {
			x.errorf("the header %s of a config was sent", name)
		}
	}
}

// parts sends files of three kinds. Each comes as bytes before the text of its message, or is refused.
func parts(x *exam) {
	if x.plainBody() == nil {
		return
	}
	for i, media := range []string{"image/png", "application/pdf", "application/x-suite"} {
		data := []byte("the bytes of " + media + strings.Repeat("!", i))
		req := request()
		req.Messages = slices.Clone(req.Messages)
		req.Messages[1].Parts = []provider.Part{{Type: media, Name: "suite", Data: data}}
		sent, ok, refused := x.attempt("part "+media, req)
		if ok && refused == nil {
			x.wantPart(sent, media, base64.StdEncoding.EncodeToString(data))
		}
	}
}

// wantPart requires a part between the texts of two messages.
func (x *exam) wantPart(sent *Sent, media, data string) {
	if sent == nil {
		x.errorf("the part %s did not reach the vendor", media)
		return
	}
	body := string(sent.Body)
	before, at, own := strings.Index(body, "The topic is cars"), strings.Index(body, data), strings.Index(body, "Ban them.")
	if at < 0 || at < before || at > own {
		x.errorf("the part %s is not between the text before it and its own: %d, %d, %d", media, before, at, own)
	}
}

// reasoning lets the model show its thoughts.
func reasoning(x *exam) {
	thoughts := []string{"First, ", "the other side.\n\n", "Then mine."}
	for _, hide := range []bool{false, true} {
		req := request()
		if hide {
			req.Options = &provider.Options{Reasoning: provider.ReasoningHide}
		}
		p := x.open(Scenario{Name: "reasoning apart", Thoughts: thoughts, Reply: []string{"Price ", "them."}})
		a := x.ask(context.Background(), p, req, nil)
		if a.hung || a.err != nil || a.response == nil {
			x.errorf("Generate failed: %v", a.err)
			return
		}
		if a.response.Text != "Price them." {
			x.errorf("the text beside thoughts is %q", a.response.Text)
		}
		switch got := a.response.Reasoning; {
		case hide && (got != "" || len(a.thoughts) > 0):
			x.errorf("thoughts that are to be hidden are shown: %q, %q", got, a.thoughts)
		case !hide && got == "":
			x.t.Log("not checked: the server shows no thoughts")
			return
		case !hide && got != strings.Join(thoughts, ""):
			x.errorf("the thoughts are %q, want %q", got, strings.Join(thoughts, ""))
		}
	}
}

// citations lets the vendor name sources, one of them with a place that is none.
func citations(x *exam) {
	reply := []string{"Prices work – ", "so says a study. Bans do not."}
	text := strings.Join(reply, "")
	start := strings.Index(text, "so says")
	want := []provider.Citation{
		{Title: "A study", URL: "https://example.test/study?a=1", Start: start, End: start + len("so says a study.")},
		{Title: "Another", URL: "https://example.test/other", Start: len(text) - len("Bans do not."), End: len(text)},
	}
	req := request()
	req.Options = &provider.Options{Search: true}
	p := x.open(Scenario{Name: "citations", Reply: reply, Citations: append(slices.Clone(want), provider.Citation{
		Title: "A script", URL: "javascript:alert(1)", Start: 4, End: 2,
	})})
	a := x.ask(context.Background(), p, req, nil)
	switch {
	case a.hung:
		return
	case a.err != nil && kind(a.err) == provider.KindValidation:
		x.t.Log("not checked: the vendor has no search")
		return
	case a.err != nil || a.response == nil:
		x.errorf("Generate failed: %v", a.err)
		return
	case a.response.Text != text:
		x.errorf("the text beside sources is %q", a.response.Text)
		return
	case len(a.response.Citations) == 0:
		x.t.Log("not checked: the server names no sources")
		return
	}
	for i, c := range a.response.Citations {
		c.Quote = ""
		switch {
		case strings.HasPrefix(c.URL, "javascript:"):
			x.errorf("a source has the URL %s", c.URL)
		case c.Start < 0 || c.End < c.Start || c.End > len(text):
			x.errorf("source %d is at %d to %d of %d bytes", i, c.Start, c.End, len(text))
		case i < len(want) && c != want[i]:
			x.errorf("source %d is %+v, want %+v", i, c, want[i])
		}
	}
	if len(a.response.Citations) < len(want) {
		x.errorf("%d sources are left of %d", len(a.response.Citations), len(want))
	}
}
