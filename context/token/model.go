package token

import (
	"strings"
	"sync"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// ForModel yields the Counter of OpenAI's vocabulary for a model, by the beginning of its name; a
// vendor before it ("openai/gpt-4") does not matter. Names that it does not know, other vendors' among
// them, get o200k_base, the newest: an estimate then, where [Bytes] is a bound.
//
// Vocabularies are part of the program; nothing is fetched. One is loaded when it first counts
// something: about 0.2 s and 22 MiB, once per process. Counting runs at a few MB/s.
//
// A stretch of more than 512 bytes without a place to divide it safely ("aaaa…", a wall of dashes)
// counts by its bytes, because merging it takes quadratic time. The count then is an upper bound;
// otherwise it is exact.
//
// Models of one vocabulary get the same Counter: counts may be kept under it, as the key of a map.
func ForModel(model string) Counter {
	name := model[strings.LastIndexByte(model, '/')+1:]
	name = strings.TrimPrefix(name, "ft:") // fine-tuned: "ft:gpt-4o-mini:…"
	for _, m := range models {
		if strings.HasPrefix(name, m.prefix) {
			return m.vocabulary
		}
	}
	return o200k
}

// models is read only; the first prefix that fits counts. The assignment is that of OpenAI's tiktoken
// (tiktoken/model.py).
//
//nolint:gochecknoglobals // read only
var models = [...]struct {
	prefix     string
	vocabulary *vocabulary
}{
	{"gpt-4o", o200k},
	{"gpt-4.", o200k},
	{"gpt-4", cl100k},
	{"gpt-3", cl100k},
	{"text-embedding-", cl100k},
	{"davinci-002", cl100k},
	{"babbage-002", cl100k},
	{"text-davinci-002", p50k},
	{"text-davinci-003", p50k},
	{"code-davinci-", p50k},
	{"code-cushman-", p50k},
	{"text-davinci-", r50k},
	{"text-curie-", r50k},
	{"text-babbage-", r50k},
	{"text-ada-", r50k},
	{"davinci", r50k},
	{"curie", r50k},
	{"babbage", r50k},
	{"ada", r50k},
	{"gpt2", r50k},
	{"gpt-2", r50k},
}

// The vocabularies, each loaded at its first use.
//
//nolint:gochecknoglobals // loaded once, never written
var (
	o200k  = lazy("o200k_base", o200kPattern)
	cl100k = lazy("cl100k_base", cl100kPattern)
	p50k   = lazy("p50k_base", gpt2Pattern)
	r50k   = lazy("r50k_base", gpt2Pattern)
)

// The patterns that divide a text into what is merged, as OpenAI publishes them with each vocabulary
// (tiktoken_ext/openai_public.py).
const (
	o200kPattern = `[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` + ending +
		`|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*` + ending +
		`|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	ending        = `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`
	cl100kPattern = `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}` +
		`| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
	gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
)

// lazy yields a vocabulary that is loaded once, or one that counts bytes if it cannot be.
func lazy(name, pattern string) *vocabulary {
	return &vocabulary{sync.OnceValue(func() *tiktoken.Tiktoken {
		// The loader reads files that are embedded in the program; it takes the last part of the path.
		ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
		if err != nil {
			return nil
		}
		// Special tokens are left out: in what people and models write, they are ordinary text.
		core, err := tiktoken.NewCoreBPE(ranks, nil, pattern)
		if err != nil {
			return nil
		}
		return tiktoken.NewTiktoken(core, &tiktoken.Encoding{Name: name}, nil)
	})}
}
