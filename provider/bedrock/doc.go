// Package bedrock implements the Converse API of Amazon Bedrock, which reaches all models of Bedrock that
// talk: Claude, Nova, Llama, Mistral, Kimi, gpt-oss and others.
//
// # What is sent
//
// The system prompt is a block of text. The conversation becomes messages of alternating roles;
// neighbouring messages of one role become several blocks of one message. The instruction of the call is
// the last block. Blank texts are left out, because the API refuses them. If a conversation begins with
// the speaker's own words, a short user message precedes it. Where a model takes no text beside the results of
// tools, the text stands at the end of the last result ([wire.Form]).
//
// A request goes to converse-stream and is signed with SigV4 by the official SDK's signer, or carries an
// API key of Bedrock ([WithKey]). The credentials are those of an [aws.Config], so every way of the AWS CLI
// and the SDKs works: environment, profiles, single sign-on, roles of machines. They are asked for each
// request. The SDK's client is not used: it retries, it takes a stream that was cut off for a complete
// reply, and its errors hold the request. Package wire carries the request, and the SDK decodes the frames
// of the answer. A reply counts only once messageStop has come. What follows is its usage. If that does not
// come, the reply has none.
//
// # Models
//
// A model's name is its ID, the ID of an inference profile, or an ARN. The API does not tell what a model
// supports. It is told by the name: prompt cache, schema, forced tools, and how tool results have to stand.
// The ARN of an inference profile of one's own hides the model, and counts as one that has neither cache
// nor schema; [Provider.CachePoints] and [Provider.Schemas] say otherwise. The embedded table of models has
// no rows for Bedrock, whose prices depend on the region: the engine gets prices and sizes from its Models.
//
// # Structured output
//
// Models that accept a schema get it as outputConfig.textFormat, reduced as for strict modes (see
// [openaicompat.StrictSchema]). Other models of Claude and Nova get a tool with that schema which they have
// to call, and its arguments are the text of the reply. That is not possible beside other tools, nor with
// thinking; then, and for all other models, no schema is sent. The engine validates each reply in any case.
//
// # Options
//
// top_p, stop and the service tier of [provider.Options] have fields in the API, and are sent. Effort, seed,
// verbosity, search and the text of thoughts have none: a request that asks for them is refused before it is
// sent. What a maker's models understand beside that is asked for with Extra:
// {"additionalModelRequestFields": …}, or for all requests with [Provider.ModelFields]. Parts are not taken.
//
// # Tools and thinking
//
// Thoughts are never part of the text. Signed and redacted thoughts before a tool call are kept in the
// call's Opaque, and sent back with it to the same model, in any region. [Provider.ModelFields] asks for thinking. The API
// refuses tool calls in a conversation without a list of tools. If a request offers none any more, the list
// names those that were called, with the remark that they are not available.
//
// # Caching
//
// For models with a prompt cache, marks (cachePoint) are after the system prompt and at the end of the
// conversation before the instruction, with up to two more in a long conversation. Usage counts what was
// read and written. The input of a request is the sum of inputTokens and both.
//
// # Failures
//
// Each failure is a [*provider.Error], classified by package wire. An exception of AWS is its code, whether
// it comes with a status (X-Amzn-Errortype) or as a frame in mid-stream. In addition:
//
//   - A validationException about the length of the input has kind context_overflow.
//   - A throttlingException about the tokens of a day, and a serviceQuotaExceededException, have kind quota.
//   - A frame with a wrong checksum has kind network. So has a stream that ends too early.
//   - malformed_model_output and malformed_tool_use have kind invalid_response.
//   - Credentials that cannot be fetched have kind authentication. If the service that gives them cannot be
//     reached or fails, the kind is network or api_error.
//
// # What is not there
//
// Bedrock describes its models on another host and with permissions of their own, so that there is no
// check of models.
package bedrock
