package openai

import (
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math"

	sdk "github.com/openai/openai-go/v3"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

const maxVector = 1 << 16 // numbers

// These are the limits of one request for vectors. OpenAI accepts 2048 texts and 300,000 tokens. No text
// has more tokens than bytes, and this many vectors stay within MaxBody even as decimals.
const (
	maxTexts     = 256
	maxTextBytes = 256 << 10
)

// Embed asks at /embeddings for the vectors of texts. It makes as many requests as the number and length
// of the texts require, one after the other; without texts, it makes none. It fails with kind
// invalid_response if a vector is missing or has another length than the first.
func (p *Provider) Embed(ctx context.Context, model string, texts []string) (*provider.Embedding, error) {
	all := &provider.Embedding{Vectors: make([][]float32, 0, len(texts))}
	for some := range wire.Batches(texts, maxTexts, maxTextBytes) {
		if err := p.embed(ctx, model, some, all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// vectors is the server's answer. It replaces the SDK's type, which takes two hundred bytes for each byte
// of a hostile number.
type vectors struct {
	Model string `json:"model"`
	Data  wire.List[struct {
		Index  int    `json:"index"`
		Vector vector `json:"embedding"`
	}] `json:"data"`
	Usage json.RawMessage `json:"usage"`
}

// vector is a list of numbers, or their bytes in base64. Servers that do not know encoding_format send
// the list.
type vector []float32

// UnmarshalJSON reads either form.
func (v *vector) UnmarshalJSON(data []byte) error {
	if len(data) == 0 || data[0] != '"' {
		return json.Unmarshal(data, (*wire.Vector)(v))
	}
	if len(data) > base64.StdEncoding.EncodedLen(4*maxVector)+2 {
		return wire.ErrLong
	}
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return err
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return err
	}
	if len(b)%4 != 0 {
		return base64.CorruptInputError(len(b))
	}
	*v = make(vector, len(b)/4)
	for i := range *v {
		(*v)[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return nil
}

// embed adds the vectors of one batch.
func (p *Provider) embed(ctx context.Context, model string, texts []string, all *provider.Embedding) error {
	x, err := p.Open(ctx, "")
	if err != nil {
		return err
	}
	defer x.Close()
	service := sdk.NewEmbeddingService(p.options(x)...)
	_, err = service.New(x.Context(), sdk.EmbeddingNewParams{
		Model:          model,
		Input:          sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
		EncodingFormat: sdk.EmbeddingNewParamsEncodingFormatBase64,
	})
	if err = x.Answered(err); err != nil {
		return err
	}
	data, err := io.ReadAll(x)
	if err != nil {
		return x.Cut(err)
	}
	var answer vectors
	if json.Unmarshal(data, &answer) != nil || len(answer.Data) == 0 {
		return x.Unexpected(data, "no_vectors", "the answer has no vectors in it")
	}
	answer.Model = x.Redact(answer.Model)
	if !answer.appendTo(all, len(texts)) {
		return x.Invalid("vectors", "the vectors are not one for each text, all of one length")
	}
	return nil
}

// appendTo adds the vectors of n texts in order. It reports whether there is one for each text, with the
// length of those before it, and finite numbers only.
func (a *vectors) appendTo(all *provider.Embedding, n int) bool {
	if len(a.Data) != n {
		return false
	}
	first := len(all.Vectors)
	all.Vectors = append(all.Vectors, make([][]float32, n)...)
	for i := range a.Data {
		at, v := a.Data[i].Index, a.Data[i].Vector
		if at < 0 || at >= n || len(v) == 0 || !wire.Vector(v).Finite() {
			return false
		}
		all.Vectors[first+at] = v
	}
	for _, v := range all.Vectors[first:] {
		if len(v) != len(all.Vectors[0]) { // or missing, because another came twice
			return false
		}
	}
	var u struct {
		Prompt wire.Count `json:"prompt_tokens"`
	}
	if json.Unmarshal(a.Usage, &u) == nil {
		all.Usage.Input += int(u.Prompt)
	}
	if a.Model != "" {
		all.Model = a.Model
	}
	return true
}
