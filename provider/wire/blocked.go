package wire

import (
	"regexp"
	"strings"
)

// firewall returns why a refusal under 403 whose body is no error of the API is no matter of the key; "" if
// it may be one. Firewalls and proxies answer with a page, with a number of their own, or with a header.
func (x *Exchange) firewall(page bool, body string) string {
	if page || x.Header("Cf-Mitigated") != "" || x.Header("X-Vercel-Mitigated") != "" || edgeError.MatchString(body) {
		return "a firewall or proxy in front of the API refused the request; check BaseURL, proxies, " +
			"and whether this address is blocked"
	}
	return ""
}

// edgeError is what Cloudflare answers to programs: its number of the rule.
var edgeError = regexp.MustCompile(`^\s*error code: 1\d\d\d\s*$`)

// region returns why a refusal under 403 is no matter of the key: the vendor does not serve the place that
// the request came from. It returns "" if the failure does not say so.
func (f *fault) region() string {
	words := strings.ToLower(f.code + "\n" + f.kind + "\n" + f.message + "\n" + f.raw)
	for _, w := range regionWords {
		if strings.Contains(words, w) {
			return "the vendor does not serve this place or this network; choose another model or vendor, or call it from " +
				"where it serves"
		}
	}
	return ""
}

// With these words vendors refuse a place.
//
//nolint:gochecknoglobals // read only
var regionWords = []string{
	"unsupported_country_region_territory", "country, region, or territory not supported", // OpenAI
	"not available in your region", "not available in your country", // OpenRouter and vendors behind it
	"location is not supported",        // Google
	"\nforbidden\nrequest not allowed", // Anthropic's edge, for a type that its API does not have
}
