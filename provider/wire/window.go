package wire

import (
	"net/http"
	"regexp"
	"slices"
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
var windowWords = []func() *regexp.Regexp{
	// OpenAI, Azure, OpenRouter, DeepSeek, Mistral's own servers, vLLM; xAI
	pattern(`maximum (?:context|prompt|model)(?: (?:context|window|token|length|size|limit))*` + named + `[ :(]+(\d+)`),
	pattern(`maximum number of tokens allowed[ (]*(\d+)`),             // Google
	pattern(`token count is \d+ but model only supports up to (\d+)`), // Google, on Vertex AI and for Gemma
	pattern(`configured limit of (\d+) tokens`),                       // OpenAI
	pattern(`tokens > (\d+)`), pattern(`\d \+ \d+ > (\d+)`), // Anthropic
	pattern(`context (?:size|length|window)` + named + `[ (:=]+(\d+)`), // llama.cpp, LM Studio, vLLM, SGLang
	pattern(`(\d+) maximum context`),                                   // Mistral
	pattern(`token count of \d+ exceeds the limit of (\d+)`),           // Copilot
	pattern(`n_ctx\W*(\d+)`),                                           // LM Studio
	pattern(`exceeded model token limit[ :]*(\d+)`),                    // Moonshot
	pattern(`max length exceeded[a-z, ]*:[ ]*(\d+)`),                   // Moonshot
	pattern(`exceeds budget \((\d+) tokens\)`),                         // xAI
	pattern(`max input tokens: (\d+)`),                                 // Bedrock
	pattern(`max tokens of (\d+) exceeded`),                            // Snowflake
	pattern(`request too large for .*limit (\d+)`),                     // OpenAI, Groq: of a minute
	pattern(`limit (\d+), used \d+, requested ~?\d+`),                  // Groq: the same
	// Any other server: of a maximum that is allowed or supported, of a limit beside the current length, of a range.
	pattern(`(?:maximum|max) (?:allowed |supported |permitted )+(?:input |context |sequence |prompt )*(?:length|tokens|` +
		`size)` + named + `[ :(]+(\d+)`),
	pattern(`(?:prompt|inputs?|context) cannot exceed (\d+)`),
	pattern(`while limit is (\d+)`),
	pattern("max_new_tokens`? must be <= (\\d+)"), // Hugging Face: of both together
	pattern(`input length should be \[\d+, ?(\d+)\]`),
	pattern(`max size: (\d+) tokens`),
}

// named are the words that may stand before the size. A word such as "by" would lead to another number: how
// many tokens are too many.
const named = `(?: (?:is|of|only|just|for|the|this|model|limit))*`

// minute is what OpenAI and Groq say of a minute's allowance.
//
//nolint:gochecknoglobals // read only
var minute = pattern(`limit (\d+), used \d+, requested ~?(\d+)`)

// overdrawn reports whether a request asks for more tokens than a whole minute's allowance. No wait helps.
func overdrawn(words string) bool {
	found := minute().FindStringSubmatch(words)
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
	words := digitComma().ReplaceAllString(strings.ToLower(f.message+"\n"+f.raw), "$1$2")
	for _, saying := range windowWords {
		if found := saying().FindStringSubmatch(words); found != nil {
			if n, ok := size(found[1]); ok {
				return n
			}
		}
	}
	return 0
}

//nolint:gochecknoglobals // read only
var digitComma = pattern(`(\d),(\d)`)

func size(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= leastWindow && n <= mostWindow
}

// overflows reports whether the words of a message say that a prompt is too long: they speak of a prompt, of a length, and of more
// than there may be. Nothing in them may be about another part of a request, and a cap on the reply is no length of the prompt. Where
// the server says that it has failed itself, the words have to be plain.
func overflows(words string, status int) bool {
	if containsAny(words, fullWords) {
		return true
	}
	switch status {
	case http.StatusRequestURITooLong, http.StatusRequestHeaderFieldsTooLarge: // of a part that has no prompt in it
		return false
	}
	text := sizeWords(words)
	switch {
	case tooLong().MatchString(text):
		return true
	case otherPart().MatchString(text), !promptWord().MatchString(text), !sizeWord().MatchString(text),
		replyPart().MatchString(text) && !promptAlone().MatchString(text):
		return false
	case excessPlain().MatchString(text):
		return true
	default:
		return status < http.StatusInternalServerError && (excessWord().MatchString(text) || twoSizes().MatchString(text))
	}
}

// ofReply reports whether a failure is about the cap on the reply, whatever it says of the window beside it.
func (f *fault) ofReply(words string) bool {
	name := f.param[strings.LastIndexAny(f.param, "./")+1:]
	first := capFirst().FindStringSubmatch(words)
	return (slices.Contains(capNames, plainName(name)) || first != nil && first[1] == "") && !containsAny(words, fullWords)
}

// capNames are the names of the cap on a reply, as plainName has them. capFirst matches a message that begins with one,
// and what adds the prompt to it.
//
//nolint:gochecknoglobals // read only
var (
	capNames = []string{"maxtokens", "maxcompletiontokens", "maxoutputtokens", "maxnewtokens"}
	capFirst = pattern(`^\W*(?:(?:the|invalid|value|of|for|parameter|field)\W+)*max_?(?:completion_?|output_?|new_?)?tokens\b` +
		`([^a-z]*(?:\+|\b(?:plus|and)\b))?`)
)

// These words report a full window too, without a prompt or a length in them.
//
//nolint:gochecknoglobals // read only
var fullWords = []string{
	"maximum context length",             // OpenAI, OpenRouter, vLLM: also behind a status of 500
	"context shift is disabled",          // llama.cpp, older versions
	"cannot truncate prompt with n_keep", // LM Studio
	"model max length exceeded",          // Moonshot
	"max tokens of ",                     // Snowflake
	"expected maxlength",                 // Bedrock: of the prompt's text
}

// Words of sizeWords, each between blanks.
//
//nolint:gochecknoglobals // read only
var (
	promptWord = pattern(` (?:prompts?|inputs?|context|sequence|conversation|history|messages|requests?|text|payload|body) `)
	sizeWord   = pattern(` (?:lengths?|long|longer|tokens?|size|window|large|larger|characters?|chars|bytes) `)
	// More than there may be, in words that say nothing else, and in words that may.
	excessPlain = pattern(` (?:exceed(?:s|ed|ing)?|too (?:long|large|many|big)|longer|larger|overflows?|overflowed) `)
	excessWord  = pattern(` (?:maximum|max|limit|limited|less than|fewer than|at most|<=|>|greater|more than|over|` +
		`beyond|range|supports|` +
		`reduce|shorten|not fit|(?:only|just) [0-9]+|(?:window|length|size) is [0-9]+) `)
	// The same as a word for a prompt with its length.
	tooLong = pattern(` (?:prompt|input|context|request) (?:is |was |length |window )?(?:too (?:long|large)|超长) |` +
		`(?:输入|上下文|提示词|文本|prompt|tokens?) ?[^ ]{0,20} ?(?:过长|超长|超出|超过|最大长度)|长度超限`)
	// Of the reply, which a request speaks of too.
	replyPart   = pattern(` (?:output|completion|generated|response|reply) (?:tokens?|length) `)
	promptAlone = pattern(` (?:prompts?|inputs?|context|messages|conversation|history) `)
	twoSizes    = pattern(` [0-9]{3,} .*(?: [0-9]{3,}) `) // one of them is the size, and the other one the bound
	otherPart   = pattern(` (?:arrays?|tools?|functions?|schemas?|temperature|images?|audio|videos?|files?|documents?|` +
		`pdf|pages?|names?|` +
		`descriptions?|identifiers?|urls?|stop|logprobs|metadata|minimum|empty|at least|rate|per (?:second|minute|hour|day)|rpm|tpm|` +
		`queues?|queued|pending|headers?|uri) `)
)

// sizeWords returns the words of a message, each between blanks. Of a path its last part counts: messages[0].content is a prompt. A name
// with an underscore counts as its words if all of them are about lengths, as input_tokens is. A cap on the reply, such as
// max_tokens, is left out, and so are phrases that begin any refusal.
func sizeWords(words string) string {
	const most = 4000
	words = refusing().ReplaceAllString(words[:min(len(words), most)], " ")
	var b strings.Builder
	b.WriteByte(' ')
	for _, token := range sizeToken().FindAllString(words, -1) {
		if path := strings.TrimRight(token, ".[]/0123456789"); path != "" && strings.ContainsAny(token, ".[/") {
			if token = path[strings.LastIndexAny(path, ".[/")+1:]; token == "content" {
				token = "prompt"
			}
		}
		token = strings.TrimRight(token, "./[]")
		parts := strings.Split(token, "_")
		other := slices.ContainsFunc(parts, func(part string) bool { return !slices.Contains(sizeNames, part) })
		if len(parts) > 1 && other || plainName(token) == "maxtokens" {
			continue
		}
		b.WriteString(strings.Join(parts, " "))
		b.WriteByte(' ')
	}
	return b.String()
}

//nolint:gochecknoglobals // read only
var (
	refusing = pattern(`(?:invalid|bad|malformed)[ _](?:request|input|param(?:eter)?s?)s?(?:[ _]error)?\b|` +
		`(?:input )?validation error\b|request id\b`)
	sizeToken = pattern(`<=|>|[\p{L}\p{N}_.\[\]/]+`)
	sizeNames = []string{
		"prompt", "input", "inputs", "context", "sequence", "request", "messages", "length", "len", "tokens", "token", "size", "window", "large",
		"long", "too", "max", "maximum", "model", "number", "num", "total", "count", "of", "limit", "exceeded", "many",
	}
)
