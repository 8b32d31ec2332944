package wire

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
)

// firewall returns why a refusal under 403 whose body is no error of the API is no matter of the key; "" if
// it may be one. Firewalls and proxies answer with a page, with a number of their own, or with a header.
func (x *Exchange) firewall(page bool, body string) string {
	if page || x.Header("Cf-Mitigated") != "" || x.Header("X-Vercel-Mitigated") != "" || edgeError().MatchString(body) {
		return "a firewall or proxy in front of the API refused the request; check BaseURL, proxies, " +
			"and whether this address is blocked"
	}
	return ""
}

// edgeError is what Cloudflare answers to programs: its number of the rule.
//
//nolint:gochecknoglobals // read only
var edgeError = pattern(`^\s*error code: 1\d\d\d\s*$`)

// refusal returns why a refusal under 403 is no matter of the key: the vendor does not serve the place that the request came from, or the
// account's plan does not have what was asked for. It returns "" if the failure does not say so.
func (f *fault) refusal() string {
	words := strings.ToLower(f.code + "\n" + f.kind + "\n" + f.message + "\n" + f.raw)
	switch {
	case containsAny(words, regionWords):
		return "the vendor does not serve this place or this network; choose another model or vendor, or call it from where it serves"
	case containsAny(words, planWords):
		return "the account's plan does not have this; choose another model, or another plan"
	}
	return ""
}

// With these words vendors refuse a place, and what a plan does not have.
//
//nolint:gochecknoglobals // read only
var (
	regionWords = []string{
		"unsupported_country_region_territory", "country, region, or territory not supported", // OpenAI
		"not available in your region", "not available in your country", // OpenRouter and vendors behind it
		"location is not supported",        // Google
		"\nforbidden\nrequest not allowed", // Anthropic's edge, for a type that its API does not have
		"virtual network/firewall rules",   // Azure
	}
	planWords = []string{
		"requires a subscription", // Ollama
		"tier_not_allowed",        // Mistral
	}
)

// noSuchPath reports whether a status says that the server has nothing at a path, or not for this method.
func noSuchPath(status int) bool {
	return status == http.StatusNotFound || status == http.StatusMethodNotAllowed
}

// astray returns what is wrong with BaseURL, if a failure is about the path of the request and not about what was asked there; "": it
// is not, or it does not say so. foreign says that the answer is no error of an API: a page, a plain text, or nothing.
func (x *Exchange) astray(f *fault, foreign bool) string {
	words := strings.ToLower(f.code + "\n" + f.kind + "\n" + f.message)
	path := strings.ToLower(x.below())
	rest := strings.ReplaceAll(words, path, "")
	if x.path == "" || containsAny(rest, itemWords) { // a path may have such a word in it
		return ""
	}
	if !foreign && (len(path) < 2 || rest == words) && !pathWords().MatchString(words) {
		return ""
	}
	return x.nothing()
}

// below returns the path of the request below BaseURL. What BaseURL itself has, such as an account or a token, is in no message.
func (x *Exchange) below() string {
	return strings.TrimPrefix(x.path, strings.TrimRight(x.base.Path, "/"))
}

// nothing says that the server has nothing at the path of the request, and how that is usually corrected.
func (x *Exchange) nothing() string {
	return "the server has nothing at " + x.below() + " below BaseURL: " + advice(strings.TrimRight(x.base.Path, "/"), x.below())
}

// Unexpected returns the failure for an answer under a status of 2xx that is not what was asked for. An error counts as that. Anything else
// has kind invalid_response, with code and message. A web page has [CodeEndpoint] and says what to correct in BaseURL: mostly the path is
// wrong, but the page may also be that of a network that asks for a login. data is the answer, or its first bytes.
func (x *Exchange) Unexpected(data []byte, code, message string) error {
	switch {
	case isPage(data):
		return x.Invalid(CodeEndpoint, "the server answered with a web page ("+x.nothing()+")")
	case x.IsFault(data):
		return x.Fault(data)
	}
	return x.Invalid(code, message+"; is BaseURL the URL of the API?")
}

// isPage reports whether an answer is a web page or another document in a markup language. No API answers so.
func isPage(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, "\xEF\xBB\xBF \t\r\n"), []byte("<"))
}

// advice says how a BaseURL with this path is usually corrected. path is that of the API below it.
func advice(base, path string) string {
	versions := func(path string) int {
		parts := strings.Split(path, "/")
		return len(slices.DeleteFunc(parts, func(part string) bool { return !version().MatchString(part) }))
	}
	ollama := strings.HasPrefix(path, "/api/")
	switch {
	case strings.HasSuffix(base, path):
		return "leave " + path + " out of BaseURL"
	case versions(base) > 0 && (versions(path) > 0 || ollama), strings.Contains(base, "/v1/v1"):
		return "leave /v1 out of BaseURL"
	case versions(base)+versions(path) == 0 && !ollama:
		return "BaseURL usually ends in /v1"
	default:
		return "check the path of BaseURL"
	}
}

//nolint:gochecknoglobals // read only
var (
	version = pattern(`^v\d+[a-z0-9]*$`)
	// With these words servers say that they have no such path.
	pathWords = pattern(`\b(?:unexpected|unknown|invalid|unsupported|no|such|unrecognized|` +
		`wrong)\W+(?:\w+\W+){0,2}?(?:endpoint|route|path|url|uri)\b|` +
		`\b(?:endpoint|route|path|url|uri)\b\W+(?:\S+\W+){0,4}?(?:not (?:found|exist|supported|recognized|allowed)|does(?:n't| not) exist)|` +
		`\bcannot (?:post|get) |\n\s*(?:error:? ?)?(?:404:? ?)?(?:file |page |resource )?(?:not found|method not allowed)\W*$`)
)

// These words say that a failure is about something that was asked for by its name.
//
//nolint:gochecknoglobals // read only
var itemWords = []string{"model", "deployment", "item with id", "no endpoints found"}
