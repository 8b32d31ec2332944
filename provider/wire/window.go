package wire

import (
	"regexp"
	"strconv"
	"strings"
)

// leastWindow and mostWindow bound, in tokens, what is taken for the size of a window: no model's is outside of
// them.
const (
	leastWindow = 256
	mostWindow  = 1 << 30
)

// The words with which vendors name the size of a window, in lower case and without commas in numbers. They
// appear only in reports of a full window, or of a request that no minute's allowance can hold. A maximum input
// length is no window: vLLM names with it what the request's own max_tokens leaves.
//
//nolint:gochecknoglobals // read only
var windowWords = []*regexp.Regexp{
	// OpenAI, Azure, OpenRouter, DeepSeek, Mistral's own servers, vLLM; xAI
	regexp.MustCompile(`maximum (?:context|prompt|model)(?: (?:context|window|token|length|size|limit))*` + named + `[ :(]+(\d+)`),
	regexp.MustCompile(`maximum number of tokens allowed[ (]*(\d+)`),              // Google
	regexp.MustCompile(`token count is \d+ but model only supports up to (\d+)`),  // Google, on Vertex AI and for Gemma
	regexp.MustCompile(`configured limit of (\d+) tokens`),                        // OpenAI
	regexp.MustCompile(`tokens > (\d+)`), regexp.MustCompile(`\d \+ \d+ > (\d+)`), // Anthropic
	regexp.MustCompile(`context (?:size|length|window)` + named + `[ (:=]+(\d+)`), // llama.cpp, LM Studio, vLLM, SGLang
	regexp.MustCompile(`(\d+) maximum context`),                                   // Mistral
	regexp.MustCompile(`token count of \d+ exceeds the limit of (\d+)`),           // Copilot
	regexp.MustCompile(`n_ctx\W*(\d+)`),                                           // LM Studio
	regexp.MustCompile(`exceeded model token limit[ :]*(\d+)`),                    // Moonshot
	regexp.MustCompile(`max length exceeded[a-z, ]*:[ ]*(\d+)`),                   // Moonshot
	regexp.MustCompile(`exceeds budget \((\d+) tokens\)`),                         // xAI
	regexp.MustCompile(`max input tokens: (\d+)`),                                 // Bedrock
	regexp.MustCompile(`max tokens of (\d+) exceeded`),                            // Snowflake
	regexp.MustCompile(`request too large for .*limit (\d+)`),                     // OpenAI, Groq: of a minute
	regexp.MustCompile(`limit (\d+), used \d+, requested ~?\d+`),                  // Groq: the same
}

// named are the words that may stand before the size. A word such as "by" would lead to another number: how
// many tokens are too many.
const named = `(?: (?:is|of|only|for|the|this|model|limit))*`

// minute is what OpenAI and Groq say of a minute's allowance.
var minute = regexp.MustCompile(`limit (\d+), used \d+, requested ~?(\d+)`)

// overdrawn reports whether a request asks for more tokens than a whole minute's allowance. No wait helps.
func overdrawn(words string) bool {
	found := minute.FindStringSubmatch(words)
	if found == nil {
		return false
	}
	limit, _ := strconv.Atoi(found[1])
	requested, _ := strconv.Atoi(found[2])
	return limit > 0 && requested > limit
}

// window returns the size of a window that a failure names, in tokens; 0: it names none.
func (f *fault) window() int {
	if n, ok := size(f.context); ok {
		return n
	}
	words := digitComma.ReplaceAllString(strings.ToLower(f.message+"\n"+f.raw), "$1$2")
	for _, pattern := range windowWords {
		if found := pattern.FindStringSubmatch(words); found != nil {
			if n, ok := size(found[1]); ok {
				return n
			}
		}
	}
	return 0
}

var digitComma = regexp.MustCompile(`(\d),(\d)`)

func size(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= leastWindow && n <= mostWindow
}

// These words report a full window, from servers without a code for it.
//
//nolint:gochecknoglobals // read only
var overflowWords = []string{
	"maximum context length", "context_length_exceeded", "context length exceeded", // OpenAI, OpenRouter, vLLM
	"exceeds the available context",                                  // llama.cpp
	"longer than the maximum model length", "context length is only", // vLLM
	"longer than the model's context length",     // SGLang
	"prompt is too long", "exceed context limit", // Anthropic
	"exceeds the maximum number of tokens", "payload size exceeds the limit", "but model only supports up to", // Google
	"exceeded max context length",                                                                    // Ollama's cloud
	"longer than the context length", "exceeds the context length", "exceeds maximum context length", // Ollama
	"context size has been exceeded", "context shift is disabled", // llama.cpp, older versions
	"exceeded model token limit", "model max length exceeded", // Moonshot
	"maximum prompt length", "[input_too_large]", // xAI
	"tokens to keep from the initial prompt is greater", "when context the overflows", "cannot truncate prompt with n_keep", // LM Studio
	"prompt token count of",             // Copilot
	"max tokens of ",                    // Snowflake
	"too many input tokens",             // Bedrock
	"too large for model with",          // Mistral
	"reduce the length of the messages", // OpenAI, Groq
}
