package providertest

import (
	"context"
	"errors"
	"testing"

	"github.com/agonist-dev/debate/provider"
)

// RunAbilities tests whether a provider that is a [provider.Checker] finds models and fails as Generate does. It skips other providers.
//
// The server that connect starts must answer with the scenario's Models. If Fail is set, it answers every request with that failure.
// The rules of [Run] apply.
func RunAbilities(t *testing.T, connect Connect) {
	t.Helper()
	run(t, connect, abilities())
}

func abilities() []testCase { return []testCase{{"check", checking}} }

// checker makes a provider of a Check, so that ask can check the call.
type checker struct {
	provider.Checker

	model string
}

// Generate calls Check.
func (c checker) Generate(ctx context.Context, _ *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	if err := c.Check(ctx, c.model); err != nil {
		return nil, err
	}
	return &provider.Response{}, nil
}

func checking(x *exam) {
	check := func(ctx context.Context, s Scenario, model string) answer {
		c, ok := provider.As[provider.Checker](x.open(s))
		if !ok {
			x.t.Skip("the provider has no Check")
		}
		return x.ask(ctx, checker{c, model}, request(), nil)
	}
	const known = "model-1"
	s := Scenario{Name: "check", Reply: []string{yes}, Models: []string{known}}
	if a := check(context.Background(), s, known); a.err != nil {
		x.errorf("Check fails for a model that the server knows: %v", a.err)
	}
	// A server may know nothing about models. But if it does, an unknown model is an invalid request.
	a := check(context.Background(), s, "model-9")
	if a.err != nil && kind(a.err) != provider.KindValidation {
		x.wantKind(a, provider.KindValidation)
	}
	for _, want := range []provider.Kind{provider.KindAuthentication, provider.KindAPI} {
		x.wantKind(check(context.Background(), Scenario{Name: "check, failure " + string(want), Fail: want}, known), want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	s.Name = "check, canceled"
	x.wantKind(check(ctx, s, known), provider.KindCanceled)
}

// besides tests everything about Check that does not depend on a vendor's words.
func besides(h *HTTP) []check {
	return []check{{name: "check", run: func(x *bench) {
		if _, ok := provider.As[provider.Checker](h.Connect(x.t, x.server(nil))); !ok {
			x.t.Skip("the provider cannot do that")
		}
		x.checkFails()
		x.checkEnds()
	}}}
}

// checked makes one exchange with Check.
func (x *bench) checked(e exchange) outcome {
	e.check = true
	return x.try(e)
}

func (x *bench) checkFails() {
	const words = "application/json\n\n"
	said := words + `{"error":{"message":"not with ` + echo() + `"}}`
	for _, tt := range []struct {
		status int
		want   provider.Kind
	}{
		{401, provider.KindAuthentication},
		{403, provider.KindAuthentication},
		{408, provider.KindTimeout},
		{409, provider.KindAPI},
		{429, provider.KindRateLimit},
		{500, provider.KindAPI},
		{503, provider.KindAPI},
		{504, provider.KindTimeout},
		{307, provider.KindValidation},
	} {
		out := x.checked(exchange{script: func(v *visit) {
			v.send(refusal(tt.status, said, "Retry-After: 7", "X-Should-Retry: true", "Location: http://elsewhere.test/"))
		}})
		x.wantOne("check", out.answer, tt.want)
	}
	// Whether these are failures is the vendor's affair. That no failure shows the key is checked of all.
	for _, status := range []int{200, 400, 404, 405} {
		for _, body := range []string{
			words + `{"error":{"message":"not with ` + canary + `","code":"` + canary + `"}}`, words + `{"` + canary + `":1}`,
			"text/plain\n\nnot with " + canary, words + "{", words + "[]",
		} {
			x.checked(exchange{most: 2, script: func(v *visit) { v.send(refusal(status, body)) }})
		}
	}
	x.wantOne("check", x.checked(exchange{refuse: errors.New(echo())}).answer, provider.KindNetwork)
	for _, answer := range []string{"", "SSH-2.0\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"data\":["} {
		out := x.checked(exchange{script: func(v *visit) { v.send([]byte(answer)) }})
		x.wantOne("check", out.answer, provider.KindNetwork, provider.KindInvalidResponse)
	}
}

func (x *bench) checkEnds() {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"data\":["
	f := flood{first: []byte(head), part: block(`{"id":"x"},`), limit: endless}
	x.wantOne("check", x.checked(exchange{script: f.script}).answer, provider.KindInvalidResponse)
	if f.passed >= f.limit {
		x.errorf("check: it took all %d KiB that the server sent", f.limit>>10)
	}
	for _, part := range []string{"", head} {
		out := x.checked(exchange{script: func(v *visit) {
			v.send([]byte(part))
			v.hold()
		}})
		x.wantOne("check", out.answer, provider.KindTimeout)
		x.wantQuick("check", out.took, 2*benchIdle+atOnce)
		ctx, cancel := context.WithCancel(x.t.Context())
		out = x.checked(exchange{ctx: ctx, script: func(v *visit) {
			v.send([]byte(part))
			x.settle()
			cancel()
			v.hold()
		}})
		cancel()
		x.wantOne("check", out.answer, provider.KindCanceled)
		x.wantQuick("check", out.took, atOnce)
		x.wantGone("check", out)
	}
}
