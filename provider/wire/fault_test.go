package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/internal/longform"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// refused is the failure that a status with a body stands for.
func refused(t testing.TB, status int, body string, headers ...string) *provider.Error {
	t.Helper()
	head := strings.Join(append([]string{fmt.Sprintf("HTTP/1.1 %d X", status), "Connection: close"}, headers...), "\r\n")
	_, err := send(t, endpoint(says(head+"\r\n\r\n"+body)))
	var e *provider.Error
	require.ErrorAs(t, err, &e)
	return e
}

func coded(code string) string { return `{"error":{"code":"` + code + `","message":"m"}}` }

func typed(kind string) string {
	return `{"type":"error","error":{"type":"` + kind + `","message":"m"}}`
}

func xai(code, text string) string {
	body, _ := json.Marshal(map[string]string{"code": code, "error": text})
	return string(body)
}

func google(status string, code int, details string) string {
	return fmt.Sprintf(`[{"error":{"code":%d,"message":"m","status":%q,"details":[%s]}}]`, code, status, details)
}

func TestFaults(t *testing.T) {
	const (
		retry = `{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}`
		day   = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}`
		each  = `{"@type":"type.googleapis.com/google.rpc.QuotaFailure","violations":[{"quotaId":"GenerateRequestsPerMinutePerProject"}]}`
		key   = `{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID","domain":"googleapis.com"}`
	)
	tests := []struct {
		name   string
		status int
		body   string
		kind   provider.Kind
		code   string
		wait   time.Duration
	}{
		{"openai rate", 429, coded("rate_limit_exceeded"), provider.KindRateLimit, "rate_limit_exceeded", 0},
		{"openai too much for a minute", 429, `{"error":{"code":"rate_limit_exceeded","message":"Request too large for gpt-5 on tokens per min (TPM): Limit 9, Requested 12."}}`, provider.KindContextOverflow, "rate_limit_exceeded", 0},
		{"openai usage policy", 400, coded("invalid_prompt"), provider.KindContentFilter, "invalid_prompt", 0},
		{"openai quota", 429, coded("insufficient_quota"), provider.KindQuota, "insufficient_quota", 0},
		{"openai quota by type", 429, `{"error":{"type":"insufficient_quota","code":null,"message":"m"}}`, provider.KindQuota, "insufficient_quota", 0},
		{"openai credit", 429, coded("credit_balance_exhausted"), provider.KindQuota, "credit_balance_exhausted", 0},
		{"openai organization", 429, coded("organization_spend_limit_exceeded"), provider.KindQuota, "", 0},
		{"openai project", 429, coded("project_spend_limit_exceeded"), provider.KindQuota, "", 0},
		{"openai usage", 429, coded("organization_usage_limit_exceeded"), provider.KindQuota, "", 0},
		{"openai hard limit", 400, coded("billing_hard_limit_reached"), provider.KindQuota, "", 0},
		{"openai inactive", 429, coded("billing_not_active"), provider.KindQuota, "", 0},
		{"openai slow down", 503, coded("slow_down"), provider.KindRateLimit, "slow_down", 0},
		{"openai window", 400, coded("context_length_exceeded"), provider.KindContextOverflow, "", 0},
		{"openai filter", 400, coded("content_policy_violation"), provider.KindContentFilter, "", 0},
		{"openai cyber policy", 400, coded("cyber_policy"), provider.KindContentFilter, "cyber_policy", 0},
		{"openai biology policy", 400, coded("bio_policy"), provider.KindContentFilter, "bio_policy", 0},
		{"openai misalignment policy", 400, coded("misalignment_policy_violation"), provider.KindContentFilter, "", 0},
		{"azure policy of images", 400, coded("image_content_policy_violation"), provider.KindContentFilter, "", 0},
		{"openai key", 401, coded("invalid_api_key"), provider.KindAuthentication, "invalid_api_key", 0},
		{"openai model", 404, coded("model_not_found"), provider.KindValidation, "model_not_found", 0},
		{"a status goes before a broad code", 500, coded("invalid_request_error"), provider.KindAPI, "", 0},

		{"anthropic rate", 429, typed("rate_limit_error"), provider.KindRateLimit, "rate_limit_error", 0},
		{"anthropic overloaded", 529, typed("overloaded_error"), provider.KindAPI, "overloaded_error", 0},
		{"anthropic billing", 402, typed("billing_error"), provider.KindQuota, "billing_error", 0},
		{"anthropic timeout", 504, typed("timeout_error"), provider.KindTimeout, "timeout_error", 0},
		{"anthropic permission", 403, typed("permission_error"), provider.KindAuthentication, "permission_error", 0},
		{"anthropic request", 400, typed("invalid_request_error"), provider.KindValidation, "invalid_request_error", 0},
		{"anthropic too large", 413, typed("request_too_large"), provider.KindContextOverflow, "request_too_large", 0},
		{"anthropic window", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, provider.KindContextOverflow, "", 0},
		{"anthropic window and output", 400, `{"error":{"type":"invalid_request_error","message":"input length and max_tokens exceed context limit"}}`, provider.KindContextOverflow, "", 0},
		{"anthropic spending limit", 400, `{"error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}`, provider.KindQuota, "", 0},
		{"anthropic credit", 400, `{"error":{"type":"invalid_request_error","message":"Your credit balance is too low"}}`, provider.KindQuota, "", 0},

		{"google rate", 429, google("RESOURCE_EXHAUSTED", 429, each+","+retry), provider.KindRateLimit, "RESOURCE_EXHAUSTED", 34500 * time.Millisecond},
		{"google day", 429, google("RESOURCE_EXHAUSTED", 429, day+","+retry), provider.KindQuota, "RESOURCE_EXHAUSTED", 34500 * time.Millisecond},
		{"google key", 400, google("INVALID_ARGUMENT", 400, key), provider.KindAuthentication, "INVALID_ARGUMENT", 0},
		{"google argument", 400, google("INVALID_ARGUMENT", 400, ""), provider.KindValidation, "INVALID_ARGUMENT", 0},
		{"google window", 400, `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"The input token count (9) exceeds the maximum number of tokens allowed (8)."}}`, provider.KindContextOverflow, "", 0},
		{"google deadline", 504, google("DEADLINE_EXCEEDED", 504, ""), provider.KindTimeout, "DEADLINE_EXCEEDED", 0},
		{"google permission", 403, google("PERMISSION_DENIED", 403, ""), provider.KindAuthentication, "PERMISSION_DENIED", 0},
		{"google unavailable", 503, google("UNAVAILABLE", 503, ""), provider.KindAPI, "UNAVAILABLE", 0},
		{"google odd details", 429, google("RESOURCE_EXHAUSTED", 429, `{"retryDelay":7,"reason":[],"violations":[]},{"violations":[{}]}`), provider.KindRateLimit, "", 7 * time.Second},
		{"google broken details", 429, google("RESOURCE_EXHAUSTED", 429, `{"violations":"x"}`), provider.KindRateLimit, "", 0},

		{"openrouter moderation", 403, `{"error":{"code":403,"message":"m","metadata":{"reasons":["x"]}}}`, provider.KindContentFilter, "403", 0},
		{"openrouter credits", 402, `{"error":{"code":402,"message":"m"}}`, provider.KindQuota, "402", 0},
		{"openrouter upstream window", 400, `{"error":{"code":400,"message":"Provider returned error","metadata":{"raw":"maximum context length is 8"}}}`, provider.KindContextOverflow, "", 0},
		{"vllm", 400, `{"object":"error","message":"This model's maximum context length is 8","type":"BadRequestError","code":400}`, provider.KindContextOverflow, "BadRequestError", 0},
		{"ollama", 400, `{"error":"the input exceeds the available context size"}`, provider.KindContextOverflow, "", 0},
		{"llama.cpp", 400, `{"error":{"code":400,"type":"exceed_context_size_error","message":"m"}}`, provider.KindContextOverflow, "exceed_context_size_error", 0},
		{"deepseek", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","code":"invalid_request_error"}}`, provider.KindQuota, "", 0},
		{"mistral", 422, `{"object":"error","message":{"detail":[{"msg":"x"}]},"type":"invalid_request_error"}`, provider.KindValidation, "invalid_request_error", 0},
		{"fastapi", 422, `{"detail":[{"msg":"x"}]}`, provider.KindValidation, "", 0},
		{"xai window", 400, xai("Client specified an invalid argument", "This model's maximum prompt length is 131072 but the request contains 136973 tokens."), provider.KindContextOverflow, "Client specified an invalid argument", 0},
		{"xai window, newer", 400, xai("invalid-argument", "[input_too_large] 9 tokens exceed it"), provider.KindContextOverflow, "invalid-argument", 0},
		{"xai safety", 403, xai("permission-denied", "Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO"), provider.KindContentFilter, "permission-denied", 0},
		{"xai credits", 403, xai("personal-team-blocked:spending-limit", "You have run out of credits"), provider.KindQuota, "personal-team-blocked:spending-limit", 0},
		{"xai no credits yet", 403, xai("permission-denied", "Your newly created team doesn't have any credits or licenses yet."), provider.KindQuota, "", 0},
		{"xai spending limit", 429, xai("resource-exhausted", "The team has either used all available credits or reached its monthly spending limit."), provider.KindQuota, "resource-exhausted", 0},
		{"xai rate", 429, xai("resource-exhausted", "Too many requests"), provider.KindRateLimit, "", 0},
		{"xai key", 400, xai("Client specified an invalid argument", "Incorrect API key provided: xa***."), provider.KindAuthentication, "", 0},
		{"xai permission", 403, xai("permission-denied", "Access to the endpoint is denied"), provider.KindAuthentication, "permission-denied", 0},
		{"moonshot quota", 429, typed("exceeded_current_quota_error"), provider.KindQuota, "exceeded_current_quota_error", 0},
		{"moonshot quota under 403", 403, typed("exceeded_current_quota_error"), provider.KindQuota, "", 0},
		{"moonshot window", 400, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 262144 (requested: 269030)","type":"invalid_request_error"}}`, provider.KindContextOverflow, "", 0},
		{"lm studio window", 400, `{"error":"Trying to keep the first 9 tokens when context the overflows."}`, provider.KindContextOverflow, "", 0},
		{"groq schema", 400, coded("json_validate_failed"), provider.KindInvalidResponse, "json_validate_failed", 0},
		{"groq tool", 400, coded("tool_use_failed"), provider.KindInvalidResponse, "tool_use_failed", 0},
		{"openrouter free models of a day", 429, `{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-day"}}`, provider.KindQuota, "429", 0},
		{"openrouter free models of a minute", 429, `{"error":{"code":429,"message":"Rate limit exceeded: free-models-per-min"}}`, provider.KindRateLimit, "429", 0},
		{"openrouter key limit", 403, `{"error":{"code":403,"message":"Key limit exceeded (monthly limit). Manage it elsewhere."}}`, provider.KindQuota, "403", 0},
		{"openrouter key limit, older", 403, `{"error":{"code":403,"message":"Key limit exceeded. Manage it elsewhere."}}`, provider.KindQuota, "403", 0},
		{"groq capacity", 498, `{"error":{"message":"m","type":"capacity_exceeded","code":"capacity_exceeded"}}`, provider.KindRateLimit, "capacity_exceeded", 0},
		{"google billing", 403, google("PERMISSION_DENIED", 403, `{"reason":"BILLING_DISABLED","domain":"googleapis.com"}`), provider.KindQuota, "PERMISSION_DENIED", 0},
		{"google billing, in words", 403, strings.Replace(google("PERMISSION_DENIED", 403, ""), `"m"`, `"This API method requires billing to be enabled."`, 1), provider.KindQuota, "PERMISSION_DENIED", 0},
		{"google canceled", 499, google("CANCELLED", 499, ""), provider.KindAPI, "CANCELLED", 0},
		{"a key's limit of a rate", 429, `{"error":{"message":"API key limit exceeded, try again in a minute"}}`, provider.KindRateLimit, "", 0},
		{"groq spending limit", 400, coded("blocked_api_access"), provider.KindQuota, "blocked_api_access", 0},
		{"groq spending limit, another code", 400, `{"error":{"code":"spend_limit_reached","type":"invalid_request_error","message":"m"}}`, provider.KindQuota, "spend_limit_reached", 0},
		{"google prepaid", 429, strings.Replace(google("RESOURCE_EXHAUSTED", 429, ""), `"m"`, `"Your prepayment credits are depleted."`, 1), provider.KindQuota, "RESOURCE_EXHAUSTED", 0},
		{"google spending cap", 429, strings.Replace(google("RESOURCE_EXHAUSTED", 429, ""), `"m"`, `"This project has exceeded its monthly spending cap."`, 1), provider.KindQuota, "RESOURCE_EXHAUSTED", 0},
		{"openrouter region", 403, `{"error":{"code":403,"message":"This model is not available in your region."}}`, provider.KindValidation, "403", 0},
		{"openai region", 403, coded("unsupported_country_region_territory"), provider.KindValidation, "unsupported_country_region_territory", 0},
		{"openrouter moderation before region", 403, `{"error":{"code":403,"message":"not available in your region","metadata":{"reasons":["x"]}}}`, provider.KindContentFilter, "403", 0},
		{"cloudflare", 403, "error code: 1010", provider.KindValidation, "blocked", 0},
		{"a firewall's page", 403, "<!DOCTYPE html><title>Attention Required!</title>", provider.KindValidation, "blocked", 0},
		{"words of quota do not speak for a key", 401, `{"error":{"message":"insufficient balance"}}`, provider.KindAuthentication, "", 0},
		{"words do not speak for a key", 401, `{"error":{"message":"maximum context length"}}`, provider.KindAuthentication, "", 0},
		{"nested", 500, `{"error":{"error":{"code":"insufficient_quota","message":"m"}}}`, provider.KindQuota, "", 0},
		{"nested for ever", 500, strings.Repeat(`{"error":`, 50) + `1` + strings.Repeat(`}`, 50), provider.KindAPI, "", 0},
	}
	for _, tt := range tests {
		e := refused(t, tt.status, tt.body)
		assert.Equal(t, tt.kind, e.Kind, "%s: %v", tt.name, e)
		assert.Equal(t, tt.status, e.Status, tt.name)
		assert.Equal(t, tt.wait, e.RetryAfter, tt.name)
		assert.NotEmpty(t, e.Message, tt.name)
		if tt.code != "" {
			assert.Equal(t, tt.code, e.Code, tt.name)
		}
	}
	assert.Equal(t, provider.KindRateLimit, refused(t, 402, `{"error":{"code":402,"message":"m"}}`, "Retry-After: 3").Kind, "a budget in flight")
}

// What is no matter of the key says so, and what to do.
func TestRefusalsThatNoKeyHelps(t *testing.T) {
	assert.Contains(t, refused(t, 403, "<html>").Message, "firewall")
	assert.Contains(t, refused(t, 403, "no", "Cf-Mitigated: challenge").Message, "firewall")
	assert.Contains(t, refused(t, 403, "no", "X-Vercel-Mitigated: deny").Message, "firewall")
	e := refused(t, 403, coded("unsupported_country_region_territory"))
	assert.Contains(t, e.Message, "does not serve this place")
	e = refused(t, 403, `{"error":{"type":"forbidden","message":"Request not allowed"}}`)
	assert.Equal(t, provider.KindValidation, e.Kind, "Anthropic's edge")
	assert.Contains(t, e.Message, "does not serve this place or this network")
	assert.Equal(t, provider.KindAuthentication, refused(t, 403, `{"error":{"type":"forbidden","message":"This key may not."}}`).Kind, "a gateway")
	assert.Equal(t, provider.KindAuthentication, refused(t, 403, typed("permission_error")).Kind)
	assert.Equal(t, provider.KindAuthentication, refused(t, 403, "no").Kind)
	assert.Equal(t, provider.KindAuthentication, refused(t, 403, coded("x"), "Cf-Mitigated: challenge").Kind, "the API itself answered")
	assert.Equal(t, provider.KindAuthentication, refused(t, 401, "<html>").Kind)
}

// OpenRouter says in the body when its limit ends.
func TestAResetInTheBodyIsAWait(t *testing.T) {
	const now = "Date: Tue, 06 Jan 2026 00:00:00 GMT"
	at := time.Date(2026, 1, 6, 0, 0, 42, 0, time.UTC).UnixMilli()
	body := func(message string, reset any) string {
		return fmt.Sprintf(`{"error":{"code":429,"message":%q,"metadata":{"headers":{"X-RateLimit-Limit":"20","X-RateLimit-Reset":"%v"}}}}`, message, reset)
	}
	e := refused(t, 429, body("Rate limit exceeded: free-models-per-min", at), now)
	assert.Equal(t, provider.KindRateLimit, e.Kind)
	assert.Equal(t, 42*time.Second, e.RetryAfter)
	assert.Equal(t, 3*time.Second, refused(t, 429, body("m", at), now, "Retry-After: 3").RetryAfter, "a header goes first")
	assert.Zero(t, refused(t, 429, body("m", at-50_000), now).RetryAfter, "it is over")
	assert.Zero(t, refused(t, 429, body("m", "soon"), now).RetryAfter)
	assert.Zero(t, refused(t, 429, body("m", "-9e99"), now).RetryAfter)
	assert.Equal(t, provider.KindQuota, refused(t, 429, body("Rate limit exceeded: free-models-per-day", at), now).Kind)
}

// An adapter's own words go before those that are known here.
func TestOwnKinds(t *testing.T) {
	for body, want := range map[string]provider.Kind{
		coded("Engine_Asleep"):         provider.KindTimeout,
		typed("insufficient_quota"):    provider.KindRateLimit,
		coded("rate_limit_exceeded"):   provider.KindRateLimit,
		typed("invalid_request_error"): provider.KindRateLimit,
	} {
		e := endpoint(says("HTTP/1.1 429 X\r\nConnection: close\r\n\r\n" + body))
		e.Kinds = map[string]provider.Kind{"engine_asleep": provider.KindTimeout, "insufficient_quota": provider.KindRateLimit}
		_, err := send(t, e)
		failure(t, err, want)
	}
}

func TestPlainStatuses(t *testing.T) {
	for status, kind := range map[int]provider.Kind{
		300: provider.KindValidation, 304: provider.KindValidation, 400: provider.KindValidation, 401: provider.KindAuthentication, 402: provider.KindQuota,
		403: provider.KindAuthentication, 404: provider.KindValidation, 405: provider.KindValidation, 408: provider.KindTimeout, 409: provider.KindAPI,
		413: provider.KindContextOverflow, 418: provider.KindValidation, 422: provider.KindValidation, 425: provider.KindAPI, 429: provider.KindRateLimit, 498: provider.KindRateLimit, 499: provider.KindAPI,
		500: provider.KindAPI, 502: provider.KindAPI, 503: provider.KindAPI, 504: provider.KindTimeout, 529: provider.KindAPI, 599: provider.KindAPI,
	} {
		for _, body := range []string{"", "no", "<html>" + secret + "</html>", "{", `{"error":null}`, `"no"`, "[]", "[[[[1]]]]", "7", "\xff\x00"} {
			e, want := refused(t, status, body), kind
			if status == 403 && strings.HasPrefix(body, "<") {
				want = provider.KindValidation // a firewall's page
			}
			assert.Equal(t, want, e.Kind, "%d %q", status, body)
			assert.NotContains(t, e.Message, secret)
		}
	}
	assert.Equal(t, "no", refused(t, 500, "no").Message)
	assert.Equal(t, "Internal Server Error", refused(t, 500, "<html>x</html>").Message, "a page says nothing")
	long := refused(t, 500, strings.Repeat("x", 100<<10))
	assert.Less(t, len(long.Message), 600)
}

// In a stream there is no status: code and type are all there is.
func TestFaultsInAStream(t *testing.T) {
	x, err := send(t, endpoint(says("HTTP/1.1 200 OK\r\nRequest-Id: req_1\r\nConnection: close\r\n\r\n")))
	require.NoError(t, err)
	for body, kind := range map[string]provider.Kind{
		typed("overloaded_error"):             provider.KindAPI,
		typed("rate_limit_error"):             provider.KindRateLimit,
		typed("authentication_error"):         provider.KindAuthentication,
		typed("invalid_request_error"):        provider.KindValidation,
		typed("not_found_error"):              provider.KindValidation,
		typed("timeout_error"):                provider.KindTimeout,
		typed("never_heard_of"):               provider.KindAPI,
		coded("too_many_requests"):            provider.KindRateLimit,
		coded("capacity_exceeded"):            provider.KindRateLimit,
		google("CANCELLED", 499, ""):          provider.KindAPI,
		coded("timeout"):                      provider.KindTimeout,
		google("RESOURCE_EXHAUSTED", 429, ""): provider.KindRateLimit,
		google("UNAUTHENTICATED", 401, ""):    provider.KindAuthentication,
		google("RESOURCE_EXHAUSTED", 429, `{"violations":[{"quotaId":"PerDay"}]}`): provider.KindQuota,
		`{"error":{"code":502,"message":"m"}}`:                                     provider.KindAPI,
		`{"error":{"code":"429","message":"m"}}`:                                   provider.KindRateLimit,
		`{"error":{"message":"m","metadata":{"flagged_input":"x"}}}`:               provider.KindContentFilter,
		`{"error":"stopped"}`:                                                      provider.KindAPI,
		`not JSON`:                                                                 provider.KindAPI,
		``:                                                                         provider.KindAPI,
	} {
		e := failure(t, x.Fault([]byte(body)), kind)
		assert.Equal(t, 200, e.Status, body)
		assert.Equal(t, "req_1", e.RequestID)
		assert.NotEmpty(t, e.Message)
	}
	assert.Equal(t, "overloaded_error", failure(t, x.Broken("overloaded_error", "m"), provider.KindAPI).Code)
	failure(t, x.Broken("model_context_window_exceeded", "m"), provider.KindContextOverflow)
	for body, want := range map[string]bool{
		coded("x"): true, `[{"error":{"code":1}}]`: true, `{"error":"x"}`: true, `"x"`: true, `{"message":"x"}`: true, `{"base_resp":{"status_code":1008,"status_msg":"no"}}`: true,
		`{"code":0,"message":"success"}`: false, `{"code":200,"msg":"OK"}`: false, `{"base_resp":{"status_code":0,"status_msg":""}}`: false,
		`{"type":"ping"}`: false, `{"status":"queued"}`: false, `{"choices":[],"message":"success"}`: false, `{"__type":"x"}`: true,
		`{}`: false, `{"error":null}`: false, `{"choices":[]}`: false, `""`: false, `x`: false, ``: false, `[]`: false,
	} {
		assert.Equal(t, want, x.IsFault([]byte(body)), body)
	}
}

// A failure that a server passes on as text has its names, its words and its window. An error that is a text is its message.
func TestFaultsWithinTexts(t *testing.T) {
	x, err := send(t, endpoint(ok("")))
	require.NoError(t, err)
	e := failure(t, x.Fault([]byte("insufficient balance")), provider.KindQuota)
	assert.Equal(t, "insufficient balance", e.Message)
	// The shape is that of Ollama's runner (provider/ollama/testdata/fault), the values are our own.
	e = refused(t, 400, `{"error":"{\"error\":{\"code\":400,\"message\":\"too much\",\"type\":\"exceed_context_size_error\",\"n_ctx\":4096}}"}`)
	assert.Equal(t, provider.KindContextOverflow, e.Kind)
	assert.Equal(t, []any{"exceed_context_size_error", "too much", 4096}, []any{e.Code, e.Message, e.Window})
	e = refused(t, 500, `{"error":{"message":"{\"error\":{\"code\":400,\"message\":\"no\",\"type\":\"invalid_request_error\"}}","code":"502"}}`)
	assert.Equal(t, provider.KindAPI, e.Kind, "the status of the answer counts")
	assert.Equal(t, "no", e.Message)
	e = refused(t, 402, `{"message":`+strings.Repeat(`{"message":`, 5000)+`"x"`+strings.Repeat(`}`, 5001))
	assert.Equal(t, provider.KindQuota, e.Kind)
}

// Reading a failure takes what grows with its length, however long its parts are.
func TestLongFaults(t *testing.T) {
	longform.Lone(t)
	x, err := send(t, endpoint(ok("")))
	require.NoError(t, err)
	violations := strings.Repeat(`{"quotaId":"`+strings.Repeat("q", 1000)+`"},`, 1023) + `{"quotaId":"PerDay"}`
	body := `{"error":{"message":"the prompt is too long: ` + strings.Repeat("the prompt 123 ", 1<<16) + `","details":[` + strings.Repeat(`{"reason":"r","violations":[`+violations+`]},`, 3) + `{}]}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := failure(t, x.Fault([]byte(body)), provider.KindContextOverflow)
	runtime.ReadMemStats(&after)
	assert.Less(t, len(e.Message), 600)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100<<20), "each part is read once")
}

// A server that was cut short while the caller waits has failed. If the caller has left, the caller has canceled.
func TestCallsThatAreCutShort(t *testing.T) {
	cut, busy := []byte(google("CANCELLED", 499, "")), []byte(google("UNAVAILABLE", 503, ""))
	ctx, leave := context.WithCancel(t.Context())
	x, err := endpoint(nil).Open(ctx, "")
	require.NoError(t, err)
	defer x.Close()
	assert.Equal(t, "CANCELLED", failure(t, x.Fault(cut), provider.KindAPI).Code)
	leave()
	failure(t, x.Fault(cut), provider.KindCanceled)
	failure(t, x.Fault(busy), provider.KindAPI)
}

func TestRetryAfter(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, tt := range []struct {
		want    time.Duration
		headers []string
	}{
		{20 * time.Second, []string{"Retry-After: 20"}},
		{1500 * time.Millisecond, []string{"Retry-After: 20", "Retry-After-Ms: 1500"}},
		{20 * time.Second, []string{"Retry-After: 20", "Retry-After-Ms: -1"}},
		{20 * time.Second, []string{"Retry-After: 20", "Retry-After-Ms: NaN"}},
		{250 * time.Millisecond, []string{"Retry-After: 0.25"}},
		{0, []string{"Retry-After: -5"}},
		{0, []string{"Retry-After: NaN"}},
		{0, []string{"Retry-After: soon"}},
		{0, []string{"Retry-After:"}},
		{0, nil},
		{year, []string{"Retry-After: 1000000000000"}},
		{year, []string{"Retry-After: 1e300"}},
		{year, []string{"Retry-After: Inf"}},
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: Wed, 21 Oct 2026 07:28:42 GMT"}},
		{0, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: Wed, 21 Oct 2026 07:00:00 GMT"}},
		// A time since 1970, in seconds, milliseconds, microseconds and nanoseconds: clawhub#407 (2026-02-18).
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 1792567722"}},
		{42500 * time.Millisecond, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 1792567722.5"}},
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 1792567722000"}},
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 1792567722000000"}},
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 1792567722000000000"}},
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 20", "Retry-After-Ms: 1792567722000"}},
		{0, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 1792567662"}},
		{20 * time.Second, []string{"Retry-After: 20s"}},
		{90 * time.Second, []string{"Retry-After: 1m30s"}},
		{1500 * time.Millisecond, []string{"Retry-After: 1500ms"}},
		{0, []string{"Retry-After: -20s"}},
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 2026-10-21T07:28:42Z"}},
		{42 * time.Second, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: Wed, 21 Oct 2026 09:28:42 +0200"}},
		{year, []string{"Date: Wed, 21 Oct 2026 07:28:00 GMT", "Retry-After: 2126-10-21T07:28:42Z"}},
	} {
		assert.Equal(t, tt.want, refused(t, http.StatusTooManyRequests, "", tt.headers...).RetryAfter, "%q", tt.headers)
	}
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	assert.InDelta(t, float64(time.Hour), float64(refused(t, 429, "", "Retry-After: "+date).RetryAfter), float64(10*time.Second))
}

func TestPresentAndPlain(t *testing.T) {
	for raw, want := range map[string]string{
		`"a\n"`: "a\n", `7`: "7", `{"a":1}`: `{"a":1}`, `null`: "", `false`: "", `{}`: "", `[]`: "", `""`: "", ``: "",
	} {
		assert.Equal(t, want, wire.Plain(json.RawMessage(raw)), raw)
		assert.Equal(t, want != "", wire.Present(json.RawMessage(raw)), raw)
	}
}

func FuzzFault(f *testing.F) {
	for _, seed := range []string{coded("x"), typed("x"), google("X", 429, `{"retryDelay":"3s","reason":"r","violations":[{"quotaId":"q"}]}`), `"x"`, `[[[`, `{"error":{"error":{}}}`} {
		f.Add(429, seed, "20")
	}
	f.Fuzz(func(t *testing.T, status int, body, wait string) {
		status = 400 + max(0, status)%200
		if strings.ContainsAny(wait, "\r\n\x00") {
			wait = ""
		}
		head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\nRetry-After: %s\r\n\r\n", status, len(body)+len(secret), wait)
		x, err := send(t, endpoint(says(head+body+secret)))
		var e *provider.Error
		if !errors.As(err, &e) {
			t.Fatalf("%v", err)
		}
		for _, e := range []*provider.Error{e, failure(t, x.Fault([]byte(body+secret)), kindOf(x.Fault([]byte(body+secret))))} {
			require.NotEmpty(t, e.Kind)
			require.NotContains(t, fmt.Sprintf("%#v", e), secret)
			require.Less(t, len(e.Message), 600)
			require.True(t, utf8.ValidString(e.Message))
			require.GreaterOrEqual(t, e.RetryAfter, time.Duration(0))
		}
	})
}

func kindOf(err error) provider.Kind {
	var e *provider.Error
	errors.As(err, &e)
	return e.Kind
}
