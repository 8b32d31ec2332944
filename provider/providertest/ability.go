package providertest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/agonist-dev/debate/provider"
)

// RunAbilities tests the abilities of a provider besides Generate: [provider.Checker],
// [provider.TokenCounter], [provider.Embedder], [provider.Able] and [provider.Vetter]. What the provider says of its abilities and
// what it refuses to write must agree. It skips abilities that the provider does not have.
//
// The server that connect starts must answer with the scenario's Models, Tokens and Vectors. If Fail is set, it answers every
// request with that failure. The rules of [Run] apply.
func RunAbilities(t *testing.T, connect Connect) {
	t.Helper()
	run(t, connect, abilities())
}

func abilities() []testCase {
	return []testCase{{"check", checking}, {"count", counting}, {"embed", embedding}, {"abilities", telling}, {"vet", vetting}}
}

// call runs an ability as ask runs Generate, so that an ability that hangs is a failure.
func (x *exam) call(ctx context.Context, do func(ctx context.Context) error) answer {
	return x.ask(ctx, doing(do), request(), nil)
}

// doing makes a provider of a call, so that ask can check it.
type doing func(ctx context.Context) error

// Generate calls it.
func (d doing) Generate(ctx context.Context, _ *provider.Request, _ func(provider.Chunk)) (*provider.Response, error) {
	if err := d(ctx); err != nil {
		return nil, err
	}
	return &provider.Response{}, nil
}

// ability tests what holds for every ability: it fails as Generate does.
func (x *exam) ability(name string, do func(ctx context.Context, p provider.Provider) error) {
	for _, want := range []provider.Kind{provider.KindAuthentication, provider.KindAPI} {
		p := x.open(Scenario{Name: name + ", failure " + string(want), Fail: want})
		x.wantKind(x.call(context.Background(), func(ctx context.Context) error { return do(ctx, p) }), want)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := x.open(Scenario{Name: name + ", canceled", Reply: []string{yes}, Tokens: 1, Vectors: [][]float32{{1}}, Models: []string{"model-1"}})
	x.wantKind(x.call(ctx, func(ctx context.Context) error { return do(ctx, p) }), provider.KindCanceled)
}

func checking(x *exam) {
	check := func(ctx context.Context, p provider.Provider) error {
		c, _ := provider.As[provider.Checker](p)
		return c.Check(ctx, "model-1")
	}
	p := x.open(Scenario{Name: "check", Reply: []string{yes}, Models: []string{"model-1"}})
	c, ok := provider.As[provider.Checker](p)
	if !ok {
		x.t.Skip("the provider has no Check")
	}
	if a := x.call(context.Background(), func(ctx context.Context) error { return check(ctx, p) }); a.err != nil {
		x.errorf("Check fails for a model that the server knows: %v", a.err)
	}
	// A server may know nothing about models. But if it does, an unknown model is an invalid request.
	a := x.call(context.Background(), func(ctx context.Context) error { return c.Check(ctx, "model-9") })
	if a.err != nil && kind(a.err) != provider.KindValidation {
		x.wantKind(a, provider.KindValidation)
	}
	x.ability("check", check)
}

func counting(x *exam) {
	p := x.open(Scenario{Name: "count", Reply: []string{yes}, Tokens: 42})
	if _, ok := provider.As[provider.TokenCounter](p); !ok {
		x.t.Skip("the provider has no CountTokens")
	}
	req, want := request(), request()
	n := 0
	count := func(ctx context.Context, p provider.Provider) (err error) {
		c, _ := provider.As[provider.TokenCounter](p)
		n, err = c.CountTokens(ctx, req)
		return err
	}
	a := x.call(context.Background(), func(ctx context.Context) error { return count(ctx, p) })
	switch {
	case a.err != nil:
		x.errorf("CountTokens failed: %v", a.err)
	case n != 42:
		x.errorf("CountTokens yields %d, the server said 42", n)
	}
	if what := touched(req, want); what != "" {
		x.errorf("CountTokens changed the request: %s", what)
	}
	x.ability("count", count)
}

func embedding(x *exam) {
	want := [][]float32{{0.5, -1}, {0.25, 0}, {0, 1}}
	p := x.open(Scenario{Name: "embed", Vectors: want, Model: "model-1"})
	if _, ok := provider.As[provider.Embedder](p); !ok {
		x.t.Skip("the provider has no Embed")
	}
	var got *provider.Embedding
	embed := func(ctx context.Context, p provider.Provider) (err error) {
		e, _ := provider.As[provider.Embedder](p)
		got, err = e.Embed(ctx, "model-1", []string{"cars", "buses", "bikes"})
		return err
	}
	a := x.call(context.Background(), func(ctx context.Context) error { return embed(ctx, p) })
	switch {
	case a.hung:
	case a.err != nil:
		x.errorf("Embed failed: %v", a.err)
	case got == nil || !sameVectors(got.Vectors, want):
		x.errorf("Embed yields other vectors than the server sent, or in another order")
	}
	x.ability("embed", embed)
}

func sameVectors(a, b [][]float32) bool {
	return slices.EqualFunc(a, b, slices.Equal)
}

// able returns the abilities as calls, for the rows of the fault table.
func able(p provider.Provider) map[string]doing {
	list := map[string]doing{}
	if c, ok := provider.As[provider.Checker](p); ok {
		list["check"] = func(ctx context.Context) error { return c.Check(ctx, "model-1") }
	}
	if c, ok := provider.As[provider.TokenCounter](p); ok {
		list["count"] = func(ctx context.Context) error {
			_, err := c.CountTokens(ctx, request())
			return err
		}
	}
	if e, ok := provider.As[provider.Embedder](p); ok {
		list["embed"] = func(ctx context.Context) error {
			_, err := e.Embed(ctx, "model-1", []string{"cars", "buses"})
			return err
		}
	}
	return list
}

// besides tests everything about each ability that does not depend on a vendor's words.
func besides(h *HTTP) []check {
	var list []check
	for _, name := range []string{"check", "count", "embed"} {
		list = append(list, check{name: name, run: func(x *bench) {
			if _, ok := able(h.Connect(x.t, x.server(nil)))[name]; !ok {
				x.t.Skip("the provider cannot do that")
			}
			x.abilityFails(name)
			x.abilityEnds(name)
		}})
	}
	return list
}

// with makes one exchange with an ability.
func (x *bench) with(name string, e exchange) outcome {
	e.ability = name
	return x.try(e)
}

func (x *bench) abilityFails(name string) {
	said := "application/json\n\n{\"error\":{\"message\":\"not with " + echo() + "\"}}"
	for _, tt := range []struct {
		status int
		want   provider.Kind
	}{
		{401, provider.KindAuthentication},
		{403, provider.KindAuthentication},
		{429, provider.KindRateLimit},
		{500, provider.KindAPI},
		{504, provider.KindTimeout},
		{307, provider.KindValidation},
	} {
		out := x.with(name, exchange{script: func(v *visit) {
			v.send(refusal(tt.status, said, "Retry-After: 7", "Location: http://elsewhere.test/"))
		}})
		x.wantOne(name, out.answer, tt.want)
	}
	x.wantOne(name, x.with(name, exchange{refuse: errors.New(echo())}).answer, provider.KindNetwork)
	for _, answer := range []string{"", "SSH-2.0\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{\"data\":["} {
		out := x.with(name, exchange{script: func(v *visit) { v.send([]byte(answer)) }})
		x.wantOne(name, out.answer, provider.KindNetwork, provider.KindInvalidResponse)
	}
}

func (x *bench) abilityEnds(name string) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{\"data\":["
	f := flood{first: []byte(head), part: block(`{"id":"x"},`), limit: endless}
	x.wantOne(name, x.with(name, exchange{script: f.script}).answer, provider.KindInvalidResponse)
	if f.passed >= f.limit {
		x.errorf("%s: it took all %d KiB that the server sent", name, f.limit>>10)
	}
	for _, part := range []string{"", head} {
		out := x.with(name, exchange{script: func(v *visit) {
			v.send([]byte(part))
			v.hold()
		}})
		x.wantOne(name, out.answer, provider.KindTimeout)
		x.wantQuick(name, out.took, 2*benchIdle+atOnce)
		ctx, cancel := context.WithCancel(x.t.Context())
		out = x.with(name, exchange{ctx: ctx, script: func(v *visit) {
			v.send([]byte(part))
			x.settle()
			cancel()
			v.hold()
		}})
		cancel()
		x.wantOne(name, out.answer, provider.KindCanceled)
		x.wantQuick(name, out.took, atOnce)
		x.wantGone(name, out)
	}
}
