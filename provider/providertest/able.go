package providertest

import (
	"context"
	"reflect"
	"slices"

	"github.com/agonist-dev/debate/provider"
)

// telling tests what a provider says that models can do: of any model, and if it cannot ask. A failure is none of its faults: the
// abilities are then unknown.
func telling(x *exam) {
	known := request().Model
	p := x.open(Scenario{Name: "abilities", Reply: []string{yes}, Models: []string{known}})
	able, ok := provider.As[provider.Able](p)
	if !ok {
		x.t.Skip("the provider has no Abilities")
	}
	for _, model := range []string{"model-9", "", "a/b:c@d\x00", known} {
		var has provider.Abilities
		a := x.call(context.Background(), func(ctx context.Context) (err error) {
			has, err = able.Abilities(ctx, model)
			return err
		})
		if a.hung || a.err != nil || model != known {
			continue
		}
		x.agrees(p, has)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	a := x.call(ctx, func(ctx context.Context) error {
		_, err := able.Abilities(ctx, known)
		return err
	})
	if a.err != nil { // what is known without the server can be told all the same
		x.wantKind(a, provider.KindCanceled)
	}
}

// agrees checks that a provider does not refuse to write what it says that a model has.
func (x *exam) agrees(p provider.Provider, has provider.Abilities) {
	vetter, ok := provider.As[provider.Vetter](p)
	if !ok {
		return
	}
	for _, ability := range slices.Sorted(asking()) {
		if !has[ability] {
			continue
		}
		if err := x.vet(vetter, asks(ability)); err != nil {
			x.errorf("Abilities says that the model has %q, and Vet refuses it: %v", ability, err)
		}
	}
}

// offering returns the request with tools, unless the provider says that the model calls none.
func (x *exam) offering(req *provider.Request, tools ...provider.Tool) *provider.Request {
	if !x.toolless() {
		req.Tools = tools
	}
	return req
}

// toolless reports whether the provider says that the model calls no tools.
func (x *exam) toolless() bool {
	able, ok := provider.As[provider.Able](x.open(Scenario{Name: "abilities", Reply: []string{yes}, Models: []string{request().Model}}))
	lacks := false
	if ok {
		x.call(context.Background(), func(ctx context.Context) error {
			has, err := able.Abilities(ctx, request().Model)
			can, known := has[provider.AbilityTools]
			lacks = known && !can
			return err
		})
	}
	return lacks
}

// vetting tests that a provider can vet any request, and refuses none that asks for nothing.
func vetting(x *exam) {
	p := x.open(Scenario{Name: "vet", Reply: []string{yes}})
	vetter, ok := provider.As[provider.Vetter](p)
	if !ok {
		x.t.Skip("the provider has no Vet")
	}
	if err := x.vet(vetter, request()); err != nil {
		x.errorf("Vet refuses a request for text: %v", err)
	}
	_ = x.vet(vetter, &provider.Request{})
	for ability := range asking() {
		req, want := asks(ability), asks(ability)
		if err := x.vet(vetter, req); err != nil && (kind(err) != provider.KindValidation || !fault(err).NotSent) {
			x.errorf("Vet refuses %q in another way than with kind validation and NotSent: %v", ability, err)
		}
		if !reflect.DeepEqual(req, want) {
			x.errorf("Vet changed the request")
		}
	}
}

// vet vets a request. A panic is a fault.
func (x *exam) vet(v provider.Vetter, req *provider.Request) (err error) {
	defer func() {
		if r := recover(); r != nil {
			x.errorf("Vet panics: %v", r)
		}
	}()
	return v.Vet(req)
}

// asking yields the abilities that a request can ask for.
func asking() func(yield func(provider.Ability) bool) {
	return func(yield func(provider.Ability) bool) {
		for _, a := range []provider.Ability{
			provider.AbilityEffort, provider.AbilityTopP, provider.AbilityStop, provider.AbilitySeed, provider.AbilityServiceTier,
			provider.AbilityVerbosity, provider.AbilitySearch, provider.AbilityReasoning, provider.AbilityImage, provider.AbilityPDF,
			provider.AbilityTools,
		} {
			if !yield(a) {
				return
			}
		}
	}
}

// asks returns a request that needs one ability.
func asks(ability provider.Ability) *provider.Request {
	req := &provider.Request{Model: request().Model, MaxTokens: 9000, Last: provider.Message{Text: "Well?"}} // room for thinking
	o, topP, seed := &provider.Options{}, 0.97, int64(7)
	req.Options = o
	switch ability {
	case provider.AbilityEffort:
		o.Effort = provider.EffortHigh
	case provider.AbilityTopP:
		o.TopP = &topP
	case provider.AbilityStop:
		o.Stop = []string{"END"}
	case provider.AbilitySeed:
		o.Seed = &seed
	case provider.AbilityServiceTier:
		o.ServiceTier = "flex"
	case provider.AbilityVerbosity:
		o.Verbosity = provider.VerbosityLow
	case provider.AbilitySearch:
		o.Search = true
	case provider.AbilityReasoning:
		o.Reasoning = provider.ReasoningAsk
	case provider.AbilityImage:
		req.Last.Parts = []provider.Part{{Type: "image/png", Name: "a.png", Data: []byte("\x89PNG\r\n\x1a\n")}}
	case provider.AbilityPDF:
		req.Last.Parts = []provider.Part{{Type: "application/pdf", Name: "a.pdf", Data: []byte("%PDF-1.7")}}
	case provider.AbilityTools:
		req.Tools = []provider.Tool{tool()}
	default: // asks for nothing
	}
	return req
}
