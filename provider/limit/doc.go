// Package limit keeps the rate and the number of calls within what a vendor, or a machine, can take. Its
// wrappers are providers around providers. They delay calls; they never retry one.
//
//	limits := &limit.Rate{Requests: 500, Tokens: 200_000}
//	engine.Providers = map[string]debate.Provider{
//		"openai": limits.Wrap("openai", openaicompat.OpenAI(key)),
//		"local":  (&limit.Concurrency{Calls: 2}).Wrap(openaicompat.Compatible("http://localhost:11434/v1", "")),
//	}
//
// [Rate] is for a vendor that counts requests or tokens per minute. It spreads the calls. After a failure
// of kind rate_limit it slows down, and holds calls for as long as the vendor asked. Several wrapped
// providers, engines and debates can share one Rate, just as they share the account behind it.
//
// [Concurrency] is for a service that can do only so much at once: a model on your own machine, or a
// gateway with few connections. It ignores the results of calls.
//
// # Several machines
//
// With a [Ledger], such as a store of package store/sql, the limits hold for all machines together:
//
//	limits := &limit.Rate{Requests: 500, Ledger: store}
//	defer limits.Close()
//
// A machine takes portions of the limit from the ledger, and returns what it does not use. So the ledger gets
// few updates, and calls start without asking it.
//
// # Combining wrappers
//
// The wrappers can wrap each other in either order:
//
//   - Rate inside, next to the vendor: a call is sent at the moment that the Rate admits it, and a pause
//     holds it. While the call waits there, it keeps its place under the Concurrency. Use this order for
//     a single vendor.
//   - Concurrency inside: use this order if several vendors or models share the Concurrency. A model that
//     is held then takes no places from the others. The price is that calls which the Rate has admitted
//     may be sent late and in a burst.
//
// A cache or a recording belongs around both, so that the replies it answers itself do not count against
// a limit.
//
// # Queues
//
// Calls wait in order of arrival. A Rate has one queue per model, a Concurrency has one queue. Time in a
// queue does not count against the clock of the call ([provider.Waiting]), so only the end of ctx ends a
// wait. The call then fails with NotSent set, and with kind canceled, or timeout if ctx had a deadline of
// its own. It has used up nothing, and the calls behind it move up. A call whose ctx is done already does
// not enter a queue.
//
// # With Engine.MaxCalls
//
// The engine's MaxCalls caps the calls of one engine, over all its providers. It comes before the
// wrappers: a call that waits here holds a place under MaxCalls. With a low MaxCalls, the calls of one
// slow model can occupy all places while other models are idle. An engine whose providers are all limited
// here needs no MaxCalls. Set it to bound the memory and the connections of the process, well above the
// number of calls that should be in flight.
//
// # Abilities
//
// Calls of abilities, such as Check, are limited like those of Generate if they are made with [provider.Through], as the engine
// does, but do not wait for other calls: see [Paced.Pass]. An ability that [provider.As] finds in a wrapped provider is called directly,
// past the wrapper.
package limit
