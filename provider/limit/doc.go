// Package limit keeps calls within what a vendor, or a machine, can take. Its wrappers are providers
// around providers; they let calls wait and never make one again.
//
//	limits := &limit.Rate{Requests: 500, Tokens: 200_000}
//	engine.Providers = map[string]debate.Provider{
//		"openai": limits.Wrap("openai", openaicompat.OpenAI(key)),
//		"local":  (&limit.Concurrency{Calls: 2}).Wrap(openaicompat.Compatible("http://localhost:11434/v1", "")),
//	}
//
// [Rate] is for a vendor that counts requests or tokens per minute. It spreads the calls, and after a
// failure of kind rate_limit it slows down and holds calls for as long as the vendor asked. Several
// wrapped providers, engines and debates share one Rate, as they share the account behind it.
//
// [Concurrency] is for what can only do so much at once: a model on a machine of one's own, a gateway
// with few connections. It does not look at what comes back.
//
// # One around the other
//
// The wrappers may be put around each other in either order. With the Rate inside, next to the vendor,
// a call leaves the moment that the Rate lets it through, and a pause holds it; but while it waits
// there it keeps its place under the Concurrency. That is right for one vendor. A Concurrency that
// several vendors or models share belongs inside: a model that is held then takes no places from the
// others, at the price that calls which the Rate has let through may leave late and in a bunch.
//
// A cache or a recording belongs around both: what it answers takes no part in a limit.
//
// # Queues
//
// Calls wait in the order in which they came, a queue for each model of a Rate, one for a Concurrency.
// Time in a queue does not count against the clock of the call ([provider.Waiting]), so nothing but the
// end of ctx ends a wait. The call then fails with kind canceled, or timeout if ctx had a deadline of
// its own, and NotSent set; it has used up nothing, and who stood behind it moves up. A call whose ctx is
// done already does not enter a queue.
//
// # With Engine.MaxCalls
//
// The engine's MaxCalls bounds the calls of one engine, over all of its providers. It stands before the
// wrappers: a call that waits here has a place under MaxCalls and keeps it, so that a low MaxCalls can be
// taken up by the calls of one slow model while others have nothing to do. An engine whose providers are
// all limited here needs no MaxCalls; set it to bound the memory and the connections of the process, well
// above the number of calls that are to run at once.
//
// What goes past Generate is not limited: an ability that [provider.As] finds in a wrapped provider, such
// as Check, is used past the wrapper.
package limit
