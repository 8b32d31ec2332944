package provider

import (
	"slices"
	"strings"
	"unicode"
)

//nolint:gochecknoglobals // read only
var (
	// secretWords mark the name of a credential wherever they stand, without regard to what separates words.
	secretWords = []string{
		"authorization", "authentication", "apikey", "accesskey", "authkey", "privatekey", "secretkey", "subscriptionkey", "virtualkey",
		"cookie", "secret", "credential", "password", "passwd", "passphrase", "bearer", "jwt", "accesstoken", "authtoken", "apitoken",
		"refreshtoken", "idtoken", "sessiontoken", "securitytoken", "usertoken",
	}
	// secretAlone are whole names of credentials.
	secretAlone = []string{"auth", "token", "pwd"}
	// secretInHeaders are words that mark a header. The fields of a body use them for other things: "prompt_cache_key",
	// "stop_token_ids", "session_id".
	secretInHeaders = []string{"auth", "oauth", "key", "token", "pwd", "signature", "sig", "hmac", "session", "sessionid"}
	// secretHeads begin the names of headers that sign a request.
	secretHeads = []string{"x-amz-", "x-goog-api"}
)

// SecretHeader reports whether a header carries a credential by its name: authorization, keys, cookies, tokens,
// signatures. Such headers belong to the value of a provider, never to a config, because configs are recorded.
func SecretHeader(name string) bool {
	lower := strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, head := range secretHeads {
		if strings.HasPrefix(lower, head) {
			return true
		}
	}
	words := wordsOf(lower)
	return secretWord(words) || slices.ContainsFunc(words, func(word string) bool { return slices.Contains(secretInHeaders, word) })
}

// SecretField reports whether a field of a JSON object carries a credential by its name, such as "api_key" or
// "authorizationToken". [Options.Extra] holds no such field with a text, at any depth, because configs are recorded.
func SecretField(name string) bool {
	words := wordsOf(name)
	return secretWord(words) || len(words) == 1 && slices.Contains(secretAlone, words[0])
}

// secretWord reports whether a name holds a word that marks a credential.
func secretWord(words []string) bool {
	joined := strings.Join(words, "")
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(joined, word) })
}

// wordsOf returns the words of a name in small letters: "apiKey", "api-key" and "API_KEY" have two.
func wordsOf(name string) (words []string) {
	var word []rune
	end := func() {
		if len(word) > 0 {
			words, word = append(words, string(word)), nil
		}
	}
	small := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			end()
		case unicode.IsUpper(r) && small:
			end()
			fallthrough
		default:
			word = append(word, unicode.ToLower(r))
		}
		small = unicode.IsLower(r) || unicode.IsDigit(r)
	}
	end()
	return words
}
