package provider

import "context"

// What a Provider may be able to do besides. Each ability is an interface of one method, and [As]
// finds it, in a provider or in what the provider wraps.

// Checker tells, without paying for a reply, whether a model can be used with the credentials at hand.
// The engine calls it while it validates a debate.
type Checker interface {
	Check(ctx context.Context, model string) error
}

// Vendor yields the vendor's name in the model table ("openai", "anthropic", …), for hosts that
// register the provider under a name of their own.
type Vendor interface {
	Vendor() string
}

// TokenCounter asks the vendor how many input tokens a request is, without paying for a reply. It
// counts what Generate would send: system prompt, messages, tools and schema. It does not modify or
// keep req, and fails with a *[Error].
type TokenCounter interface {
	CountTokens(ctx context.Context, req *Request) (int, error)
}

// Embedder asks a model for the vectors of texts, one for each text and in their order. It fails with
// a *[Error].
type Embedder interface {
	Embed(ctx context.Context, model string, texts []string) (*Embedding, error)
}

// Embedding is what an [Embedder] yields. It is the caller's.
type Embedding struct {
	Vectors [][]float32 // one for each text, all of one length
	Usage   Usage       // Input alone; zero: not reported
	Model   string      // as the vendor reports it; "" if it does not
}

// Wrapper is a Provider around another one: a rate limit, a log, a cache.
type Wrapper interface {
	Provider
	Unwrap() Provider
}

// As finds an ability: in p itself, or in what it wraps. A wrapper guards Generate; an ability that it
// does not have itself is the wrapped provider's, and is used past the wrapper.
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
