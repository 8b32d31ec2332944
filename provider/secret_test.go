package provider_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
)

func TestNamesOfCredentials(t *testing.T) {
	for name, tc := range map[string]struct {
		secret        func(string) bool
		secrets, open string
	}{
		"headers": {
			provider.SecretHeader,
			`Authorization Proxy-Authorization cf-aig-authorization Authentication X-Auth X-Auth-Key X_Auth_Token Helicone-Auth x-authkey
			 X-Api-Key Api_Key apikey X-ApiKey X-Goog-Api-Key Ocp-Apim-Subscription-Key x-portkey-virtual-key x-portkey-api-key X-Key
			 X-Access-Token X-Token Private-Token X-Bearer X-JWT X-Jwt-Assertion Cookie Set-Cookie X-Secret X-Client-Secret X-Password X-Passwd
			 X-Credential X-Session-Id X-Amz-Signature X-Amz-Date X-Hub-Signature-256 X-Sig X-HMAC X-OAuth`,
			`X-Trace traceparent X-Team X-Title HTTP-Referer anthropic-beta OpenAI-Organization OpenAI-Project x-goog-user-project X-Author
			 X-Keyboard X-Monkey x-portkey-trace-id x-portkey-config Helicone-Property-App Helicone-Cache-Enabled X-Max-Tokens X-Tokenizer
			 X-Request-Id cf-aig-metadata X-Design X-Signal`,
		},
		"fields": {
			provider.SecretField,
			`api_key apiKey API_KEY x-api-key authorization Authorization authorization_token auth token access_token accessToken
			 client_secret clientSecret password aws_secret_access_key private_key bearer jwt id_token subscriptionKey cookie credentials`,
			`max_tokens prompt_cache_key stop_token_ids eos_token session_id key keys tokenizer top_k author thinking_token_budget signature
			 safety_identifier metadata user logit_bias skip_special_tokens cache_key`,
		},
	} {
		for word := range strings.FieldsSeq(tc.secrets) {
			assert.True(t, tc.secret(word), "%s: %s", name, word)
		}
		for word := range strings.FieldsSeq(tc.open) {
			assert.False(t, tc.secret(word), "%s: %s", name, word)
		}
	}
}
