package token

import (
	"strings"
	"sync"

	"github.com/pkoukk/tiktoken-go"
	loader "github.com/pkoukk/tiktoken-go-loader"
)

// ForModel returns a Counter for a model, with the vocabulary of OpenAI that the beginning of the model's
// name selects. A vendor before the name ("openai/gpt-4") is ignored. For an unknown name, models of
// other vendors included, it returns o200k_base, the newest. That count is an estimate, while [Bytes] is
// an upper bound.
//
// The vocabularies are part of the program; nothing is downloaded. A vocabulary is loaded when it first
// counts a text: about 0.2 s and 22 MiB, once per process. It counts a few MB/s.
//
// Counts are exact, with one exception: a stretch of more than 512 bytes that cannot be divided safely
// ("aaaa…", a wall of dashes) counts as its bytes, because merging it takes quadratic time. The count is
// then an upper bound.
//
// Models with the same vocabulary get the same Counter, so a Counter can be the key of a map of counts.
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

// Published returns the name of the vocabulary that OpenAI has published for a model of its own: "o200k_base" or "cl100k_base". "": it has
// published none. Other vendors use the same names for other models, so whoever counts on it must know who serves the model.
func Published(model string) string {
	name := model[strings.LastIndexByte(model, '/')+1:]
	name = strings.TrimPrefix(name, "ft:")
	for _, known := range published {
		rest, ok := strings.CutPrefix(name, known)
		if ok && (rest == "" || rest[0] == '-' || rest[0] == ':') {
			return ForModel(model).(*vocabulary).name //nolint:forcetypeassert // it returns no other
		}
	}
	return ""
}

// Named returns the Counter of a published vocabulary, by its name. Its counts are those of the vendor, as far as texts go. false: the
// name is unknown.
func Named(name string) (Counter, bool) {
	switch name {
	case o200k.name:
		return o200k, true
	case cl100k.name:
		return cl100k, true
	default:
		return nil, false
	}
}

// published are the chat models of which tiktoken/model.py names the vocabulary, alone or before a date. It is read only.
//
//nolint:gochecknoglobals // read only
var published = [...]string{
	"gpt-3.5-turbo", "gpt-35-turbo", "gpt-4", "gpt-4o", "gpt-4.1", "gpt-4.5", "chatgpt-4o", "gpt-5", "o1", "o3", "o4-mini",
}

// models is read only. The first prefix that matches decides. The assignment is that of OpenAI's tiktoken
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

// The vocabularies. Each is loaded at its first use.
//
//nolint:gochecknoglobals // loaded once, never written
var (
	o200k  = lazy("o200k_base", o200kPattern)
	cl100k = lazy("cl100k_base", cl100kPattern)
	p50k   = lazy("p50k_base", gpt2Pattern)
	r50k   = lazy("r50k_base", gpt2Pattern)
)

// The patterns that divide a text into the pieces to be merged. OpenAI publishes one with each vocabulary
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

// lazy returns a vocabulary that is loaded at its first use. If loading fails, it counts bytes.
func lazy(name, pattern string) *vocabulary {
	return &vocabulary{name, sync.OnceValue(func() *tiktoken.Tiktoken {
		// The loader reads files that are embedded in the program. It uses only the last part of the path.
		ranks, err := loader.NewOfflineLoader().LoadTiktokenBpe(name + ".tiktoken")
		if err != nil {
			return nil
		}
		// No special tokens: in texts of people and models, these strings are ordinary text.
		core, err := tiktoken.NewCoreBPE(ranks, nil, pattern)
		if err != nil {
			return nil
		}
		return tiktoken.NewTiktoken(core, &tiktoken.Encoding{Name: name}, nil)
	})}
}
