// Package google implements Google's Gemini API, the one of ai.google.dev (v1beta).
//
// # What is sent
//
// A request has the system prompt as systemInstruction, the
// conversation as contents of the roles user and model, the limit of output tokens and the temperature as
// generationConfig. Roles alternate, which older models require: neighbouring messages of one role become
// parts of one content, with a blank line between them. If a conversation begins with the speaker's own
// words or calls, short user content precedes it, because the API refuses a call that follows nothing.
// The key is sent as X-Goog-Api-Key, never in the URL.
//
// The official SDK is used by tests alone: one compares what is sent with what its client would send. The client
// cannot be kept from reading the environment. Each time it is made, it reads GOOGLE_API_KEY and
// GEMINI_API_KEY, whatever key it is given, and if both are set, it logs that it uses one of them.
// Measured with v1.77.0, it also sorts the properties of a schema, counts neither system prompt nor
// tools, takes a stream that was cut off for a complete reply, and lets a redirect take the key to
// another host; in its types, a hostile answer takes a hundred times its size. Its
// types alone link gRPC and OpenTelemetry. Package wire carries the request, and only package wire sees the key.
//
// A reply counts only once a finishReason has come. If a text or an error follows it, the reply is
// invalid.
//
// # Safety
//
// The vendor's filters keep their defaults, which depend on the model; [Provider.Safety] sets them. A
// prompt that they block is a failure of kind content_filter, with the blockReason as its code. A reply
// that they cut off ends with [provider.StopFilter] and keeps its text up to there. That covers the
// reasons SAFETY, RECITATION, LANGUAGE, BLOCKLIST, PROHIBITED_CONTENT, SPII and those for images.
//
// # Structured output
//
// A schema is sent as responseJsonSchema, reduced to what the API supports: types, properties, required,
// enums, bounds of numbers and of lists, unions, definitions and references. Lengths, patterns and most
// formats are dropped, and const becomes an enum. Properties keep their order, which propertyOrdering
// repeats for older models. So a reply may fail the original schema, against which the engine validates
// it. The parameters of tools are reduced in the same way, after what package wire lowers for all vendors. A tool
// without parameters has none, because the API has refused an object without properties.
//
// Models before Gemini 3 refuse a schema next to tools. So the schema is left out if there are tools,
// unless the name of the model says that it is Gemini 3 or later.
//
// # Tools and thinking
//
// Models from Gemini 3 on sign their thoughts. They refuse a call whose signature does not come back on the
// same part. The signature is kept in the call's Opaque, together with the id that the model gave, if any.
// Both go back only to the server that they came from ([wire.Owner]). Calls without an id get one for the
// host program's use, which is not sent back. The results of one message's calls are sent back together, in
// the order of the calls, and an error replaces a missing result ([wire.Form]); the API refuses anything else. If the
// first call is unsigned, such as a call by another vendor's model, it gets the signature that the API
// documents for that case.
//
// Thoughts are never part of the text. Signatures of texts, which the API does not require, are dropped.
// How much the model thinks is the vendor's default unless [Provider.Thinking] sets it.
//
// An effort of [provider.Options] replaces [Provider.Thinking]. Models from Gemini 3 on get the nearest level. Models of
// Gemini 2.5 get a budget: 512 tokens for minimal, 1024, 8192, 24576, and for the last the model's most, but at most three
// quarters of MaxTokens. [provider.EffortNone] is a budget of 0, which only some of them take. [provider.ReasoningAsk]
// asks for summaries of the thoughts (includeThoughts). They are [provider.Response.Reasoning].
//
// # Options, parts, sources
//
// topP, stopSequences, seed (32 bits) and serviceTier are fields of the API. It has no verbosity. Fields of
// [provider.Options.Extra] are merged into the body, also within generationConfig; a field that the adapter writes is
// refused, and so is candidateCount. What the API has no words for fails before anything is sent.
//
// Images, PDFs, texts, audio and video are inlineData before the text of their message. Their names are not sent: the API
// has no field for them.
//
// A search is the tool googleSearch, which stands beside no other tools. Its sources (groundingChunks) are
// [provider.Response.Citations], one for each passage that they support. The API counts places in bytes of parts, and
// does not always say of which part; so a place counts only if the passage stands there. The URLs are redirects of
// Google's. Searches are billed in addition to tokens, and no usage counts them.
//
// # Usage
//
// The vendor counts while it replies. The count in the event that ends the reply, or in a later event, is
// the usage. If the stream breaks before, the latest count is reported as a partial usage
// ([provider.Response].Partial). Output is the sum of candidatesTokenCount and thoughtsTokenCount, both of which the vendor
// bills as output. Input is the sum of promptTokenCount, cached tokens included, and
// toolUsePromptTokenCount. Thinking counts against the limit of output tokens: a reply whose thoughts
// used it up has kind invalid_response.
//
// # Failures
//
// Each failure is a [*provider.Error], classified by package wire. In addition:
//
//   - RESOURCE_EXHAUSTED waits as long as its retryDelay says. If a day's allowance is used up, it has
//     kind quota.
//   - A wrong key, which the vendor reports under a status of 400, has kind authentication.
//   - A stream may break off with an error that is not an event. That error is read too.
//   - MALFORMED_FUNCTION_CALL, OTHER and unknown reasons have kind invalid_response, with the reason as
//     their code.
package google
