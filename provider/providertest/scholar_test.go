package providertest_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// scholar is a model with a Check; a test spoils one thing.
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
		{"blames itself", "check", `want "validation"`},
		{"never fails", "check", "of kind authentication"},
		{"is deaf", "check", "of kind canceled"},
		{"shows the key", "check", "shows the key"},
	} {
		t.Run(tt.spoil+"/"+tt.name, func(t *testing.T) {
			faults := providertest.Examine(t, tt.name, scholars(tt.spoil))
			require.NotEmpty(t, faults, "the suite noticed nothing")
			assert.Contains(t, strings.Join(faults, "\n"), tt.want)
		})
	}
}
