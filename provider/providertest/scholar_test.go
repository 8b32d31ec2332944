package providertest_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scholar is a model with abilities; a test spoils one thing.
type scholar struct {
	*model

	spoil string
}

func (p scholar) act(ctx context.Context) error {
	if ctx.Err() != nil && p.spoil != "is deaf" {
		return p.ended(ctx.Err())
	}
	if p.spoil == "shows the key" && p.s.Fail != "" {
		return &provider.Error{Kind: p.s.Fail, Message: p.s.Key}
	}
	if p.spoil == "never fails" {
		return nil
	}
	return p.failure()
}

func (p scholar) Check(ctx context.Context, model string) error {
	switch {
	case p.spoil == "knows nothing", p.spoil == "blames itself" && model == "model-9":
		return &provider.Error{Kind: provider.KindAPI}
	case p.s.Models != nil && !slices.Contains(p.s.Models, model):
		return &provider.Error{Kind: provider.KindValidation}
	}
	return p.act(ctx)
}

func (p scholar) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	switch p.spoil {
	case "estimates":
		return p.s.Tokens + 1, p.act(ctx)
	case "edits":
		req.Model = "x"
	case "knows nothing":
		return 0, &provider.Error{Kind: provider.KindAPI}
	}
	return p.s.Tokens, p.act(ctx)
}

func (p scholar) Embed(ctx context.Context, _ string, _ []string) (*provider.Embedding, error) {
	if err := p.act(ctx); err != nil {
		return nil, err
	}
	vectors := slices.Clone(p.s.Vectors)
	switch p.spoil {
	case "estimates":
		slices.Reverse(vectors)
	case "knows nothing":
		return nil, &provider.Error{Kind: provider.KindAPI}
	}
	return &provider.Embedding{Vectors: vectors}, nil
}

func (p scholar) Abilities(context.Context, string) (provider.Abilities, error) {
	if p.spoil == "panics" {
		panic("never asked") //nolint:forbidigo // the fault that the suite must find
	}
	return provider.Abilities{provider.AbilityEffort: true, provider.AbilitySeed: false}, nil
}

func (p scholar) Vet(req *provider.Request) error {
	failure := &provider.Error{Kind: provider.KindValidation, NotSent: true}
	switch o := req.Options; {
	case p.spoil == "panics":
		panic("never asked") //nolint:forbidigo // the fault that the suite must find
	case p.spoil == "edits":
		req.Model = "x"
	case p.spoil == "contradicts" && o != nil && o.Effort != "", o != nil && o.Seed != nil:
		return failure
	case p.spoil == "refuses text":
		return failure
	case p.spoil == "blames the vendor" && o != nil:
		return &provider.Error{Kind: provider.KindAPI}
	}
	return nil
}

func scholars(spoil string) providertest.Connect {
	return func(t *testing.T, s providertest.Scenario) provider.Provider {
		return scholar{&model{s: s, quit: t.Context().Done()}, spoil}
	}
}

func TestGoodAbilitiesPass(t *testing.T) {
	t.Run("all", func(t *testing.T) { providertest.RunAbilities(t, scholars("")) })
	t.Run("none", func(t *testing.T) { providertest.RunAbilities(t, connect(nil)) })
}

func TestBadAbilitiesFail(t *testing.T) {
	for _, tt := range []struct{ spoil, name, want string }{
		{"knows nothing", "check", "Check fails"},
		{"knows nothing", "count", "CountTokens failed"},
		{"knows nothing", "embed", "Embed failed"},
		{"blames itself", "check", `want "validation"`},
		{"estimates", "count", "yields 43"},
		{"estimates", "embed", "other vectors"},
		{"edits", "count", "changed the request"},
		{"never fails", "check", "of kind authentication"},
		{"never fails", "count", "of kind api_error"},
		{"never fails", "embed", "of kind authentication"},
		{"is deaf", "check", "of kind canceled"},
		{"is deaf", "count", "of kind canceled"},
		{"is deaf", "embed", "of kind canceled"},
		{"shows the key", "check", "shows the key"},
		{"shows the key", "count", "shows the key"},
		{"shows the key", "embed", "shows the key"},
		{"panics", "abilities", "it panics: never asked"},
		{"panics", "vet", "Vet panics: never asked"},
		{"contradicts", "abilities", `says that the model has "effort", and Vet refuses it`},
		{"edits", "vet", "changed the request"},
		{"refuses text", "vet", "refuses a request for text"},
		{"blames the vendor", "vet", "in another way than with kind validation"},
	} {
		t.Run(tt.spoil+"/"+tt.name, func(t *testing.T) {
			faults := providertest.Examine(t, tt.name, scholars(tt.spoil))
			require.NotEmpty(t, faults, "the suite noticed nothing")
			assert.Contains(t, errors.Join(faults...).Error(), tt.want)
		})
	}
}
