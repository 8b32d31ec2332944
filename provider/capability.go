package provider

import "context"

// The interfaces below are optional abilities of a Provider. Each has one method. [As] finds an ability
// in a provider, or in the provider that it wraps.

// Checker checks whether a model can be used with the credentials at hand, without paying for a reply.
// The engine calls Check while it validates a debate.
type Checker interface {
	Check(ctx context.Context, model string) error
}

// Vendor returns the vendor's name in the model table ("openai", "anthropic", …). A host program may
// register the provider under any other name.
type Vendor interface {
	Vendor() string
}

// TokenCounter asks the vendor how many input tokens a request has, without paying for a reply. It counts
// what Generate would send: system prompt, messages, tools and schema. It does not modify or keep req. It
// fails with a *[Error].
type TokenCounter interface {
	CountTokens(ctx context.Context, req *Request) (int, error)
}

// Embedder asks a model for the vectors of texts. It returns one vector per text, in the order of the
// texts. It fails with a *[Error].
type Embedder interface {
	Embed(ctx context.Context, model string, texts []string) (*Embedding, error)
}

// Embedding is the result of an [Embedder]. It belongs to the caller.
type Embedding struct {
	Vectors [][]float32 // one for each text, all of the same length
	Usage   Usage       // only Input is set; zero: not reported
	Model   string      // as the vendor reports it; "" if it reports none
}

// Wrapper is a Provider around another one: a rate limit, a log, a cache.
type Wrapper interface {
	Provider
	Unwrap() Provider
}

// As finds an ability in p, or else in the providers that p wraps, outermost first. A wrapper guards
// Generate only: an ability of the wrapped provider is used directly, past the wrapper.
func As[T any](p Provider) (ability T, ok bool) {
	for p != nil {
		if ability, ok = p.(T); ok {
			return ability, true
		}
		w, wraps := p.(Wrapper)
		if !wraps {
			break
		}
		p = w.Unwrap()
	}
	return ability, false
}
