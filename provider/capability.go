package provider

import "context"

// The interfaces below are optional abilities of a Provider. Each has one method. [As] finds an ability
// in a provider, or in the provider that it wraps.

// Checker checks whether a model can be used with the credentials at hand, without paying for a reply.
// The engine calls Check while it validates a debate. Kind validation means that the model cannot be used, and kind
// authentication that the key cannot. Any other failure means that the provider could not be asked.
type Checker interface {
	Check(ctx context.Context, model string) error
}

// Lister is a [Checker] that can list the models that may be used with the credentials at hand, without paying for a
// reply. It fails with kind authentication if the key is refused. An empty list means that the vendor has none. The
// engine asks a Lister for the list instead of checking each model. It checks only models that are not in the list, which
// may be aliases.
type Lister interface {
	Models(ctx context.Context) ([]string, error)
}

// Vendor returns the vendor's name in the model table ("openai", "anthropic", …). A host program may
// register the provider under any other name.
type Vendor interface {
	Vendor() string
}

// Voucher vouches for a model: the vendor's own service runs it under the vendor's own name, so that what is published about the name is
// true of it. Budgets count its input in the vocabulary that is published for the name, and bound that of other models by its bytes.
type Voucher interface {
	Vouches(model string) bool
}

// Ability is something that a model may have, and another model may lack.
type Ability string

// The abilities that requests can need.
const (
	AbilityTemperature Ability = "temperature"
	AbilityEffort      Ability = "effort"
	AbilityTopP        Ability = "topP"
	AbilityStop        Ability = "stop"
	AbilitySeed        Ability = "seed"
	AbilityServiceTier Ability = "serviceTier"
	AbilityVerbosity   Ability = "verbosity"
	AbilitySearch      Ability = "search"
	AbilityReasoning   Ability = "reasoning" // shows the text of its thoughts
	AbilitySchema      Ability = "schema"    // holds its replies to a JSON schema
	AbilityTools       Ability = "tools"
	AbilityImage       Ability = "image" // reads images
	AbilityPDF         Ability = "pdf"   // reads PDFs
	AbilityFile        Ability = "file"  // reads files of other media types
)

// Wrapper is a Provider around another one: a rate limit, a log, a cache.
type Wrapper interface {
	Provider
	Unwrap() Provider
}

// Gate is a Wrapper that holds calls back, such as a rate limit. [Through] brings the calls of abilities to it, so that
// it counts them too.
type Gate interface {
	Wrapper
	// Pass makes a call when it may be made, and returns its error. model is the model that the call is about; "": none. If ctx is
	// done first, Pass fails as Generate does. It may also fail in place of a long wait, with kind rate_limit and NotSent set.
	Pass(ctx context.Context, model string, call func(ctx context.Context) error) error
}

// Through finds an ability as [As] does, and calls it through the gates around it, outermost first. ok reports whether
// there is one. The error is that of the call, or that of a gate.
func Through[T any](ctx context.Context, p Provider, model string, call func(ctx context.Context, ability T) error) (ok bool, err error) {
	for p != nil {
		if ability, ok := p.(T); ok {
			return true, call(ctx, ability)
		}
		w, wraps := p.(Wrapper)
		if !wraps {
			break
		}
		p = w.Unwrap()
		if gate, ok := w.(Gate); ok {
			if _, found := As[T](p); !found {
				return false, nil
			}
			err := gate.Pass(ctx, model, func(ctx context.Context) error {
				_, err := Through(ctx, p, model, call)
				return err
			})
			return true, err
		}
	}
	return false, nil
}

// As finds an ability in p, or else in the providers that p wraps, outermost first. The ability of a wrapped provider
// is used directly, past the wrapper; see [Through].
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
