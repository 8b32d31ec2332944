package wire_test

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
)

// TestWindows: the size of the window is read from the words of each vendor.
func TestWindows(t *testing.T) {
	said := func(message string) string { return `{"error":{"message":` + strconv.Quote(message) + `}}` }
	for name, body := range map[string]string{
		"OpenAI": said("This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (4904 in the messages, " +
			"4096 in the completion). Please reduce the length of the messages or completion."),
		"OpenRouter":       said("This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens."),
		"behind a router":  `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"maximum context length is 8,192 tokens"}}}`,
		"xAI":              xai("x", "This model's maximum prompt length is 8192 but the request contains 9000 tokens."),
		"xAI, newer":       xai("x", "[input_too_large] Current message (9000 tokens) exceeds budget (8192 tokens)"),
		"Google":           said("The input token count (9000) exceeds the maximum number of tokens allowed (8192)."),
		"Anthropic":        said("prompt is too long: 9000 tokens > 8192 maximum"),
		"Anthropic's sum":  said("input length and `max_tokens` exceed context limit: 4904 + 4096 > 8192, decrease input length or `max_tokens`"),
		"llama.cpp":        said("request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it"),
		"llama.cpp, apart": `{"error":{"code":400,"type":"exceed_context_size_error","message":"m","n_prompt_tokens":9000,"n_ctx":8192}}`,
		"LM Studio": `{"error":"Trying to keep the first 9000 tokens when context the overflows. However, the model is loaded with context ` +
			`length of only 8192 tokens, which is not enough."}`,
		"Snowflake":        `{"message":"max tokens of 8192 exceeded"}`,
		"Bedrock":          said("400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9000 "),
		"Copilot":          said("prompt token count of 9000 exceeds the limit of 8192"),
		"LM Studio, newer": `{"error":"Cannot truncate prompt with n_keep (9000) >= n_ctx (8192)"}`,
		"Mistral":          said("Prompt contains 9000 tokens and 0 draft tokens, too large for model with 8192 maximum context length"),
		"Moonshot":         said("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"),
		"Moonshot, older":  said("Invalid request: model max length exceeded, max length:8192"),
		"vLLM":             said("The decoder prompt (length 9000) is longer than the maximum model length of 8192."),
		"vLLM, in parts":   said("You passed 9000 input tokens. However, the model's context length is only 8192 tokens."),
		"vLLM, newer": said("You passed 3073 input tokens and requested 5120 output tokens. However, the model's context length is only 8192 tokens, " +
			"resulting in a maximum input length of 3072 tokens. Please reduce the length of the input prompt. (parameter=input_tokens, value=3073)"),
		"SGLang":       said("The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
		"Vertex AI":    said("Unable to submit request because the input token count is 9000 but model only supports up to 8192. Reduce it."),
		"OpenAI's own": `{"error":{"message":"Input tokens exceed the configured limit of 8,192 tokens. Your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`,
		"a minute":     said("Rate limit reached for model `x` on tokens per minute (TPM): Limit 8192, Used 0, Requested ~9000. Please try again in 50.5s."),
		"Groq":         said("Request too large for model `x` on tokens per minute (TPM): Limit 8192, Requested 9000, please reduce"),
	} {
		e := refused(t, 400, body)
		assert.Equal(t, provider.KindContextOverflow, e.Kind, name)
		assert.Equal(t, 8192, e.Window, name)
	}
	for name, body := range map[string]string{
		"what max_tokens leaves":   `{"error":{"message":"a maximum input length of 3072 tokens","code":"context_length_exceeded"}}`,
		"no size":                  said("prompt is too long"),
		"by how much, not of what": said("prompt too long; exceeded max context length by 1119046 tokens"),
		"by how much":              said("exceeds maximum context length by 9000 tokens"),
		"too small":                said("maximum context length is 12 tokens"),
		"too large":                said("maximum context length is 99999999999999999999 tokens"),
		"negative":                 `{"error":{"type":"exceed_context_size_error","message":"m","n_ctx":-8192}}`,
		"no number":                `{"error":{"type":"exceed_context_size_error","message":"m","n_ctx":{"n":8192}}}`,
	} {
		e := refused(t, 400, body)
		assert.Equal(t, provider.KindContextOverflow, e.Kind, name)
		assert.Zero(t, e.Window, name)
	}
	e := refused(t, 429, said("Rate limit reached for model `x` on tokens per minute (TPM): Limit 8192, Used 8000, Requested 900. Please try again in 5s."))
	assert.Equal(t, provider.KindRateLimit, e.Kind, "there is room in another minute")
	assert.Zero(t, e.Window)
	assert.Zero(t, refused(t, 500, said("the maximum number of tokens allowed is no matter here, context size: 8192")).Window, "another failure")
}
