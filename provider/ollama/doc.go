// Package ollama speaks the native API of an Ollama server, over net/http alone.
//
// # Why not the compatible endpoint
//
// Ollama also serves the chat-completions protocol, but that endpoint passes neither truncate nor the
// window's size on. A conversation that is longer than the window then loses its beginning, in silence and
// under a status of 200: a debater no longer sees the topic, a judge no longer sees the opening. The native
// API can be told to fail instead, which the engine answers by sending less.
//
// # What is sent
//
// Each request goes to api/chat with "truncate": false and "shift": false, so that neither a prompt that is
// too long is cut nor a prompt's beginning dropped while the reply grows. Servers that are too old to know
// these fields (before v0.12.6) ignore them. The system prompt is the first message, and neighbours of one
// role are joined with a blank line between them, as the server's own templates do, because templates that
// come with a model may insist that roles alternate. The limit of output tokens is the option num_predict.
// A schema goes as it is into format. Calls and results of tools go along with their names and ids.
//
// # Windows
//
// A server gives a model a window of its own choice, on small machines as few as 4,096 tokens, whatever the
// model could hold. [Provider.NumCtx] asks for another. The window holds prompt and reply together, and
// costs memory. The engine has to know it too, because the model table cannot know what a local model was
// loaded with:
//
//	p := ollama.New("")
//	p.NumCtx = 16_384
//	engine := debate.Engine{
//		Providers: map[string]provider.Provider{"ollama": p},
//		Models: map[string]debate.Model{
//			"ollama/qwen3:8b": {Family: "qwen", Context: 16_384, MaxOutput: 4_096, Reasoning: true, Priced: true},
//		},
//	}
//
// Priced without a price says that the model costs nothing. A server loads a model anew for a request with
// another window, so all who use the model at one time do best with one NumCtx. Loading counts as silence:
// a large model on a slow disk may want a longer IdleTimeout.
//
// # Usage
//
// Tokens are counted as the server reports them at the reply's end: input with what its cache held, output
// with thinking. If one of the two numbers is missing (older servers leave the input out when it
// was cached), no usage is reported at all: half of it would be taken for the whole, and without any the
// engine charges what it had reserved. A model that thinks before a reply with a schema is asked twice
// by the server, which then counts the thoughts as input.
//
// # Failures
//
// Each is a [*provider.Error], classified by package wire. Besides, what Ollama's runners say in words of
// their own about a full window is of kind context_overflow; so is a reply that stops short of its limit of
// output tokens at the end of the window, which can be told only if NumCtx is set and the server heeds it.
// A reply counts only once a line has said that it is done. Models of ollama.com need a key, and answer
// with kind quota once the account's allowance of hours or weeks is used up.
package ollama
