// Package ollama uses the native API of an Ollama server. It needs only net/http.
//
// # Why not the compatible endpoint
//
// Ollama also serves the chat-completions protocol. That endpoint supports neither truncate nor the size
// of the window. If a conversation is longer than the window, it silently loses its beginning, under a
// status of 200: a debater no longer sees the topic, a judge no longer sees the opening. The native API
// can be told to fail instead. The engine then sends less.
//
// # What is sent
//
// Each request goes to api/chat with "truncate": false and "shift": false. So the server neither cuts a
// prompt that is too long, nor drops the beginning of a prompt while the reply grows. Servers before
// v0.12.6 do not know these fields and ignore them.
//
// The system prompt is the first message. Neighbouring messages of one role are joined with a blank line
// between them, as the server's own templates do, because the template of a model may insist on
// alternating roles. The limit of output tokens is the option num_predict. A schema is sent unchanged as
// format. Tool calls and results are sent with their names and ids, and what a user says after results stands
// at the end of the last one ([wire.Form]). Images begin a message, which
// joins none before it. An effort is the field think: false, or a level.
//
// # Windows
//
// The server chooses the window of a model, on small machines as few as 4,096 tokens, whatever the model
// could hold. [Provider.NumCtx] asks for another size. The window holds prompt and reply together, and
// costs memory. The engine must know it too, because the model table cannot know how a local model was
// loaded:
//
//	p := ollama.New("")
//	p.NumCtx = 16_384
//	engine := debate.Engine{
//		Providers: map[string]provider.Provider{"ollama": p},
//		Models: map[string]debate.Model{
//			"ollama/qwen3:8b": {Family: "qwen", Window: 16_384, MaxOutput: 4_096, Reasoning: true, Priced: true},
//		},
//	}
//
// Priced without a price says that the model costs nothing. The server loads a model again for a request
// with another window, so all programs that use a model at the same time should use the same NumCtx.
// Loading counts as silence: a large model on a slow disk may need a longer IdleTimeout.
//
// # Usage
//
// Tokens are counted as the server reports them at the end of the reply: input includes what its cache
// held, output includes thinking. If one of the two numbers is missing, no usage is reported, because
// half of it would be taken for the whole. Older servers
// omit the input if it was cached. If a model thinks before a reply with a schema, the server calls it
// twice, and counts the thoughts as input the second time.
//
// # Failures
//
// Each failure is a [*provider.Error], classified by package wire. In addition:
//
//   - Messages of Ollama's runners about a full window have kind context_overflow.
//   - So has a reply that stops at the end of the window, before its limit of output tokens. This is
//     detected only if NumCtx is set and the server uses it.
//   - A reply counts only once a line has said that it is done.
//   - Models of ollama.com need a key. They fail with kind quota once the account's hourly or weekly
//     allowance is used up.
package ollama
