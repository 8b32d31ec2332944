package redact

import (
	"encoding/base64"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxForeign caps the bytes of a text that Foreign looks at. What follows is left out.
const maxForeign = 64 << 10

// Foreign returns a text of unknown origin, such as the error of a host program's own provider, without what looks like
// a secret:
//
//   - the user and password of a URL, and the values of its query, also of a URL that is percent-encoded;
//   - the values of headers and fields that carry credentials;
//   - what stands behind words such as "API key provided:" and looks random;
//   - keys with a vendor's prefix, also broken by white space, HTTP tokens, JSON Web Tokens, and private keys in PEM.
//
// At most 64 KiB of the text are returned.
func Foreign(text string) string {
	if len(text) > maxForeign {
		text = strings.ToValidUTF8(text[:maxForeign], "")
	}
	var spans []Span
	if strings.Contains(text, "PRIVATE KEY-----") {
		for _, at := range privateKey.FindAllStringIndex(text, -1) {
			spans = append(spans, Span{at[0], at[1]})
		}
	}
	if strings.Contains(text, "//") || strings.Contains(text, `/\/`) {
		spans = append(spans, groups(text, userinfo)...)
	}
	if strings.Contains(text, "=") {
		spans = append(append(spans, groups(text, query)...), groups(text, cookie)...)
	}
	if strings.Contains(text, "%") {
		spans = append(append(spans, groups(text, encodedQuery)...), groups(text, encodedUser)...)
	}
	if strings.Contains(text, "eyJ") {
		spans = append(spans, groups(text, webToken)...)
	}
	if named(text) {
		for _, s := range groups(text, prose) {
			if random(text[s.Start:s.End]) {
				spans = append(spans, s)
			}
		}
		for _, at := range field.FindAllStringSubmatchIndex(text, -1) {
			if s := (Span{at[4], at[5]}); telling(text[at[2]:at[3]], text[s.Start:s.End]) {
				spans = append(spans, s)
			}
		}
	}
	return Replace(text, Merge(append(spans, Likely(text)...)))
}

// groups returns the first group of each match.
func groups(text string, of *regexp.Regexp) []Span {
	var spans []Span
	for _, at := range of.FindAllStringSubmatchIndex(text, -1) {
		if at[2] < at[3] {
			spans = append(spans, Span{at[2], at[3]})
		}
	}
	return spans
}

// Go's regular expressions take linear time.
var (
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)`)
	// The last @ before the path ends the user.
	userinfo = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:(?:\\*/){2}([^/\\\s"'<>?#]+)@`)
	query    = regexp.MustCompile(`[?&#](?:amp;)?[A-Za-z0-9_.$~%+\[\]-]+=([^&\s"'<>#]+)`)
	cookie   = regexp.MustCompile(`(?i)cookie["'\\]*\s*[:=]\s*(?:\[\]string\{)?["'\\\[]*([^\s=;"'\]]+=[^\r\n"'\]]+)`)
	field    = regexp.MustCompile(`(?i)(?:^|[^a-z0-9_-])(` + names + `)["'\\]*\s*(?:[:=]|=>)\s*` +
		`(?:\[\]string\{)?["'\\\[]*(?:(?:` + schemes + `)(?:\s|%20|\\+u0020)+(?:token=["'\\]*)?)?([^\s"'\\,;\[\]{}<>&]+)`)
	prose = regexp.MustCompile(`(?i)(?:key|token|secret|credential|password)s?\s*` +
		`(?:(?:provided|given|supplied|used|sent|received|is|was|value)\s*)*` +
		`[:=]?[\s"'\\(\[` + "`" + `]*([a-z0-9_.~+/=-]{16,})`)
	// A JSON Web Token: its header is an object in base64, and mostly its claims are, too. It may have no signature.
	webToken = regexp.MustCompile(`(eyJ[A-Za-z0-9_-]{8,}\.(?:[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*))`)
	// What is percent-encoded may be so again.
	encodedQuery = regexp.MustCompile(`(?i)%(?:25)*(?:3f|26|23)[a-z0-9_.~$\[\]-]+%(?:25)*3d` +
		`((?:[^%&\s"'<>#]|%(?:25)*(?:[013-9a-f][0-9a-f]|2[0-247-9a-f]))+)`)
	encodedUser = regexp.MustCompile(`(?i)[a-z][a-z0-9+.-]*%(?:25)*3a(?:%(?:25)*2f){2}` +
		`((?:[^%/\s"'<>?#]|%(?:25)*(?:[0124-9a-f][0-9a-f]|2[0-9a-e]|3[0-9a-e]))+)%(?:25)*40`)
)

// schemes are those of the header Authorization.
const schemes = `bearer|basic|token|digest|key|api-?key|oauth|dpop|hawk|hmac|sso-key|shared-?key|genie-?key|splunk`

// names are the headers and fields that carry credentials.
const names = `(?:proxy-)?authorization|(?:x-)?(?:[a-z0-9]+-)?api-?key|(?:[a-z0-9]+_)*api_?key|apikey|` +
	`x-[a-z0-9-]*(?:token|signature|credential|key|auth)|(?:[a-z0-9]+-)*(?:subscription|functions?|master|access|account|auth)-key|` +
	`(?:access|auth|refresh|id|session|security|bearer)[_-]?token|` +
	`(?:[a-z0-9]+[_-])?secret(?:[_-](?:access[_-])?key)?|client[_-]?secret|private[_-]?key|password|passwd|pwd|signature`

// named reports whether a text may have a field of these names. It is much faster than the expression.
func named(text string) bool {
	text = strings.ToLower(text)
	for _, part := range []string{"auth", "key", "token", "secret", "passw", "pwd", "signature", "credential"} {
		if strings.Contains(text, part) {
			return true
		}
	}
	return false
}

// telling reports whether the value of such a field is a secret, and not a word about it, as in "password: required".
func telling(name, value string) bool {
	if len(value) >= MinKey || strings.ContainsAny(value, digits) && len(value) >= 6 {
		return true
	}
	switch strings.ToLower(name) {
	case "password", "passwd", "pwd":
		return strings.ContainsAny(value, digits+"!$*+/=@^_~")
	default:
		return false
	}
}

// random reports whether a part of a text looks drawn, as no word, model or date does: twelve letters and digits in a row,
// with at least three digits and a letter.
func random(s string) bool {
	letters, numbers := 0, 0
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9':
			numbers++
		case sextet(c) >= 0 && sextet(c) < 52:
			letters++
		default:
			letters, numbers = 0, 0
		}
		if letters > 0 && numbers >= 3 && letters+numbers >= 12 {
			return true
		}
	}
	return false
}

// Carries reports whether a text that is to be recorded has the form of a credential, or holds one: a vendor's key, a token of
// HTTP or JSON, a private key, a URL with a user. It does not look at the names of fields.
func Carries(text string) bool {
	return len(Likely(text)) > 0 || privateKey.MatchString(text) || len(groups(text, userinfo)) > 0 || webToken.MatchString(text)
}

// leastKey is the minimum length, in bytes, of the part of a key after its prefix.
const leastKey = 16

// What keys and tokens are made of.
const (
	digits   = "0123456789"
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	inKey    = digits + capitals + "abcdefghijklmnopqrstuvwxyz_-"
	inToken  = inKey + ".~+/="
)

// Likely returns the parts of a text that look like a vendor's key or an HTTP token. Spans may overlap. It does not look
// into a part again, because every match inside would have the same end.
func Likely(text string) []Span {
	var found []Span
	for _, prefix := range shownPrefixes {
		for end := 0; ; {
			i := strings.Index(text[end:], prefix)
			if i < 0 {
				break
			}
			start := end + i
			body := start + len(prefix)
			var like bool
			if end, like = joined(text, body, bodyOf(prefix)); like {
				found = append(found, Span{start, end})
			}
		}
	}
	for _, scheme := range []string{"Bearer", "bearer", "BEARER"} {
		found = tokens(found, text, scheme, likeKey)
	}
	return tokens(found, text, "Basic", likeUser)
}

// joined returns where the part of a text ends that consists of these characters, and whether it is like a key.
// Characters that do not print do not end it, and white space does not if a key has begun and what follows looks like more
// of it.
func joined(text string, at int, of string) (end int, like bool) {
	end = at + leading(text[at:], of)
	length, marked := end-at, strings.ContainsAny(text[at:end], digits+capitals)
	for {
		next := end + hidden(text[end:])
		more := text[next : next+leading(text[next:], of)]
		broken := strings.ContainsAny(text[end:next], " \t\r\n")
		if next == end || more == "" || broken && (length < InFailures || !marked || !random(more)) {
			return end, length >= leastKey && marked
		}
		end = next + len(more)
		length, marked = length+len(more), marked || strings.ContainsAny(more, digits+capitals)
	}
}

// maxHidden bounds what is looked over between two parts of a key, in bytes.
const maxHidden = 32

// hidden returns the length of the beginning of a text that shows nothing.
func hidden(s string) int {
	n := 0
	for i, r := range s {
		if i > maxHidden || !invisible(r) {
			break
		}
		n = i + utf8.RuneLen(r)
	}
	return n
}

// bodyOf returns what the part of a key after its prefix is made of. The short prefixes that end in an underscore could
// begin the name of a variable, which has more of them.
func bodyOf(prefix string) string {
	if len(prefix) <= 4 && strings.HasSuffix(prefix, "_") {
		return inKey[:len(inKey)-len("_-")]
	}
	return inKey
}

// tokens adds the values that follow a scheme of HTTP authentication.
func tokens(found []Span, text, scheme string, like func(string) bool) []Span {
	for end := 0; ; {
		i := strings.Index(text[end:], scheme)
		if i < 0 {
			return found
		}
		rest := text[end+i+len(scheme):]
		token := strings.TrimLeft(strings.TrimPrefix(rest, "%20"), " +\t\r\n")
		start := len(text) - len(token)
		end = start
		if len(token) == len(rest) {
			continue // a longer word
		}
		end += leading(token, inToken)
		if like(text[start:end]) {
			found = append(found, Span{start, end})
		}
	}
}

// leading returns the length of the beginning of a text that consists of these characters.
func leading(text, of string) int { return len(text) - len(strings.TrimLeft(text, of)) }

// likeKey reports whether a part of a text is a key, and not a hyphenated word such as one that follows the "sk-" of
// "task-": it is long, and has a digit or a capital letter.
func likeKey(s string) bool { return len(s) >= leastKey && strings.ContainsAny(s, digits+capitals) }

// likeUser reports whether a part of a text is a user and a password in base64.
func likeUser(s string) bool {
	plain, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(s, "="))
	return err == nil && len(plain) > 2 && strings.Contains(string(plain), ":")
}
