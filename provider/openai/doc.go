// Package openai speaks OpenAI's Responses API through the official SDK, and Chat Completions where a
// server has no other.
//
// # Which API
//
// A [Provider] asks for a reply at /responses. OpenAI's own hosts have that endpoint, and are asked nowhere
// else unless [Provider.API] says so. If another server answers that it has no such endpoint, the same
// request goes to /chat/completions, through package openaicompat, and so does every later one of
// this Provider: the choice costs one request in its life. A server has no such endpoint if it answers
//
//   - 405 or 501, or
//   - 404 with nothing but some form of "not found" (a page, an empty body, FastAPI's
//     {"detail":"Not Found"}, Go's "404 page not found", "Invalid URL"), or with the endpoint's path in
//     its message,
//
// unless its error code speaks of a model or a deployment. Everything else, an unknown model above all,
// is a failure like any other. While the first request finds out, those that begin at the same time wait
// for it; what it does not find out (the server is down, the key is refused) the next ones try for
// themselves. Chat Completions is remembered only if that endpoint has answered: with a reply, or with a
// refusal (4xx) that does not say the same of it. A page, a 5xx and a connection that breaks decide nothing.
// [Provider.API] skips the search.
//
// # What is sent
//
// The system prompt goes as instructions, the conversation as input messages: the speaker's own turns as
// the assistant's, all others as a user's. Results of tools follow the speaker's calls directly and in
// their order, as the API demands: a call without one gets "The tool gave no result.", a result without a
// call is left out. A schema goes as a JSON schema, in strict mode if
// [openaicompat.StrictSchema] can lower it. OpenAI keeps nothing: store is false, and no earlier response
// or conversation is referred to. No metadata, no label, no user and no safety identifier is sent. The
// call's name goes along as X-Client-Request-Id, and the SDK adds its own headers: its version, the
// version of Go, operating system and processor.
//
// With tools, a reasoning model's sealed thoughts are asked for ("reasoning.encrypted_content"), kept in
// [provider.ToolCall.Opaque] and given back before the call that they led to, to the same model alone.
// Models that do not reason refuse the question, so it is put only to those whose name says that they do:
// o1 and later, gpt-5 and later but its chat variants, gpt-oss and codex.
//
// # Caching and cost
//
// OpenAI caches prefixes of prompts by itself. The system prompt is constant over a debate and comes
// first, and its hash goes along as prompt_cache_key, so that requests with the same prefix meet the same
// cache. Usage arrives with the reply's last event, response.completed, response.incomplete or
// response.failed: input tokens with those read from and written to the cache, output tokens with those
// spent on reasoning. A reply that is cut before that event has no usage, and the engine charges an
// estimate. Reasoning is never part of the text, and is paid as output: MaxTokens bounds both together.
//
// # What the SDK does
//
// The SDK writes the requests. It never sees the key, an answer or a failure: its services are built
// without its client, so no environment variable is read, and package wire carries its requests, adds the
// key, and hands it an empty answer. Reasons: a cut stream is a success to the SDK, its errors hold the
// request with its key, it retries by itself, and its answer types take four kilobytes for each two
// bytes of a hostile list. Answers are read here, within the limits of [wire.Endpoint]. A reply is whole
// when its last event came, and only if its parts add up to the text that this event repeats.
package openai
