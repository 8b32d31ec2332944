package wire

import (
	"cmp"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/agonist-dev/debate/provider"
)

// A failure is classified by what is most certain of it, in this order:
//
//  1. what the adapter or the host program knows of its vendor, names that mean one thing everywhere, and fields of a filter;
//  2. what its names (code and type, also those within its message) mean: money, a filter, a full window;
//  3. what its words mean, where the status leaves that open (401 does not): an empty or closed account, a filter, a full window, a refused
//     key, a limit;
//  4. its status, and in a stream, which has none, its names in a broader sense.
//
// A limit that passes soon is a rate limit, whatever is said of quotas and plans beside it, but for an empty account; one of more than an
// hour is a quota. Under 429, and where a name or an error in a stream speaks of a rate, words about lengths and filters do not count;
// else a limit comes last.
//
// A word counts beside what is said of it: a limit that is reached, an account that is suspended. Alone it may be of a text that the
// message repeats, or of a plan that it offers.
//
// Names and words are asked for what they mean, not whether a list has them: a vendor that no list knows says the same things.

// pattern is a regular expression that is compiled when it is first used. There are many, for failures alone: a program would compile
// them all before its first line, and most programs need none.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// These names mean one thing wherever they stand, and their words do not tell it.
//
//nolint:gochecknoglobals // read only
var exactKinds = map[string]provider.Kind{
	"blocked_api_access":             provider.KindQuota,         // Groq: the month's spending limit, under 400
	"bio_policy":                     provider.KindContentFilter, // OpenAI and Azure, in both APIs: this one and the next three
	"cyber_policy":                   provider.KindContentFilter,
	"misalignment_policy_violation":  provider.KindContentFilter,
	"image_content_policy_violation": provider.KindContentFilter,
	"invalid_prompt":                 provider.KindContentFilter,   // OpenAI: against its usage policy
	"json_validate_failed":           provider.KindInvalidResponse, // Groq: the model's reply does not follow the schema
	"tool_use_failed":                provider.KindInvalidResponse, // Groq: the model's call does not follow the tool's
	"slow_down":                      provider.KindRateLimit,
	"timeout_error":                  provider.KindTimeout,
	"deadline_exceeded":              provider.KindTimeout,
	"overloaded_error":               provider.KindAPI,
}

// Names, as words: " insufficient user quota ".
//
//nolint:gochecknoglobals // read only
var (
	moneyName = pattern(` (?:balance|credits?|arrears?|arrearage|overdue|funds?|recharge|prepaid|prepayment|billing|spend|` +
		`spending|(?:usage|weekly|monthly) (?:[a-z]+ )?limits?) `)
	quotaName = pattern(` (?:quota|budget|allowance) .*(?:insufficient|exceed|exhaust|deplet|failed|reached|enough|used) ?|` +
		` (?:insufficient|exceeded|exhausted|depleted|no|out) .*(?:quota|budget|allowance) `)
	filterName = pattern(` (?:sensitive|moderation|moderated|inappropriate|unsafe|harmful|nsfw|safety|flagged|blocklist|` +
		`jailbreak|(?:model armor|guardrail (?:blocked|violation|intervened|triggered))|censor[a-z]*|prohibited content|` +
		`responsible ai .*|(?:usage|ai) policy) |` +
		` (?:content|prompt|input|output|text|data) (?:[a-z]+ )?(?:filter[a-z]*|policy|inspection|violat[a-z]*|risk[a-z]*|blocked|` +
		`prohibited|security) `)
	overflowName = pattern(` (?:context|prompt|input|request|messages?|sequence|payload|entity|body) ` +
		`(?:[a-z]+ )*(?:length|long|` +
		`window|size|tokens?|large) `)
	excessName = pattern(` (?:exceed[a-z]*|too|over[a-z]*|max|maximum|limit|reached|long|large) `)
	rateName   = pattern(` (?:throttl[a-z]*|rates?|rpm|tpm|qps|second|minute|hour|day|daily|concurren[a-z]*|thinking) `)
	dayName    = pattern(` (?:per (?:day|week|month)|daily|weekly|monthly|tpd|rpd) `)
	keyName    = pattern(` (?:authenticat[a-z]*|unauthenticated|unauthori[sz]ed|permission|access denied|api key|invalid token|` +
		`expired token) `)
	tooFast = pattern(` (?:rate limit[a-z]*|throttl[a-z]*|too many requests) `) // under any status of a refusal
)

// errorName matches a name of a failure within a message: gateways pass on "litellm.ContextWindowExceededError: …".
//
//nolint:gochecknoglobals // read only
var errorName = pattern(`[\w.]*[a-z](?:Error|Exception|Failed|Exceeded|Violation|Detected|Exhausted)\b|` +
	`\b[a-z]+(?:_[a-z]+)*_(?:exceeded|error|quota|violation|exhausted|failed|balance)\b`)

const (
	maxSpoken = 8        // names that are read of a message
	maxSaid   = 16 << 10 // bytes of its words
)

// echo begins what a server repeats of the request, as pydantic does in its two forms: the words of a conversation say nothing about a
// failure.
//
//nolint:gochecknoglobals // read only
var echo = pattern(`[\\'"]+(?:input|messages)[\\'"]+\s*:|\binput_value\s*=|\bmessages\s*=\s*\[`)

// Names that are less precise than a status. Without one, in a stream, they decide.
//
//nolint:gochecknoglobals // read only
var broadNames = []struct {
	name func() *regexp.Regexp
	kind provider.Kind
}{
	{pattern(` (?:rate|throttl[a-z]*|too many|resource exhausted|capacity exceeded|slow down) `), provider.KindRateLimit},
	{pattern(` (?:timeout|time out|timed out|deadline exceeded) `), provider.KindTimeout},
	{keyName, provider.KindAuthentication},
	{pattern(` forbidden `), provider.KindAuthentication},
	{pattern(` (?:invalid (?:request|argument|parameter|params?|input)|bad request|validation|not found|` +
		`unsupported) `), provider.KindValidation},
}

// beside matches a subject with what is said of it before or after it.
func beside(subject, before, after string) string {
	return `\b(?:` + before + `)\W+(?:[\w']+\W+){0,4}?(?:` + subject + `)\b|\b(?:` + subject + `)\b\W+(?:[\w']+\W+){0,5}?(?:` + after + `)\b`
}

// Words of a message, in lower case, with numbers but no commas in them.
//
//nolint:gochecknoglobals // read only
var (
	// Money that is not there.
	emptyWords = pattern(
		beside(`balance|credits?|funds?|prepayment`,
			`insufficient|not enough|negative|low|zero|have any|out of|needs? more|requires? more|all available`,
			`insufficient|exhausted|depleted|too low|not enough|negative|used up|overdrawn`) +
			`|\bno (?:\w+ )?(?:balance|credits?|funds) (?:left|remain|available)|` +
			`\b(?:arrears|arrearage|overdue|good standing)\b|` +
			`\bkey limit exceeded(?: \(|\. manage)|` + // OpenRouter, under 403: what a key may spend
			`余额不足|余额已|欠费`)
	// An allowance of weeks or of an account. A limit that passes has such words beside it too.
	moneyWords = pattern(
		beside(`(?:usage|spend|spending|weekly|monthly)\W+(?:\w+\W+)?(?:limits?|cap|quota|allowance)|free (?:tier|quota|trial|usage)`,
			`reach(?:ed|ing)|exceed(?:s|ed|ing)?|hit|used up`, `reached|exceeded|exhausted|used up|ended`) +
			`|\bbudget has been exceeded\b|\bexceeded[a-z]* ?budget\b|` + // LiteLLM
			`额度不足|额度已`)
	// The same, where a limit of a minute has a status of its own.
	quotaWords = pattern(
		beside(`quota`, `insufficient|exceed(?:s|ed)?|exhausted|not enough|out of`,
			`exceeded|exhausted|insufficient|not enough|used up|depleted`) +
			`|\brequires billing to be enabled\b`)
	// An account that is closed: until it is paid for, if the message speaks of money. Fireworks under 412, Volcengine and Moonshot under 429.
	closedWords = pattern(`\b(?:account|organi[sz]ation|model service)(?: \S+){0,2} (?:is|was|been) (?:\w+ )?` +
		`(?:suspended|deactivated|disabled|locked|paused)\b`)
	dueWords = pattern(`\b(?:invoices?|pay|payments?|billing|spending|limit)\b`)
	// Of a limit that passes: it is one of an hour at most, or ends soon.
	passing = pattern(every + `(?:second|sec|minute|min|hour)\b|\b(?:rpm|tpm|qps)\b|\b(?:retry|try again) shortly\b|过于频繁|每[秒分]`)
	// Of one that lasts for more than an hour, for which no debate can wait.
	dayWords = pattern(every + `(?:day|week|month)\b|` +
		`\b(?:daily|weekly|monthly)\W+(?:\w+\W+){0,2}?(?:limit|quota|allowance|allocation|cap)|\b(?:tpd|rpd)\b|` +
		`\b\d+[ -]?(?:hours?|days?)\b.*\blimit|\d+ ?个?小时|每[日天周月]`)
	// Of one that may pass.
	rateWords = pattern(`\brate[ -]limit|\btoo many requests\b|速率限制|请求频率|频率限制|访问量过大`)
	// Of one that is reached for this day.
	overWords = pattern(`\b(?:used|reached|exceeded|exhausted)\W+(?:[\w']+\W+){0,3}?today\b|\btomorrow\b|明天`)
	// Whether a message says that a limit is reached, where the status does not: a period or a wait may belong to anything.
	limitWords = pattern(
		beside(`limits?|quotas?|allowances?|allocations?|max(?:imum)?|concurrency|rpm|tpm|qps`,
			`reach(?:ed|ing)|exceed(?:s|ed|ing)?|hit|used up|over`, `reached|exceeded|exhausted|hit|used up`) +
			`|\b(?:throttl|slow|limited to|rate[ -]limited)|\btoo (?:many|fast|often|frequent)|限[制流额]|[上超]限|频|过大`)

	filterWords = pattern(
		`\b(?:sensitive|inappropriate|unsafe|harmful|prohibited|illegal)\W+(?:[\w']+\W+){0,2}?(?:content|information|words?|text|` +
			`material|inputs?|outputs?|prompts?)\b|` +
			`\b(?:content|prompt|input|output|text|message|request|response|reply)s?\W+(?:[\w']+\W+){0,8}?(?:sensitive|inappropriate|` +
			`unsafe|harmful|flagged|` +
			`moderation|safety (?:system|filter|check|polic|guideline)|content filter|filtering policy|content (?:management )?policy|` +
			`usage (?:polic|guideline))|` +
			`(?:blocked|rejected|refused) by (?:\w+ )?(?:guardrail|moderation|filter)|violates usage guidelines|` + // xAI
			`content exists risk|` + // DeepSeek
			`敏感|不安全|违规|违法|内容安全|审核未通过`)
	// A message with these is about a field or a service, not about a text.
	fieldWords = pattern(`\b(?:parameter|argument|field|schema|unknown|unsupported|not support|case[ -](?:in)?sensitive|` +
		`illegal (?:character|value|escape|state))`)

	// One with these is about a service that does not work now.
	serviceWords = pattern(`\bunavailable\b|\btimed? ?out\b`)
	// Likewise, and under a status of a wrong request too.
	downWords = pattern(`\b(?:degraded|overloaded|temporarily|warming up|is (?:currently |still )?loading|` +
		`(?:try again|retry) shortly)\b`)

	// A key that is refused: xAI and Google, under 400.
	keyWords = pattern(`\b(?:incorrect|invalid) api key|\bapi key (?:is |was |has been )?(?:not valid|invalid|expired|revoked)`)
	// The same under 403, which is about a key unless the message says otherwise. Elsewhere a token may be one of a text.
	accessWords = pattern(beside(`api[ -]?key|token|credentials?|authentication|signature`,
		`invalid|incorrect|unknown|missing|expired|disabled|revoked`,
		`invalid|expired|disabled|revoked|deactivated|suspended|blocked|not (?:valid|recognized)`))
)

// every is what stands before a period.
const every = `(?:\bper[ -]|\b(?:calls|requests|tokens|queries|messages|images) ?/ ?)`

// said returns what a failure says, and its words in lower case, with numbers but no commas in them.
func (f *fault) said() (text, words string) {
	text = f.message + "\n" + f.raw
	if at := echo().FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	text = text[:min(len(text), maxSaid)]
	return text, digitComma().ReplaceAllString(strings.ToLower(text), "$1$2")
}

// classify says what can be done about a failure.
func (f *fault) classify(own map[string]provider.Kind, status int, retryAfter bool) provider.Kind {
	names := append([]string{f.code, f.kind}, f.inner...)
	for _, kinds := range []map[string]provider.Kind{own, exactKinds} {
		for _, name := range names {
			if kind, ok := kinds[strings.ToLower(name)]; ok {
				return kind
			}
		}
	}
	if f.moderated && (status == http.StatusForbidden || status == 0) {
		return provider.KindContentFilter
	}
	said, words := f.said()
	names = append(names, errorName().FindAllString(said, maxSpoken)...)
	for i, name := range names {
		names[i] = nameWords(name)
	}
	if strings.Contains(words, "request too large for ") || overdrawn(words) { // than a minute's tokens: OpenAI and Groq
		return provider.KindContextOverflow
	}
	limit, passes := f.limit(words, names, status)
	if kind := cmp.Or(called(names, status, passes && !emptyWords().MatchString(words)), f.spoken(words, names, status, limit)); kind != "" {
		return kind
	}
	switch {
	case status == http.StatusForbidden && f.blocked != "", status == 0 && f.lost != "":
		return provider.KindValidation
	case status != 0:
		return statusKind(status, retryAfter || passes)
	}
	for _, name := range names {
		for _, broad := range broadNames {
			if broad.name().MatchString(name) {
				return broad.kind
			}
		}
	}
	return provider.KindAPI
}

// called returns what the names of a failure mean; "": nothing. passes says that it speaks of a limit that passes: then a name of money is
// one of that limit, unless another name says more.
func called(names []string, status int, passes bool) (kind provider.Kind) {
	for _, name := range names {
		switch means := meaning(name); {
		case means == provider.KindQuota && passes:
			kind = provider.KindRateLimit
		case means != "" && (means != provider.KindContextOverflow || status != http.StatusTooManyRequests):
			return means
		}
	}
	return kind
}

// soon bounds a wait for a limit that passes, where other words speak of a limit that does not.
const soon = 10 * time.Minute

// limit returns what a failure says of a limit on requests or tokens: rate_limit, or quota for one that lasts; "": nothing. passes says
// that it is a rate limit whatever else is said of quotas.
func (f *fault) limit(words string, names []string, status int) (kind provider.Kind, passes bool) {
	wrong := wrongRequest(status) // then words may be of the request itself
	told := status == http.StatusTooManyRequests || status == http.StatusPaymentRequired ||
		limitWords().MatchString(words) && (!wrong || !fieldWords().MatchString(words))
	ends := func(wait time.Duration) bool { return wait > 0 && wait <= soon }
	switch {
	case strings.Contains(f.reason, "perday"), told && overWords().MatchString(words): // Google names a wait beside it
		return provider.KindQuota, false
	case told && (passing().MatchString(words) || ends(saidWait(words))), ends(f.wait):
		return provider.KindRateLimit, true
	case told && dayWords().MatchString(words), slices.ContainsFunc(names, dayName().MatchString):
		return provider.KindQuota, false
	case (told || !wrong) && rateWords().MatchString(words), slices.ContainsFunc(names, tooFast().MatchString):
		return provider.KindRateLimit, false
	default:
		return "", false
	}
}

// wrongRequest reports whether a status says that the request itself is at fault.
func wrongRequest(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}

// meaning returns what the words of a name say by themselves; "": nothing that takes precedence over a status.
func meaning(words string) provider.Kind {
	switch rate := rateName().MatchString(words); {
	case moneyName().MatchString(words), !rate && quotaName().MatchString(words):
		return provider.KindQuota
	case filterName().MatchString(words):
		return provider.KindContentFilter
	case !rate && overflowName().MatchString(words) && excessName().MatchString(words):
		return provider.KindContextOverflow
	default:
		return ""
	}
}

// spoken returns what the words of a message say, where the status leaves it open; "": nothing. limit is what they say of a limit.
func (f *fault) spoken(words string, names []string, status int, limit provider.Kind) provider.Kind {
	rate := limit == provider.KindRateLimit
	// By how much, and for how long, is another question.
	limited := status == http.StatusTooManyRequests || rate && (status == 0 || slices.ContainsFunc(names, tooFast().MatchString))
	wrong := wrongRequest(status)
	switch {
	case status == http.StatusUnauthorized:
		return ""
	case emptyWords().MatchString(words):
		return provider.KindQuota
	case status == http.StatusPaymentRequired:
		return ""
	case !rate && (moneyWords().MatchString(words) || status != http.StatusTooManyRequests && quotaWords().MatchString(words)):
		return provider.KindQuota
	case !rate && status < http.StatusInternalServerError && closedWords().MatchString(words):
		if dueWords().MatchString(words) {
			return provider.KindQuota
		}
		return provider.KindAuthentication
	case !limited && status < http.StatusInternalServerError && !noSuchPath(status) && filterWords().MatchString(words) &&
		!fieldWords().MatchString(words) && !serviceWords().MatchString(words):
		return provider.KindContentFilter
	case !limited && status != http.StatusForbidden && !f.ofReply(words) && overflows(words, status):
		return provider.KindContextOverflow
	case (wrong || status == 0) && keyWords().MatchString(words), strings.Contains(f.reason, "api_key"),
		status == http.StatusForbidden && accessWords().MatchString(words):
		return provider.KindAuthentication // Google says it under a status of 400
	case strings.Contains(f.reason, "billing_disabled"): // Google's: of a project that nobody pays for
		return provider.KindQuota
	case status == http.StatusForbidden && slices.ContainsFunc(names, keyName().MatchString): // a limit beside that is why
		return ""
	case wrong, status == http.StatusForbidden, status == http.StatusTooManyRequests, status == 0: // gateways use them all
		if limit != "" {
			return limit
		}
	}
	if (wrong || status == http.StatusNotFound && f.lost == "") && downWords().MatchString(words) && !fieldWords().MatchString(words) {
		return provider.KindAPI
	}
	return ""
}

// nameWords returns the words of a name in lower case, each between blanks: those of insufficientQuota, INSUFFICIENT_QUOTA and
// insufficient-quota are " insufficient quota ".
func nameWords(name string) string {
	const most = 200
	var b strings.Builder
	b.WriteByte(' ')
	runes := []rune(name[:min(len(name), most)])
	for i, r := range runes {
		letter := unicode.IsLetter(r) || unicode.IsDigit(r)
		if i > 0 && unicode.IsUpper(r) {
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if before := runes[i-1]; unicode.IsLower(before) || unicode.IsUpper(before) && after {
				b.WriteByte(' ')
			}
		}
		if !letter {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
	}
	b.WriteByte(' ')
	return " " + strings.Join(strings.Fields(b.String()), " ") + " "
}

// These statuses are in no standard. statusCapacity is Groq's, of requests for spare capacity. statusClosed says
// that the server's own call was cut short: Google's CANCELLED, and nginx.
const (
	statusCapacity = 498
	statusClosed   = 499
)

// statusKind returns what a status says by itself.
func statusKind(status int, retryAfter bool) provider.Kind {
	switch {
	case status == http.StatusRequestTimeout, status == http.StatusGatewayTimeout:
		return provider.KindTimeout
	case status == http.StatusTooManyRequests, status == statusCapacity:
		return provider.KindRateLimit
	case status == http.StatusPaymentRequired && retryAfter:
		return provider.KindRateLimit
	case status == http.StatusPaymentRequired:
		return provider.KindQuota
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return provider.KindAuthentication
	case status == http.StatusRequestEntityTooLarge:
		return provider.KindContextOverflow
	case status == http.StatusConflict, status == http.StatusFailedDependency, status == http.StatusTooEarly, status == statusClosed,
		status >= http.StatusInternalServerError:
		return provider.KindAPI
	default:
		return provider.KindValidation
	}
}

// Ending says what a reason for the end of a reply means, for reasons that the adapter does not know. The adapter maps the plain ends of
// its protocol itself, such as "stop" or "tool_calls" to [provider.StopEnd] and [provider.StopTool]: to Ending they are unknown, and fail.
//
// field is the name of the field that holds the reason; only failures show it. The words of the reason decide:
//
//   - a filter: [provider.StopFilter]
//   - a limit on the reply: [provider.StopLength]
//   - a refusal by the model: [provider.StopRefusal]
//   - a full window: a failure of kind context_overflow
//   - an end by the server: a failure of kind quota or api_error
//   - anything else: a failure of kind invalid_response, because the reply may have been broken off
//
// A failure is a [*provider.Error], and the reason is empty then.
func (x *Exchange) Ending(field, reason string) (provider.StopReason, error) {
	words := nameWords(reason)
	switch kind := meaning(words); {
	case kind == provider.KindContentFilter:
		return provider.StopFilter, nil
	case kind == provider.KindContextOverflow:
		return "", x.Broken(reason, "the reply filled the model's window")
	case kind != "", brokenReason().MatchString(words):
		return "", x.Broken(reason, "the server broke the reply off")
	case strings.Contains(words, " refus"):
		return provider.StopRefusal, nil
	case lengthReason().MatchString(words):
		return provider.StopLength, nil
	default:
		return "", x.Invalid(field, "unknown "+field+" "+reason)
	}
}

//nolint:gochecknoglobals // read only
var (
	brokenReason = pattern(` (?:error|errors|fail[a-z]*|abort[a-z]*|cancel[a-z]*|network|timeout|timed out|` +
		`interrupt[a-z]*|disconnect[a-z]*|` +
		`overload[a-z]*|unavailable|insufficient|system|internal|crash[a-z]*|killed|preempt[a-z]*) `)
	lengthReason = pattern(` (?:length|max (?:[a-z]+ )*tokens|token limit|output limit) `)
)

// containsAny reports whether a text has one of some words.
func containsAny(s string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(s, w) })
}
