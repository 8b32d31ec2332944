package scripted

import (
	"context"
	"hash/fnv"
	"math"
	"strings"
	"unicode"

	"github.com/agonist-dev/debate/provider"
)

// dimensions is the length of the vectors that wordVector makes.
const dimensions = 256

// Check calls OnCheck.
func (p *Provider) Check(ctx context.Context, model string) error {
	if p.OnCheck == nil {
		return nil
	}
	return p.OnCheck(ctx, model)
}

// Abilities calls OnAbilities. Without it, nothing is known of any model.
func (p *Provider) Abilities(ctx context.Context, model string) (provider.Abilities, error) {
	if p.OnAbilities == nil {
		return nil, nil //nolint:nilnil // an empty answer: nothing is known
	}
	return p.OnAbilities(ctx, model)
}

// Account calls OnAccount. Without it, the account is unknown.
func (p *Provider) Account(ctx context.Context) string {
	if p.OnAccount == nil {
		return ""
	}
	return p.OnAccount(ctx)
}

// Vet calls OnVet. Without it, every request can be written.
func (p *Provider) Vet(req *provider.Request) error {
	if p.OnVet == nil {
		return nil
	}
	return p.OnVet(req)
}

// CountTokens calls OnCount.
func (p *Provider) CountTokens(ctx context.Context, req *provider.Request) (int, error) {
	switch {
	case ctx.Err() != nil:
		return 0, ended(ctx.Err(), true)
	case p.OnCount == nil:
		return estimate(req, "").Input, nil
	default:
		return p.OnCount(ctx, req)
	}
}

// Embed calls OnEmbed for each text. Its usage is estimated: one token for four bytes.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) (*provider.Embedding, error) {
	out := &provider.Embedding{Vectors: make([][]float32, len(texts)), Model: model}
	for i, text := range texts {
		if ctx.Err() != nil {
			return nil, ended(ctx.Err(), i == 0)
		}
		out.Usage.Input += max(1, len(text)/4)
		if p.OnEmbed == nil {
			out.Vectors[i] = wordVector(text)
			continue
		}
		vector, err := p.OnEmbed(ctx, model, text)
		if err != nil {
			return nil, err
		}
		out.Vectors[i] = vector
	}
	return out, nil
}

// wordVector counts the words of a text at indexes given by their hashes. The vector has length 1.
func wordVector(text string) []float32 {
	vector := make([]float32, dimensions)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && r != '\''
	}) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(word))
		vector[h.Sum32()%dimensions]++
	}
	length := 0.0
	for _, x := range vector {
		length += float64(x) * float64(x)
	}
	if length == 0 { // no word: a direction of its own
		vector[0], length = 1, 1
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(length))
	}
	return vector
}
