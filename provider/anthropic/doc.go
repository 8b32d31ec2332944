// Package anthropic implements Anthropic's Messages API.
//
// # What is sent
//
// The package writes its requests itself. The system prompt is a text block. The conversation becomes
// messages of alternating roles; neighbouring messages of one role become several blocks of one message.
// The instruction of the call is the last block. Blank texts are left out, because the API refuses them.
// If a conversation begins with the speaker's own words, a short user message precedes it. If a request
// has no instruction and its conversation ends with the speaker's own words, it asks for their
// continuation, which newer models refuse.
//
// Anthropic's SDK is used by tests alone, which compare each request with what its types write. Measured with v1.84.0, a redirect
// took the key to another host, an error held the whole request with the key in it, a stream that was cut off looked
// like a complete reply, and a hostile event took three hundred times its size. A program with it is larger by more than ten megabytes.
// A reply counts only once message_stop has come, or the reason for its end behind all of its blocks: some servers
// leave message_stop out.
//
// # Caching and its price
//
// Anthropic caches the beginning of a prompt only if asked, and compares it exactly. Marks
// (cache_control) are at the end of the system prompt, and at the end of the conversation before the
// instruction. The next request of the same speaker repeats both, and reads what this one wrote. The
// vendor looks for earlier marks in the twenty blocks before each mark. So a long conversation gets up to
// two more marks, with which a request with fewer than 55 new messages finds its predecessor. Four marks
// are the vendor's limit.
//
// Writing costs 1.25 times the price of input, and reading a tenth of it. A cached beginning lasts five
// minutes from its last use. With [Provider.LongCache] it lasts an hour, and writing costs twice the
// price of input; set that price in the model table. A beginning that is shorter than the model's minimum
// (512 to 4096 tokens) is not cached and costs nothing extra. If each speaker makes a single call,
// writing is wasted: set [Provider.NoCache].
//
// # Thinking
//
// Thoughts are never part of the text. Thoughts before a tool call are stored in the call's Opaque, and
// sent back with it, unchanged, as the API requires, but only to the server that they came from
// ([wire.Owner]); Anthropic and Vertex AI count as one. The tokens of thinking count as output, within
// MaxTokens. Thinking is requested only if [Provider.AdaptiveThinking], [Provider.ThinkingBudget] or an
// option asks for it; some models think anyway. With thinking, no temperature is sent, because the API
// refuses both together. Models from Claude Opus 4.7 on accept no temperature at all. If the model table
// does not know that of a model, the model's first refusal tells it.
//
// With a budget, the API requires that the last message that calls tools begins with a thought. A short
// user message separates it from the words of an earlier turn. If there is no thought, as in a call by
// another vendor's model, the request goes without thinking, and without the thoughts of other calls,
// until the speaker's latest call has one. Adaptive thinking accepts both forms.
//
// An effort of [provider.Options] replaces the provider's own fields. New models get adaptive thinking and the nearest
// step of output_config.effort. Models that take a budget get a share of MaxTokens: a tenth for minimal, 0.2, 0.5, 0.8
// and 0.95 for the others, at least 1024 tokens, and never all. [provider.EffortNone] switches thinking off; models
// that always think (Fable, Mythos, Opus from 5 on) refuse it. [provider.ReasoningAsk] asks for a summary of the
// thoughts (display), for which new models think adaptively.
//
// # Options, parts, sources
//
// Stops, top_p and service_tier are fields of the API; with thinking, it takes no top_p below 0.95. It has neither seeds
// nor verbosity. Fields of [provider.Options.Extra] are merged into the body; a field that the adapter writes is refused.
// What the API has no words for fails before anything is sent.
//
// Images (JPEG, PNG, GIF, WebP) are image blocks, PDFs and plain texts document blocks with their name as title. They
// stand before the text of their message, and count for the marks of the cache as other blocks do.
//
// A search is the tool web_search_20250305. If the vendor pauses the reply for its searches (pause_turn), the blocks that
// have come go back as they came, and the next answer continues the reply: at most eight times, within MaxTokens in all.
// The usage is the sum of all answers, because each is billed. If a later request is refused, the usage is that of the
// answers before. Sources of a text block (web_search_result_location) are [provider.Response.Citations], with the
// block as their place. Searches are billed in addition to tokens, and no usage counts them.
//
// # Structured output
//
// A schema is sent as output_config.format, reduced to what the API accepts: closed objects whose
// properties are all required, without lengths, patterns and limits of numbers (see
// [openaicompat.StrictSchema]). Of the bounds, minItems of 0 or 1 and common formats are sent. A schema is
// not sent if it cannot be reduced, refers to itself, lists objects as values, or has more than 16 unions.
// The engine validates each reply in any case. Models before Claude 4.5 support no schema; once one has
// refused it, none is sent to it.
//
// # Failures
//
// Each failure is a [*provider.Error], classified by package wire. In addition:
//
//   - A 429 without Retry-After waits for the limit that is used up, as the anthropic-ratelimit headers
//     report it.
//   - A reply that the output filter stopped has kind content_filter.
//   - A pause_turn that is not continued, because no search was asked for or because the vendor pauses without
//     end, has kind invalid_response.
//
// The usage at the beginning of a stream does not count the output yet. If the stream breaks before
// message_delta has counted it, that usage is reported as a partial one ([provider.Response].Partial). After a
// search none is: what it finds is input that the vendor counts at the end.
package anthropic
