// Package openai implements OpenAI's Responses API, and falls back to Chat Completions if a server has no other.
//
// # Which API
//
// A [Provider] asks for a reply at /responses. OpenAI's own hosts have that endpoint, so they are asked
// nowhere else unless [Provider.API] says so. If another server answers that it has no such endpoint, the
// same request goes to /chat/completions, through package openaicompat, and so does every later request
// of this Provider. Finding out costs a request or a few in the Provider's life. Any failure that comes before
// something of a reply may mean that: a 404, a page, a refusal in whatever words, an error under a status of
// 200, a failure of the server. Some do not, because the other API would answer the same:
//
//   - a failure that names the model, or whose code speaks of it;
//   - a refused key (401, or a 403 that says more than "forbidden"), a limit, an empty account, a filter, a full window;
//   - a timeout, a broken connection, a redirect.
//
// If the server has no chat completions either, the failure of the first request is reported.
//
// While the first request finds out, requests that begin at the same time wait for it, 50 ms at most; then they find
// out by themselves. If it does not find out (the server is down, the key is refused), the next requests try again. Chat Completions is
// remembered only if that endpoint has answered: with a reply, or with a refusal (4xx) that is about
// something else than the endpoint. A web page, a 5xx, a 403 that says no more than "forbidden" and a broken
// connection decide nothing. Setting [Provider.API] skips the search.
//
// # What is sent
//
// The system prompt is sent as instructions. The conversation is sent as input messages: the speaker's
// own turns with the role assistant, all others with the role user. Results of tools directly follow the
// speaker's calls, and what a user says after them stands at the end of the last one ([wire.Form]). A schema
// is sent as a JSON Schema, in strict mode if [openaicompat.StrictSchema] can reduce it.
//
// OpenAI keeps nothing: store is false, and no earlier response or conversation is referred to. No
// metadata, label, user or safety identifier is sent. The ID of the request is sent as
// X-Client-Request-Id.
//
// With tools, a reasoning model is asked for its encrypted thoughts ("reasoning.encrypted_content"). They
// are kept in [provider.ToolCall.Opaque] and sent back before the call that they led to, only to the same
// model of the same server ([wire.Owner]). Models that do not reason refuse that option. So it is sent only
// if the name of the model says that it reasons: o1 and later, gpt-5 and later except its chat variants,
// gpt-oss and codex.
//
// # Options, parts, sources
//
// Of [provider.Options], Responses has reasoning.effort, top_p, service_tier, text.verbosity and the tool web_search;
// [provider.ReasoningAsk] asks for summaries of thoughts (reasoning.summary). It has neither stops nor seeds; Chat
// Completions has both. An effort becomes the nearest step that the model's name is known to have; an unknown name
// gets low, medium, high or none. [provider.EffortNone] is refused for a model that always thinks. What the API has no words for
// fails before anything is sent; what a model refuses is left out as [wire.Refusals] says. If it is not known yet which API a server
// has, stops and seeds decide for Chat Completions.
//
// Fields of [provider.Options.Extra] are merged into the body. A field that the adapter writes is refused, and so
// are stream and background.
//
// Images (PNG, JPEG, WebP, GIF) are sent as input_image, PDFs, texts and office documents as input_file, as data
// URLs before the text of their message. Their names are sent. Nothing is fetched.
//
// The text of thoughts (of summaries, and of open models the thoughts themselves) is [provider.Response.Reasoning].
// Sources (url_citation) are [provider.Response.Citations]: the API counts their places in characters, the response
// in bytes. Searches are billed in addition to tokens, and no usage counts them; the field max_tool_calls bounds them.
//
// # Caching and cost
//
// OpenAI caches prefixes of prompts automatically. The system prompt is constant over a debate and comes
// first. A hash of the conversation's ID, or of the system prompt where the ID of a request names none, is sent as
// prompt_cache_key, so that requests with the same prefix reach the same cache.
//
// Usage arrives with the last event of a reply, response.completed, response.incomplete or
// response.failed: input tokens, including those read from and written to the cache, and output tokens,
// including those spent on reasoning. A reply that is cut off before that event has no usage. Reasoning is never part of the text. It is
// paid as output: MaxTokens bounds both together.
//
// # Why without the SDK
//
// The package writes the requests and reads the answers itself, within the limits of [wire.Endpoint]. Tests compare each
// request with what OpenAI's own types write. The reasons:
//
//   - The SDK takes a stream that was cut off for a success.
//   - Its errors hold the request with the key.
//   - It retries on its own.
//   - Its answer types take four kilobytes for each two bytes of a hostile list.
//   - It adds tens of megabytes to a program.
//
// A reply is complete when its last event has come, and only if its parts add up to the text that this event repeats.
package openai
