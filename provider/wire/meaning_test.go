package wire_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// TestFailuresAreClassifiedByWhatTheyMean has answers of vendors, servers and gateways that no list knows. Names, shapes and the words
// that matter are theirs, and the line says where they were read; the rest of the prose is replaced. What has no source is inferred.
func TestFailuresAreClassifiedByWhatTheyMean(t *testing.T) {
	const (
		quota, filter, overflow = provider.KindQuota, provider.KindContentFilter, provider.KindContextOverflow
		invalid, rate, key      = provider.KindValidation, provider.KindRateLimit, provider.KindAuthentication
	)
	for _, tt := range []struct {
		name   string
		status int
		body   string
		want   provider.Kind
		window int
	}{
		// No money. Zhipu: AionUi#557 (2026-01); sub2api#890 (2026-03); the others: the vendors' lists of codes, read 2026-11-29.
		{"Z.ai", 429, `{"error":{"code":"1113","message":"Insufficient balance or no resource package. Please recharge."}}`, quota, 0},
		{"Zhipu", 429, `{"error":{"code":"1113","message":"余额不足，请充值"}}`, quota, 0},
		{"MiniMax", 500, `{"type":"error","error":{"type":"api_error","message":"insufficient balance (1008)"}}`, quota, 0},
		{"MiniMax's own shape", 200, `{"base_resp":{"status_code":1008,"status_msg":"insufficient balance"}}`, quota, 0},
		{"sub2api", 403, `{"code":"INSUFFICIENT_BALANCE","message":"no"}`, quota, 0},
		{"SiliconFlow", 403, `{"code":30001,"message":"the account balance is insufficient","data":null}`, quota, 0},
		{"DashScope", 400, `{"error":{"message":"no","type":"Arrearage","param":null,"code":"Arrearage"}}`, quota, 0},
		{"DashScope's free tier", 403, `{"code":"AllocationQuota.FreeTierOnly","message":"The free tier of the model has been exhausted."}`, quota, 0},
		{"Volcengine", 403, `{"error":{"code":"AccountOverdueError","message":"no","type":"Forbidden"}}`, quota, 0},
		{"Volcengine's gateway", 403, `{"ResponseMetadata":{"RequestId":"x","Error":{"Code":"OperationDenied.ServiceOverdue","Message":"no"}}}`, quota, 0},
		{"one-api", 403, `{"error":{"message":"该令牌额度已用尽","type":"one_api_error"}}`, quota, 0},
		{"new-api", 403, `{"error":{"message":"用户额度不足","type":"new_api_error","code":"insufficient_user_quota"}}`, quota, 0},
		{"new-api, before the call", 403, `{"error":{"message":"no","type":"new_api_error","code":"pre_consume_token_quota_failed"}}`, quota, 0},
		// OpenCode's gateway: anomalyco/opencode#37161 (2026-07-15), read 2026-11-29.
		{"OpenCode Zen", 401, `{"type":"error","error":{"type":"CreditsError","message":"No payment method."}}`, quota, 0},
		// LiteLLM: litellm#4208 (2024-06-15), litellm#14144 (2025-09-04), litellm#37000 (2026-08-15), read 2026-11-29.
		{"LiteLLM", 400, `{"error":{"message":"Budget has been exceeded! Current cost: 0.001, Max budget: 0.0","type":"auth_error","param":null,"code":400}}`, quota, 0},
		{"LiteLLM, of a user", 400, `{"error":{"message":"ExceededBudget: User=ada over budget. Spend=0.0008, Budget=0.0001","type":"None","param":"None","code":"400"}}`, quota, 0},
		{"LiteLLM behind itself", 400, `{"error":{"message":"litellm.BadRequestError: OpenAIException - Budget has been exceeded! Current cost: 14.1","type":null,"code":"400"}}`, quota, 0},
		{"LiteLLM, newer", 429, `{"error":{"message":"no","type":"budget_exceeded","param":null,"code":"429"}}`, quota, 0},
		{"a problem of RFC 9457", 400, `{"type":"https://example.com/probs/out-of-credit","title":"Not enough credit","detail":"Your balance is 30, but that costs 50","status":400}`, quota, 0},
		{"a month", 429, `{"error":{"message":"Weekly/Monthly limit exhausted. It is reset on Tuesday.","code":"1310"}}`, quota, 0},
		{"without a code", 403, `{"msg":"No credits remaining"}`, quota, 0},
		{"a key and its words", 401, `{"error":{"message":"The key is unknown, or its balance is insufficient"}}`, key, 0},
		{"a minute's quota", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details."}}`, rate, 0},
		{"a throttle", 429, `{"code":"Throttling.AllocationQuota","message":"Allocated quota exceeded, please try again later."}`, rate, 0},
		{"a load balancer", 403, `{"message":"the load balancer has no route"}`, key, 0},

		// Limits that pass, and one of a day. Cerebras: grammar-nazi-bot#958 (2026-08-12), opencode#7463; Together: MoA#27 (2024-06-28), which
		// shows no status; GitHub: its documentation of secondary limits; Google's older APIs and Azure's API Management: theirs; read
		// 2026-11-29. Those in words alone are inferred.
		{"Cerebras, requests", 429, `{"message":"Requests per minute limit exceeded - too many requests sent.","type":"too_many_requests_error","param":"quota","code":"request_quota_exceeded"}`, rate, 0},
		{"Cerebras, tokens", 429, `{"message":"Tokens per minute limit exceeded - too many tokens processed.","type":"too_many_tokens_error","param":"quota","code":"token_quota_exceeded"}`, rate, 0},
		{"Together", 429, `{"error":{"message":"You have been rate limited. Your rate limit is 60 queries per minute. Please upgrade to a paid plan.","type":"credit_limit"}}`, rate, 0},
		{"a usage limit of a minute", 429, `{"error":{"message":"Usage limit exceeded: 10 requests per minute. Retry in 5 seconds"}}`, rate, 0},
		{"a free tier of a minute", 429, `{"error":{"message":"Free tier limit of 20 requests per minute exceeded"}}`, rate, 0},
		{"a plan with higher limits", 429, `{"error":{"message":"Rate limit reached. Upgrade or top up your account for higher limits. Retry in 5s"}}`, rate, 0},
		{"a rate in Chinese", 429, `{"error":{"message":"请求过于频繁，请稍后重试或充值升级套餐"}}`, rate, 0},
		{"a wait in minutes", 403, `{"message":"Slower, please: try again in 7m12s"}`, rate, 0},
		{"tokens of a minute, by name", 429, `{"error":{"message":"no","code":"input_tokens_limit_exceeded"}}`, rate, 0},
		{"tokens of a day, by name", 429, `{"error":{"message":"no","code":"daily_input_token_limit_exceeded"}}`, quota, 0},
		{"tokens of a day", 429, `{"message":"Too many tokens per day, please wait."}`, quota, 0},
		{"a day that says when it ends", 429, `{"error":{"message":"Rate limit reached on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s."}}`, rate, 0},
		{"GitHub", 403, `{"message":"You have exceeded a secondary rate limit. Please wait a few minutes before you try again."}`, rate, 0},
		{"Google's older APIs", 403, `{"error":{"code":403,"message":"Rate Limit Exceeded","errors":[{"domain":"usageLimits","reason":"rateLimitExceeded"}]}}`, rate, 0},
		{"a quota of a minute under 403", 403, `{"error":{"message":"Quota exceeded for requests per minute"}}`, rate, 0},
		{"a rate by name under 400", 400, `{"error":{"message":"no","code":"rate_limit_exceeded"}}`, rate, 0},
		{"too many, by name under 422", 422, `{"error":{"message":"no","type":"TooManyRequests"}}`, rate, 0},
		{"Azure's API Management", 403, `{"statusCode":403,"message":"Out of call volume quota. Quota will be replenished in 00:05:00."}`, quota, 0},
		{"a plan's rate is no refusal of a key", 401, `{"error":{"message":"The key has a rate limit of 0 requests per minute"}}`, key, 0},
		// What else they say of a key, a window, a filter or an account counts all the same (inferred).
		{"a key by name beside a rate", 403, `{"error":{"message":"Invalid API key. Free keys allow 3 requests per minute","code":"invalid_api_key"}}`, key, 0},
		{"a permission beside a rate", 403, `{"error":{"message":"The model is not in your tier: its limit is 0 RPM","type":"permission_denied"}}`, key, 0},
		{"a key that was revoked", 403, `{"error":{"message":"Your API key was revoked because of repeated rate limit violations"}}`, key, 0},
		{"a window beside a wait", 400, `{"error":{"message":"Retry in 5 seconds","code":"context_length_exceeded"}}`, overflow, 0},
		{"a window beside a rate", 400, `{"error":{"message":"prompt is too long: 300000 tokens > 200000 maximum. Your limit is 40,000 input tokens per minute"}}`, overflow, 200000},
		{"a filter beside a wait", 400, `{"error":{"message":"Blocked. Please wait 30 seconds","code":"content_filter"}}`, filter, 0},
		{"an account beside a rate", 429, `{"error":{"message":"Your account balance is insufficient. Please recharge. (limits: 60 RPM)"}}`, quota, 0},
		{"a parameter beside a wait", 400, `{"error":{"message":"temperature is not supported with this model. Retry without it in 5 s"}}`, invalid, 0},
		{"Bedrock's throttle", 400, `{"__type":"ThrottlingException","message":"Too many input tokens in your requests, slow down"}`, rate, 0},
		{"a date", 400, `{"error":{"message":"Invalid request: the date has to be year/month/day"}}`, invalid, 0},
		{"a parameter in Chinese", 400, `{"error":{"message":"frequency_penalty 频率惩罚参数不合法"}}`, invalid, 0},
		{"a period in a text", 400, `{"error":{"message":"the prompt 'Trams pay per minute' has a bad role"}}`, invalid, 0},
		// Limits of more than an hour: OmniRoute#6980 (2026-07-12); kimi-cli#1599 (2026-03-27); dirge#818 (2026-08-24); model-hotel#955
		// (2026-09-08); openai/codex#3899 (2025-09-19); Cohere's text is from memory; read 2026-11-29. The others are inferred.
		{"Cloudflare", 429, `{"errors":[{"message":"AiError: you have used up your daily free allocation of 10,000 neurons, please upgrade to a paid plan","code":4006}],"success":false}`, quota, 0},
		{"Cohere's trial", 429, `{"message":"You are using a Trial key, which is limited to 1000 API calls / month. You can use a Production key with higher rate limits."}`, quota, 0},
		{"Cohere's trial, a minute", 429, `{"message":"You are using a Trial key, which is limited to 10 API calls / minute. You can use a Production key with higher rate limits."}`, rate, 0},
		{"Moonshot's day", 429, `{"error":{"message":"Your account org-1 request reached organization TPD rate limit, current: 1526210, limit: 1500000","type":"rate_limit_reached_error"}}`, quota, 0},
		{"Zhipu's five hours", 429, `{"error":{"code":"1308","message":"已达到 5 小时的使用上限。您的限额将在 2026-08-25 07:41:44 重置。"}}`, quota, 0},
		{"Z.ai's five hours", 429, `{"error":{"code":"1308","message":"Usage limit reached for 5 hour. Your limit will reset at 2026-09-09 05:38:28"}}`, quota, 0},
		{"Codex", 429, `{"error":{"message":"You've hit your usage limit. Please try again in 4 hours 30 minutes."}}`, quota, 0},
		{"a week", 429, `{"error":{"message":"You have reached your weekly usage limit. Try again in 2h 30m"}}`, quota, 0},
		{"a month's spending", 429, `{"error":{"message":"Monthly spending limit reached. Retry after 900 seconds"}}`, quota, 0},
		{"a day that ends in hours", 429, `{"error":{"message":"Rate limit reached on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7h12m0s."}}`, quota, 0},
		{"a minute in Chinese", 429, `{"error":{"message":"每分钟请求额度已用尽"}}`, rate, 0},
		{"Zhipu's rate in a stream", 200, `{"error":{"code":"1302","message":"您的账户已达到速率限制，请您控制请求频率"}}`, rate, 0}, // llm-for-zotero#17 has it under 429
		{"Qoder by a router", 403, `{"error":{"message":"Forbidden","retryAfterSeconds":30}}`, rate, 0},          // 9router#3510 (2026-08-24)

		// A word counts beside what is said of it, and not where a message repeats a text or offers a plan (inferred).
		{"a service that pauses", 503, `{"error":{"message":"Service paused for maintenance. Billing is not affected."}}`, provider.KindAPI, 0},
		{"a worker of payments", 500, `{"error":{"message":"Generation paused: payment worker crashed"}}`, provider.KindAPI, 0},
		{"a text about a debt", 400, `{"error":{"message":"unexpected value in {'role':'x','content':'The debt limit should be suspended'}"}}`, invalid, 0},
		{"a text about reparations", 400, `{"error":{"message":"Failed to apply template to: 'The payment of reparations was suspended'"}}`, invalid, 0},
		{"a text about a congress", 500, `{"error":{"message":"render error near 'congress suspended the pay rise'"}}`, provider.KindAPI, 0},
		{"a text about a week", 400, `{"error":{"message":"Unsupported content: 'a 32 hours week has no limit'"}}`, invalid, 0},
		{"a card that is none", 500, `{"error":{"message":"Internal error: no credit card"}}`, provider.KindAPI, 0},
		{"a text about a budget", 400, `{"error":{"message":"Failed to apply template to: 'The tram is over budget'"}}`, invalid, 0},
		{"a text about batteries", 500, `{"error":{"message":"render error near 'recharge the car at night'"}}`, provider.KindAPI, 0},
		{"a tool with a rate", 400, `{"error":{"message":"Invalid tool: description 'At most 60 requests per minute' contains invalid characters"}}`, invalid, 0},
		{"a schema with a day", 400, `{"error":{"message":"Invalid schema: 'daily limit' must be a number"}}`, invalid, 0},
		{"a filter and a wait in a stream", 200, `{"error":{"message":"Content blocked by the safety filter. Your request was flagged. Retry in 5 seconds"}}`, filter, 0},
		// An account without money stays so, whatever limit the message names (inferred; Moonshot behind a router: opencode#24462, 2026-04-26).
		{"Moonshot behind a router", 429, `{"error":{"message":"Error from provider: Provider returned error","code":429,"metadata":{"raw":"{\"error\":{\"message\":\"Your account org-1 <ak-1> is suspended due to insufficient balance, please recharge your account\"}}"}}}`, quota, 0},
		{"no money and a rate under 402", 402, `{"error":{"message":"Insufficient credits. Free accounts may send 20 requests per minute; add credits to continue.","code":"insufficient_credits"}}`, quota, 0},
		{"no money and a wait under 402", 402, `{"error":{"message":"Insufficient balance. Please top up your account and try again in 5 minutes."}}`, quota, 0},
		{"no money by name and a rate", 429, `{"error":{"message":"余额不足，当前每分钟限制 3 次","code":"insufficient_balance"}}`, quota, 0},
		{"no quota by name and a rate", 429, `{"error":{"message":"Your account balance is insufficient, please recharge. Current tier: 3 RPM","code":"insufficient_quota"}}`, quota, 0},
		{"a filter behind a name of money", 429, `{"error":{"message":"Blocked. 3 requests per minute","code":"insufficient_quota","innererror":{"code":"content_filter"}}}`, filter, 0},
		// A key that is refused, whatever limit the message names (inferred).
		{"a token that has expired", 403, `{"message":"The security token included in the request has expired. Refresh it and retry after 60 seconds."}`, key, 0},
		{"a token that is invalid", 403, `{"message":"Invalid token. Too many failed requests, try again in 5 minutes"}`, key, 0},
		{"a key that is disabled", 403, `{"message":"Your API key has been disabled. Allowed requests: 0 per minute"}`, key, 0},
		{"a key that was used too much", 403, `{"message":"API key disabled because of too many requests"}`, key, 0},
		{"credentials beside a rate", 403, `{"message":"Invalid credentials. Rate limit for anonymous requests is 10 per minute."}`, key, 0},
		{"a plan without the model", 403, `{"message":"You are not allowed to use this model. Your plan allows 0 requests per minute."}`, key, 0},
		{"a permission in Chinese", 403, `{"message":"您没有权限访问该模型，每天 0 次"}`, key, 0},
		{"Moonshot's concurrency in a stream", 200, `{"error":{"message":"request reached max organization concurrency: 1, please try again after 1 seconds"}}`, rate, 0},
		{"Cohere's trial in a stream", 200, `{"message":"You are using a Trial key, which is limited to 1000 API calls / month."}`, quota, 0},
		{"a rate in words under 400", 400, `{"error":{"message":"You have been rate-limited. Please wait 2 minutes before trying again"}}`, rate, 0},
		{"Bedrock's day", 400, `{"__type":"ThrottlingException","message":"Too many tokens per day, please wait."}`, quota, 0},
		{"Anthropic's workspace", 400, `{"error":{"type":"invalid_request_error","message":"You have reached your specified workspace API usage limits. You will regain access on 2026-09-01 at 00:00 UTC."}}`, quota, 0},
		{"a reached limit under 403", 403, `{"message":"You have reached the limit of 3 requests per minute"}`, rate, 0},
		// A closed account: claude-code#19028 (2026-01-18), read 2026-11-29; the others are inferred.
		{"Anthropic's organization", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"This organization has been disabled."}}`, key, 0},
		{"a suspended account", 400, `{"error":{"message":"Your account is temporarily suspended"}}`, key, 0},
		{"a locked account", 422, `{"error":{"message":"Your account is temporarily locked; contact support"}}`, key, 0},
		{"a suspended account, not paid for", 400, `{"error":{"message":"Your account is suspended. Check your billing details."}}`, quota, 0},
		// A day that is over beside a rate of a minute (inferred).
		{"two periods", 429, `{"error":{"message":"Rate limit: 20 requests per minute, 200 requests per day. You have used 200 of 200 today."}}`, quota, 0},
		{"until tomorrow", 429, `{"error":{"message":"您今天的请求次数已达上限，请明天再试"}}`, quota, 0},

		// Accounts, plans and outages under statuses that nobody expects. pollinations#12136 (2026-07-01); wayland#545 (2026-07-02), whose code
		// and words stand apart there; freellmapi#522 (2026-07-11); ollama#15990 (2026-05-06); openclaw#130532; octo-agent#2124; read
		// 2026-11-29. Volcengine's and Azure's are from memory.
		{"Fireworks", 412, `{"error":{"message":"Account x is suspended, possibly due to reaching the monthly spending limit or failure to pay past invoices.","code":"PRECONDITION_FAILED","type":"error"}}`, quota, 0},
		{"Volcengine's pause", 429, `{"error":{"code":"SetLimitExceeded","message":"Your account has reached the set inference limit for the model, and the model service has been paused."}}`, quota, 0},
		{"a charge in flight", 402, `{"error":{"code":"credit_unresolved","message":"A prior charge is still being reconciled. Please retry shortly."}}`, rate, 0},
		{"NVIDIA's function", 400, `{"status":400,"title":"Bad Request","detail":"Function id '87ea': DEGRADED function cannot be invoked"}`, provider.KindAPI, 0},
		{"a model that loads", 404, `{"error":"model x is currently loading"}`, provider.KindAPI, 0},
		{"a parameter for later", 400, `{"error":{"message":"the parameter top_k is temporarily unsupported"}}`, invalid, 0},
		{"Ollama's plan", 403, `{"error":"this model requires a subscription, upgrade for access"}`, invalid, 0},
		{"Mistral's tier", 403, `{"message":"no","code":"tier_not_allowed"}`, invalid, 0},
		{"Azure's network", 403, `{"error":{"code":"403","message":"Access denied due to Virtual Network/Firewall rules."}}`, invalid, 0},
		{"a length in Chinese", 400, `{"error":{"message":"长度超限"}}`, overflow, 0},
		{"a cap and the prompt", 400, `{"error":{"message":"max_tokens (4096) plus prompt tokens (5000) exceed the context length 8192"}}`, overflow, 8192}, // inferred
		{"a cap and the input", 400, `{"error":{"message":"max_new_tokens + input length exceeds context window"}}`, overflow, 0},                           // inferred

		// Filters. qwen-code#3145 (2026-04-11); openai-cookbook#1224 (2024-05-23); DeepSeek-V2#30 (2024-05-15), read 2026-11-29.
		{"DashScope", 400, `{"error":{"message":"<400> InternalError.Algo.DataInspectionFailed: no","type":"data_inspection_failed","param":null,"code":"data_inspection_failed"}}`, filter, 0},
		{"DashScope's own protocol", 400, `{"code":"DataInspectionFailed","message":"no","request_id":"z"}`, filter, 0},
		{"DashScope behind a gateway", 400, `{"error":{"message":"<400> InternalError.Algo.DataInspectionFailed: no","code":"400"}}`, filter, 0},
		{"new-api", 400, `{"error":{"message":"input contains sensitive words: [x]","type":"new_api_error","param":"","code":"sensitive_words_detected"}}`, filter, 0},
		{"DeepSeek", 400, `{"detail":"Content Exists Risk"}`, filter, 0},
		{"Zhipu", 400, `{"contentFilter":[{"level":1,"role":"user"}],"error":{"code":"1301","message":"系统检测到输入或生成内容可能包含不安全或敏感内容"}}`, filter, 0},
		{"Volcengine", 400, `{"error":{"code":"SensitiveContentDetected","message":"no","type":"BadRequest"}}`, filter, 0},
		{"Volcengine, of the input", 400, `{"error":{"code":"InputTextRiskDetection","message":"no","type":"BadRequest"}}`, filter, 0},
		{"Azure, within", 400, `{"error":{"code":"BadRequest","message":"no","innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, filter, 0},
		{"LiteLLM", 400, `{"error":{"message":"litellm.ContentPolicyViolationError: AzureException - no","type":null,"code":"400"}}`, filter, 0},
		// OpenRouter: its messages as public tests have them, with the fields of its filter and without; read 2026-11-29.
		{"OpenRouter's moderation", 403, `{"error":{"message":"x/y requires moderation on Amazon Bedrock. Your input was flagged for \"self-harm\". No credits were charged.","code":403,"metadata":{"reasons":["self-harm"],"flagged_input":"m"}}}`, filter, 0},
		{"the same in words", 403, `{"error":{"message":"x/y requires moderation on OpenInference. Your input was flagged for \"violence/graphic\". No credits were charged."}}`, filter, 0},
		{"in words alone", 400, `{"error":"Your request was rejected as a result of our safety system"}`, filter, 0},
		{"a setting of the filter", 400, `{"error":{"message":"the parameter safety_settings of the content filter is not supported"}}`, invalid, 0},
		{"case-sensitive", 400, `{"error":{"message":"the input names are case-sensitive"}}`, invalid, 0},

		// Full windows. pi#4943 (2026-05), windmill#10928, TGI's source; antirez/ds4#150 (2026-05-14), taOS#1738 (2026-07-08),
		// llama-cpp-python#416, free-claude-code#391 (2026-05-08), read 2026-11-29.
		{"TGI", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4031 `inputs` tokens and 200 `max_new_tokens`\",\"error_type\":\"validation\"}", overflow, 4096},
		{"TGI, the input alone", 422, "{\"error\":\"Input validation error: `inputs` must have less than 3072 tokens. Given: 5000\",\"error_type\":\"validation\"}", overflow, 0},
		{"Z.ai", 400, `{"error":{"code":"1261","message":"Prompt exceeds max length"}}`, overflow, 0},
		{"DashScope", 400, `{"error":{"message":"<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]","type":"invalid_request_error","param":null,"code":"invalid_parameter_error"}}`, overflow, 30720},
		{"MiniMax", 400, `{"error":{"type":"bad_request_error","message":"invalid params, context window exceeds limit (2013)","http_code":"400"}}`, overflow, 0},
		{"Poolside", 400, `{"error":{"message":"Input length 9000 exceeds the maximum allowed input length of 8160 tokens.","code":400}}`, overflow, 8160},
		{"Cohere", 400, `{"message":"too many tokens: the total number of tokens in the prompt cannot exceed 4081 - received 5000"}`, overflow, 4081},
		{"SambaNova", 400, `{"error":{"message":"The provided prompt is 8500 tokens long, and the maximum supported sequence length is just 8192!","type":"Error","code":null}}`, overflow, 8192},
		{"GitHub Models", 413, `{"error":{"code":"tokens_limit_reached","message":"Request body too large for this model. Max size: 8000 tokens."}}`, overflow, 8000},
		{"Cloudflare", 400, `{"errors":[{"message":"AiError: The estimated number of input and maximum output tokens (7000) exceeded this model context window limit (4096).","code":5021}],"success":false}`, overflow, 4096},
		{"Cerebras", 400, `{"message":"Please reduce the length of the messages or completion. Current length is 8300 while limit is 8192","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}`, overflow, 8192},
		{"Bedrock by a gateway", 400, `{"error":{"message":"BedrockException - Input is too long for requested model.","type":"invalid_request_error","code":"400"}}`, overflow, 0},
		{"ds4", 400, `{"error":{"message":"Prompt tokens (9000) exceeds context size (8192)","type":"context_exceeded","n_prompt_tokens":9000,"n_ctx":8192}}`, overflow, 8192},
		{"RKLLM", 400, `{"error":"Prompt is 11543 tokens but the model context window is 4096 tokens."}`, overflow, 4096},
		{"llama-cpp-python", 400, `{"error":{"message":"Requested tokens (900) exceed context window of 512","type":"invalid_request_error"}}`, overflow, 512},
		{"NVIDIA", 400, `{"error":{"message":"This model's maximum context length is 196608 tokens. However, your messages resulted in 199906 tokens.","type":"Bad Request","code":400}}`, overflow, 196608},
		{"LiteLLM", 400, `{"error":{"message":"litellm.ContextWindowExceededError: no","type":null,"code":"400"}}`, overflow, 0},
		{"Express", 413, `{"message":"no","type":"entity.too.large"}`, overflow, 0},
		{"an item of a path", 422, `{"detail":[{"type":"string_too_long","loc":["body","messages",0,"content"],"msg":"messages[0].content should have at most 8000 characters"}]}`, overflow, 0},
		{"in Chinese", 400, `{"code":400,"msg":"输入内容过长"}`, overflow, 0},
		{"a failing server", 500, `{"error":"the input length exceeds the context length"}`, overflow, 0},
		{"Bedrock's text", 400, `{"message":"Malformed input request: expected maxLength: 2048, actual: 3000, please reformat your input and try again."}`, overflow, 0},
		// Groq: as public copies of its answers have it (2026-09), and groq-moa#8 (2024-07-31); read 2026-11-29. The next three are inferred.
		{"Groq's cap, earlier", 400, "{\"error\":{\"message\":\"max_tokens for `llama-3.1-8b-instant` must be less than or equal to 8000\",\"type\":\"invalid_request_error\"}}", invalid, 0},
		{"Groq's cap on output", 400, "{\"error\":{\"message\":\"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the `context_window` for this model\",\"type\":\"invalid_request_error\",\"param\":\"max_tokens\"}}", invalid, 0},
		{"the same without a field", 400, "{\"error\":\"`max_completion_tokens` must be less than or equal to `8192`, the maximum value for `max_completion_tokens` is less than the `context_window`\"}", invalid, 0},
		{"a cap of a request", 400, `{"error":{"message":"The max_tokens value 32000 in your request is larger than the limit"}}`, invalid, 0},
		{"a cap by its field", 400, `{"error":{"message":"32000 is more than the maximum context allows: 8192 tokens","param":"generationConfig.maxOutputTokens"}}`, invalid, 0},
		{"vLLM's cap beside a full window", 400, `{"error":{"message":"'max_tokens' is too large: 5120. This model's maximum context length is 8192 tokens and your request has 3073 input tokens","param":"max_tokens"}}`, overflow, 8192},
		{"too many tools", 400, `{"error":{"message":"Invalid 'tools': array too long. Expected an array with maximum length 128, but got one with length 140.","type":"invalid_request_error"}}`, invalid, 0},
		{"a cap on output", 422, "{\"error\":\"Input validation error: `max_new_tokens` must be <= 4096. Given: 9000\",\"error_type\":\"validation\"}", invalid, 0},
		{"another cap on output", 400, `{"error":{"message":"max_tokens is too large: 99999. This model supports at most 16384 completion tokens."}}`, invalid, 0},
		{"a range of output", 400, `{"error":{"message":"Range of max_tokens should be [1, 8192]"}}`, invalid, 0},
		{"output of a request", 400, `{"error":{"message":"The request asks for 9000 output tokens, at most 4096 are allowed"}}`, invalid, 0},
		{"pydantic's cap", 422, `{"detail":[{"type":"less_than_equal","loc":["body","max_tokens"],"msg":"Input should be less than or equal to 4096","input":9000}]}`, invalid, 0},
		{"pydantic's echo", 422, `{"detail":[{"type":"missing","loc":["body","messages",0,"role"],"msg":"Field required","input":{"content":"My account is overdue, the prompt is too long, and your content is harmful content."}}]}`, invalid, 0},
		{"an echo in a text", 400, `{"object":"error","message":"[{'type': 'missing', 'loc': ('body', 'x'), 'msg': 'Field required', 'input': {'content': 'insufficient balance'}}]","type":"BadRequestError","code":400}`, invalid, 0},
		{"pydantic's other echo", 400, `{"detail":"1 validation error for ChatCompletionRequest\nmessages.0.content\n  Input should be a valid string [type=string_type, input_value=['Your balance is insufficient, please recharge: the prompt is too long'], input_type=list]"}`, invalid, 0},
		{"an echo of the messages", 500, `{"error":"unhandled: {'messages': [{'content': 'insufficient balance, prompt is too long'}]}"}`, provider.KindAPI, 0},
		{"a moderating model", 404, "{\"error\":{\"message\":\"The model `text-moderation-latest` does not exist\"}}", invalid, 0},
		{"an illegal character", 400, `{"error":{"message":"illegal character in input"}}`, invalid, 0},
		{"headers", 431, `{"message":"Request Header Fields Too Large"}`, invalid, 0},
		{"a URI", 414, `{"message":"the request is too long"}`, invalid, 0},
		{"a queue", 503, `{"error":"request queue exceeded maximum size"}`, provider.KindAPI, 0},
		{"what stands behind the server", 424, `{"error":"no"}`, provider.KindAPI, 0},
		{"a temperature", 400, `{"error":{"message":"temperature exceeds the limit of 2","type":"invalid_request_error"}}`, invalid, 0},
		{"the id of a call", 400, `{"error":{"message":"Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a string with length 52 instead."}}`, invalid, 0},
		{"the id of a call in Responses", 400, `{"error":{"message":"Invalid 'input[3].call_id': string too long. Expected a string with maximum length 64, but got a string with length 80 instead."}}`, invalid, 0},
		{"an image", 400, `{"error":{"message":"messages.0.content.0.image.source.base64: image exceeds 5 MB maximum"}}`, invalid, 0},
		{"a busy server", 503, `{"error":"server busy.  maximum pending requests exceeded"}`, provider.KindAPI, 0},
	} {
		e := meant(t, tt.status, tt.body)
		assert.Equal(t, tt.want, e.Kind, "%s: %v", tt.name, e)
		assert.Equal(t, tt.window, e.Window, tt.name)
		assert.NotEmpty(t, e.Message, tt.name)
		assert.NotContains(t, []string{"None", "null", "error"}, e.Code, tt.name)
	}
}

// meant is the failure of an answer, also of one under a status of 200.
func meant(t *testing.T, status int, body string) *provider.Error {
	t.Helper()
	if status >= 400 {
		return refused(t, status, body)
	}
	x, err := send(t, endpoint(ok("")))
	require.NoError(t, err)
	var e *provider.Error
	require.ErrorAs(t, x.Fault([]byte(body)), &e)
	return e
}

// A wait that a message names is the server's, where no header and no field has one. kimi-cc#16 (2025-07-14); continue#11277 (2026-03-10);
// copilot-cli#2740; read 2026-11-29. The others are inferred.
func TestNamedWaits(t *testing.T) {
	for message, want := range map[string]time.Duration{
		"request reached max organization concurrency: 1, please try again after 1 seconds": time.Second,
		"Please retry in 37.821803198s.":                           37821803198,
		"You have exceeded your rate limit. Please wait 2 minutes": 2 * time.Minute,
		"Please try again in 7m12s.":                               432 * time.Second,
		"Please try again in 6ms":                                  6 * time.Millisecond,
		"Try again in 1 hour, 30 minutes and 5 seconds":            90*time.Minute + 5*time.Second,
		"Try again in 3 days":                                      72 * time.Hour,
		"Try again in 999999999999 days":                           365 * 24 * time.Hour,
		"Please wait a few minutes":                                0,
		"Retry 5 models":                                           0,
	} {
		e := refused(t, 429, `{"error":{"message":"`+message+`"}}`)
		assert.Equal(t, provider.KindRateLimit, e.Kind, message)
		assert.InDelta(t, want, e.RetryAfter, 10, message)
	}
	assert.Equal(t, 7*time.Second, refused(t, 429, `{"error":{"message":"Try again in 5s"}}`, "Retry-After: 7").RetryAfter, "a header counts first")
	assert.Equal(t, 30*time.Second, refused(t, 403, `{"error":{"message":"Forbidden","retryAfterSeconds":30}}`).RetryAfter)
	assert.Equal(t, provider.KindRateLimit, refused(t, 402, `{"error":{"message":"Try again in 5s"}}`).Kind)
}

// In a stream, names without a status decide as the status would.
func TestNamesInAStream(t *testing.T) {
	for body, want := range map[string]provider.Kind{
		`{"error":{"type":"RateLimitError","message":"m"}}`:                     provider.KindRateLimit,
		`{"error":{"code":"Throttling.RateQuota","message":"m"}}`:               provider.KindRateLimit,
		`{"error":{"type":"AuthenticationError","message":"m"}}`:                provider.KindAuthentication,
		`{"error":{"type":"unauthorized","message":"m"}}`:                       provider.KindAuthentication,
		`{"error":{"type":"BadRequestError","message":"m"}}`:                    provider.KindValidation,
		`{"error":{"type":"ValidationException","message":"m"}}`:                provider.KindValidation,
		`{"error":{"type":"RequestTimeout","message":"m"}}`:                     provider.KindTimeout,
		`{"error":{"type":"data_inspection_failed","message":"m"}}`:             provider.KindContentFilter,
		`{"error":{"message":"the rate limit is reached"}}`:                     provider.KindRateLimit,
		`{"statusCode":401,"message":"no","error":"Unauthorized"}`:              provider.KindAuthentication,
		`{"error_code":336103,"error_msg":"the prompt has too many tokens"}`:    provider.KindContextOverflow,
		`{"errors":[{"code":10000,"message":"m"}],"success":false}`:             provider.KindAPI,
		`{"fault":{"faultstring":"m","detail":{"errorcode":"policies.Quota"}}}`: provider.KindAPI,
		`{"base_resp":{"status_code":2049,"status_msg":"invalid api key"}}`:     provider.KindAuthentication,
	} {
		assert.Equal(t, want, meant(t, 200, body).Kind, body)
	}
}

// An unknown reason for a reply's end is classified by its words. Z.ai's are documented (litellm#24373, 2026-03).
func TestReasonsForTheEnd(t *testing.T) {
	x, err := send(t, endpoint(ok("")))
	require.NoError(t, err)
	for reason, want := range map[string]provider.StopReason{
		"sensitive": provider.StopFilter, "content_filtered": provider.StopFilter, "SAFETY": provider.StopFilter, "moderation": provider.StopFilter,
		"prohibited_content": provider.StopFilter, "input_moderation": provider.StopFilter, "max_output_tokens": provider.StopLength, "refused": provider.StopRefusal,
	} {
		stop, err := x.Ending("finish_reason", reason)
		require.NoError(t, err, reason)
		assert.Equal(t, want, stop, reason)
	}
	for reason, want := range map[string]provider.Kind{
		"network_error": provider.KindAPI, "abort": provider.KindAPI, "cancelled": provider.KindAPI, "insufficient_system_resource": provider.KindAPI,
		"model_context_window_exceeded": provider.KindContextOverflow, "context_length_exceeded": provider.KindContextOverflow,
		"insufficient_balance": provider.KindQuota, "phase_of_moon": provider.KindInvalidResponse, "": provider.KindInvalidResponse,
	} {
		_, err := x.Ending("finish_reason", reason)
		failure(t, err, want)
	}
}

// A failure about the path of the request says what BaseURL lacks. OpenHands#485, chatgpt-web#737, MoneyPrinterTurbo#57,
// lmstudio-bug-tracker#618, read 2026-11-29.
func TestAWrongPathIsTold(t *testing.T) {
	for _, tt := range []struct{ base, path, answer, advice string }{
		{"", "chat/completions", `200 {"error":"Unexpected endpoint or method. (POST /chat/completions)"}`, "BaseURL usually ends in /v1"},
		{"", "chat/completions", `404 {"error":{"message":"Invalid URL (POST /chat/completions)","type":"invalid_request_error","param":null,"code":null}}`, "BaseURL usually ends in /v1"},
		{"", "chat/completions", `404 {"error":{"type":"invalid_request_error","code":"unknown_url","message":"Unknown request URL: POST /chat/completions."}}`, "BaseURL usually ends in /v1"},
		{"", "chat/completions", `404 {"detail":"Not Found"}`, "BaseURL usually ends in /v1"},
		{"/api", "chat/completions", `404 404 page not found`, "BaseURL usually ends in /v1"},
		{"", "chat/completions", `404 <html>`, "BaseURL usually ends in /v1"},
		{"", "chat/completions", `405 `, "BaseURL usually ends in /v1"},
		{"/v1/chat/completions", "chat/completions", `404 {"error":{"message":"Invalid URL (POST /v1/chat/completions/chat/completions)"}}`, "leave /chat/completions out of BaseURL"},
		{"/v1", "v1/messages", `404 {"detail":"Not Found"}`, "leave /v1 out of BaseURL"},
		{"/v1", "api/chat", `404 404 page not found`, "leave /v1 out of BaseURL"},
		{"/v1/v1", "chat/completions", `404 {"detail":"Not Found"}`, "leave /v1 out of BaseURL"},
		{"/api/v2/cortex/v1", "chat/completions", `404 {"detail":"Not Found"}`, "check the path of BaseURL"},
		{"/v2", "chat/completions", `404 {"message":"no Route matched with those values"}`, "check the path of BaseURL"},
		{"", "chat/completions", "404 {\"error\":{\"message\":\"The model `x` does not exist\",\"code\":\"model_not_found\"}}", ""},
		{"", "chat/completions", `404 {"error":"model 'x' not found"}`, ""},
		{"", "chat/completions", `404 {"error":{"message":"No endpoints found that support tool use.","code":404}}`, ""},
		{"", "chat/completions", `404 {"error":{"code":"DeploymentNotFound","message":"no"}}`, ""},
		{"", "chat/completions", `400 {"error":{"message":"no endpoint"}}`, ""},
	} {
		var status int
		_, err := fmt.Sscanf(tt.answer, "%d", &status)
		require.NoError(t, err)
		body := tt.answer[4:]
		e := endpoint(says(fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)))
		e.BaseURL = "https://model.test" + tt.base
		x := open(t, e)
		if err = x.Send(http.MethodPost, tt.path, []byte("{}")); status == 200 {
			require.NoError(t, err)
			err = x.Fault([]byte(body))
		}
		message := failure(t, err, provider.KindValidation).Message
		if tt.advice == "" {
			assert.NotContains(t, message, "BaseURL", tt.answer)
			continue
		}
		assert.Contains(t, message, tt.advice, tt.answer)
		assert.Contains(t, message, "the server has nothing at /"+tt.path+" below BaseURL", tt.answer)
	}
	x, err := send(t, endpoint(ok("")))
	require.NoError(t, err)
	failure(t, x.Fault([]byte(`{"error":"the endpoint is overloaded"}`)), provider.KindAPI)
}

// A vendor's own shape is read by the adapter or the host program, and cleaned here.
func TestOwnShapes(t *testing.T) {
	explain := func(status int, header http.Header, body []byte) wire.Fault {
		if !strings.Contains(string(body), "oops") {
			return wire.Fault{}
		}
		assert.Equal(t, "b", header.Get("X-A"))
		return wire.Fault{Kind: provider.KindQuota, Code: "oops", Message: fmt.Sprint(status, ": no more for ", secret), RetryAfter: time.Minute}
	}
	fail := func(status int, body string, explain func(int, http.Header, []byte) wire.Fault) *provider.Error {
		e := endpoint(says(fmt.Sprintf("HTTP/1.1 %d X\r\nX-A: b\r\nConnection: close\r\n\r\n%s", status, body)))
		e.Explain = explain
		x, err := send(t, e)
		if status == 200 {
			require.NoError(t, err)
			err = x.Fault([]byte(body))
		}
		return failure(t, err, kindOf(err))
	}
	for _, status := range []int{200, 400, 503} {
		e := fail(status, `{"oops":{"left":0}}`, explain)
		assert.Equal(t, provider.KindQuota, e.Kind)
		assert.Equal(t, status, e.Status)
		assert.Equal(t, "oops", e.Code)
		assert.Equal(t, fmt.Sprint(status, ": no more for [redacted]"), e.Message)
		assert.Equal(t, time.Minute, e.RetryAfter)
	}
	e := fail(429, coded("x"), explain)
	assert.Equal(t, []string{"rate_limit", "x", "m"}, []string{string(e.Kind), e.Code, e.Message}, "what it does not know is read as ever")
	e = fail(400, `{"a":1}`, func(int, http.Header, []byte) wire.Fault { return wire.Fault{Code: "PromptTooLong", Window: 4096} })
	assert.Equal(t, provider.KindContextOverflow, e.Kind, "a name is classified")
	assert.Zero(t, e.Window-4096)
	e = fail(429, `{"a":1}`, func(int, http.Header, []byte) wire.Fault { return wire.Fault{RetryAfter: -time.Hour} })
	assert.Zero(t, e.RetryAfter)
	e = fail(429, `{"a":1}`, func(int, http.Header, []byte) wire.Fault { return wire.Fault{RetryAfter: 1 << 62} })
	assert.Equal(t, 365*24*time.Hour, e.RetryAfter)
	wait := func(int, http.Header, []byte) wire.Fault { return wire.Fault{RetryAfter: time.Minute} }
	assert.Equal(t, "Slower, please", fail(429, "Slower, please", wait).Message, "the rest is read as ever")
	assert.Equal(t, "blocked", fail(403, "<html>", wait).Code)
	assert.Equal(t, provider.KindQuota, fail(503, "<html>", func(int, http.Header, []byte) wire.Fault { return wire.Fault{Kind: provider.KindQuota} }).Kind)
}

// A refusal whose body never ends is what its status line says, soon, and also if the caller's time is over meanwhile.
func TestRefusalsWhoseBodyDoesNotEnd(t *testing.T) {
	const said = `{"error":{"code":"m","message":"no more"}}`
	for name, body := range map[string]func(ctx context.Context) *silent{
		"nothing":    func(ctx context.Context) *silent { return &silent{ctx, ""} },
		"half":       func(ctx context.Context) *silent { return &silent{ctx, said[:20]} },
		"the whole":  func(ctx context.Context) *silent { return &silent{ctx, said} },
		"plain text": func(ctx context.Context) *silent { return &silent{ctx, "no more"} },
	} {
		for status, want := range map[int]provider.Kind{
			400: provider.KindValidation, 401: provider.KindAuthentication, 402: provider.KindQuota, 403: provider.KindAuthentication,
			429: provider.KindRateLimit, 500: provider.KindAPI,
		} {
			for _, within := range []time.Duration{time.Millisecond, time.Second, time.Hour} {
				synctest.Test(t, func(t *testing.T) {
					header := http.Header{"Retry-After": {"7"}, "X-Request-Id": {"req_1"}}
					if status == 402 {
						header.Del("Retry-After")
					}
					e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
						return &http.Response{StatusCode: status, Header: header, Body: body(req.Context()), Request: req}, nil
					}))
					ctx, cancel := context.WithTimeout(t.Context(), within)
					defer cancel()
					x, err := e.Open(ctx, "")
					require.NoError(t, err)
					defer x.Close()
					began := time.Now()
					f := failure(t, x.Send(http.MethodPost, "chat", []byte("{}")), want)
					assert.Equal(t, status, f.Status, name)
					assert.Equal(t, "req_1", f.RequestID, name)
					assert.LessOrEqual(t, time.Since(began), 2*time.Second, name)
					if status != 402 {
						assert.Equal(t, 7*time.Second, f.RetryAfter, name)
					}
					if name == "the whole" {
						assert.Zero(t, time.Since(began), "the JSON has ended")
						assert.Equal(t, "no more", f.Message)
					}
				})
			}
		}
	}
	synctest.Test(t, func(t *testing.T) { // blanks are no reason to wait either
		e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
			body := &pinging{silent{req.Context(), " "}, func() {}}
			return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: body, Request: req}, nil
		}))
		began := time.Now()
		_, err := send(t, e)
		failure(t, err, provider.KindAuthentication)
		assert.LessOrEqual(t, time.Since(began), 3*time.Second)
	})
	synctest.Test(t, func(t *testing.T) { // whoever cancels wants no answer
		e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusUnauthorized, Header: http.Header{}, Body: &silent{req.Context(), ""}, Request: req}, nil
		}))
		ctx, cancel := context.WithCancel(t.Context())
		x, err := e.Open(ctx, "")
		require.NoError(t, err)
		defer x.Close()
		time.AfterFunc(time.Second, cancel)
		failure(t, x.Send(http.MethodPost, "chat", []byte("{}")), provider.KindCanceled)
	})
}
