// Package anthropic speaks Anthropic's Messages API.
//
// # What is sent
//
// The official SDK writes the request: the system prompt as a text block, the conversation as messages
// of alternating roles, several blocks to a message where neighbours share a role, and the instruction of
// the call as the last block. What is blank is left out, because the API refuses it, and a conversation
// that begins with the speaker's own words gets a short user's message before them. A request without an
// instruction whose conversation ends with the speaker's own words asks for their continuation, which
// newer models refuse. The SDK adds its version and the platform's in X-Stainless headers.
//
// The SDK never sees the key, the answer or an error. Measured with v1.84.0, a redirect took the key to
// another host, an error held the whole request with the key in it, and a stream that was cut looked like
// a whole reply. So package wire carries what the SDK wrote, adds the key and reads the answer. Nor do the
// SDK's types decode it: a hostile event takes three hundred times its size in them. A reply counts only once
// message_stop has come.
//
// # Caching and its price
//
// Anthropic keeps the beginning of a prompt only where it is asked to, and compares it exactly. Marks
// (cache_control) stand at the end of the system prompt and at the end of the conversation before the
// instruction: the next request of the same speaker repeats both, and reads what this one wrote. The
// vendor looks for former marks in the twenty blocks before each mark, so a long conversation gets up to
// two more, which makes a request with fewer than 55 new messages find its predecessor. Four marks are
// the vendor's limit.
//
// Writing costs 1.25 times the price of input, reading a tenth of it, and what was written lasts five
// minutes from its last use; with [Provider.LongCache] it lasts an hour and writing costs twice the price
// of input, which a model's price for cache writes has to say. A beginning shorter than the model's least
// (512 to 4096 tokens) is not kept and costs nothing more. A debate with a single call per speaker pays
// for writing in vain: [Provider.NoCache].
//
// # Thinking
//
// Thoughts are never part of the text. Those that come before a tool call go into the call's Opaque and
// back to the model with it, unchanged, as the API demands. The tokens of thinking count as output, within
// MaxTokens. Nothing is asked for unless [Provider.AdaptiveThinking] or [Provider.ThinkingBudget] is set;
// some models think all the same. With thinking, no temperature is sent: the two do not go together, and
// models from Claude Opus 4.7 on take none at all, which the model table has to say.
//
// With a budget, the API wants the last message that calls tools to begin with a thought. The words of a
// former turn are kept apart from it by a short user's message. If there is no thought, as in a call that
// another vendor's model made, the request goes without thinking, and without the thoughts of other calls,
// until the speaker's latest call has one. Adaptive thinking takes either.
//
// # Structured output
//
// A schema goes along as output_config.format, lowered to what the API takes: closed objects whose
// properties are all required, no bounds, lengths or patterns (see [openaicompat.StrictSchema]). A schema
// that cannot be lowered, that refers to itself, that lists objects as values or has more than 16 unions
// is not sent; the engine validates each reply in any case. Models before Claude 4.5 know no schema and
// refuse the request.
//
// # Failures
//
// Each is a [*provider.Error], classified by package wire. Besides, a 429 without Retry-After waits for the
// limit that is used up, as the anthropic-ratelimit headers say; a reply that the output filter stopped is
// of kind content_filter; and pause_turn, by which the vendor's own tools ask for more time, is of kind
// invalid_response, because none are offered.
//
// Usage reported at the beginning of a stream says nothing of the output yet. If the stream breaks before
// message_delta has counted it, no usage is reported, so that the engine charges what it had reserved.
package anthropic
