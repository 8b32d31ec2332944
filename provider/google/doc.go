// Package google speaks Google's Gemini API, the one of ai.google.dev (v1beta).
//
// # What is sent
//
// A request is made of the official SDK's types: the system prompt as systemInstruction, the conversation
// as contents of the roles user and model, the limit of output tokens and the temperature as
// generationConfig. Roles alternate, which older models demand: what neighbours of one role say becomes
// parts of one content, with a blank line between them. A conversation that begins with the speaker's own
// words or calls gets a short user's content before them, because the API refuses a call that follows none.
// The key goes along as X-Goog-Api-Key, never in the URL.
//
// The SDK's client is not used, and a test holds what is sent against what that client would send. It cannot
// be kept from the environment: each time it is made, it reads the keys in GOOGLE_API_KEY and GEMINI_API_KEY,
// whatever key it is given, and if both are set it logs that it uses one of them. Measured with v1.77.0, it
// also sorts the properties of a schema, counts neither system prompt nor tools, takes a stream that was cut
// for a whole reply, and lets a redirect take the key to another host. Nor do its types decode the answer: a
// hostile one takes a hundred times its size in them. Package wire carries the request and alone sees the
// key.
//
// A reply counts only once a finishReason has come. A text that goes on after it, or an error, makes the
// reply invalid.
//
// # Safety
//
// The vendor's filters stand at the vendor's defaults, which are the model's; [Provider.Safety] sets them.
// A prompt that they block is a failure of kind content_filter, with the blockReason as its code. A reply
// that they cut, for whatever of the reasons SAFETY, RECITATION, LANGUAGE, BLOCKLIST, PROHIBITED_CONTENT, SPII
// and those of images, ends with [provider.StopFilter], and keeps the text up to there.
//
// # Structured output
//
// A schema goes along as responseJsonSchema, lowered to what the API knows: types, properties, required,
// enums, bounds of numbers and of lists, unions, definitions and references. Lengths, patterns and most
// formats are left out, and const becomes an enum. Properties stay in their order, which propertyOrdering
// repeats for older models. Replies may therefore fail the original schema, which the engine validates
// against. The parameters of tools are lowered in the same way.
//
// Models before Gemini 3 refuse a schema beside tools. Unless a model's name says that it is of Gemini 3 or
// later, its schema is then left out.
//
// # Tools and thinking
//
// Models from Gemini 3 on sign their thoughts, and refuse a call whose signature does not come back on the
// same part. It is kept in the call's Opaque, with the id that the model gave, if it gave one: calls without
// an id get one for the host's use, which is not sent back. The results of one message's calls go back
// together, in the order of the calls, and a call without a result gets an error in its place, because the
// API refuses them otherwise. A first call that is unsigned, such as another vendor's, goes with the mark that
// the API has for it.
//
// Thoughts are never part of the text, and the signatures of texts, which the API does not demand, are
// dropped. How much the model thinks is the vendor's default unless [Provider.Thinking] says it.
//
// # Usage
//
// The vendor counts as it goes; what the event with the end, or one after it, counts is the reply's. If the
// stream breaks before, no usage is reported, so that the engine charges what it had reserved. Output holds
// candidatesTokenCount and thoughtsTokenCount, both of which the vendor bills as output; input holds
// promptTokenCount, cached tokens included, and toolUsePromptTokenCount. Thinking counts against the limit of
// output tokens: a reply whose thoughts used it up is of kind invalid_response.
//
// # Failures
//
// Each is a [*provider.Error], classified by package wire: a RESOURCE_EXHAUSTED waits as long as its retryDelay
// says, unless a day's allowance is used up, which is of kind quota; a wrong key comes under a status of 400
// and is of kind authentication. A stream may break off with an error that is no event; it is read all the
// same. MALFORMED_FUNCTION_CALL, OTHER and reasons that nobody knows are of kind invalid_response, with the
// reason as their code.
package google
