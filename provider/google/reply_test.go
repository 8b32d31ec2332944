package google_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// Every reason that the API, Vertex AI and the SDK document, and one that none does.
func TestFinishReasons(t *testing.T) {
	const broken, refused = provider.StopReason(""), provider.StopReason("refused")
	for reason, want := range map[string]provider.StopReason{
		"STOP":                      provider.StopEnd,
		"MAX_TOKENS":                provider.StopLength,
		"CONTINUATION":              provider.StopLength,
		"SAFETY":                    provider.StopFilter,
		"RECITATION":                provider.StopFilter,
		"LANGUAGE":                  provider.StopFilter,
		"BLOCKLIST":                 provider.StopFilter,
		"PROHIBITED_CONTENT":        provider.StopFilter,
		"SPII":                      provider.StopFilter,
		"IMAGE_SAFETY":              provider.StopFilter,
		"IMAGE_PROHIBITED_CONTENT":  provider.StopFilter,
		"IMAGE_RECITATION":          provider.StopFilter,
		"MODEL_ARMOR":               provider.StopFilter,
		"AUDIO_SAFETY":              provider.StopFilter, // a reason that nobody lists
		"INPUT_CONTENT_FILTERED":    provider.StopFilter,
		"OUTPUT_TOKEN_LIMIT":        provider.StopLength,
		"OTHER":                     broken,
		"IMAGE_OTHER":               broken,
		"NO_IMAGE":                  broken,
		"MALFORMED_FUNCTION_CALL":   broken,
		"UNEXPECTED_TOOL_CALL":      broken,
		"TOO_MANY_TOOL_CALLS":       broken,
		"MALFORMED_RESPONSE":        broken,
		"MISSING_THOUGHT_SIGNATURE": refused,
		"NEVER_HEARD_OF":            broken,
	} {
		t.Run(reason, func(t *testing.T) {
			p, _ := serve(t, http.StatusOK, `data: {"candidates": [{"content": {"parts": [{"text": "As far as it went"}]},"finishReason": "`+
				reason+`","finishMessage": "said of `+canary+`"}],"usageMetadata": {"promptTokenCount": 4,"candidatesTokenCount": 3}}`+"\n\n")
			r, chunks, err := ask(t, p, request())
			assert.Equal(t, []string{"As far as it went"}, chunks)
			require.NotNil(t, r, "usage is known")
			assert.Equal(t, provider.Usage{Input: 4, Output: 3}, r.Usage)
			if want == broken || want == refused {
				kind := provider.KindInvalidResponse
				if want == refused {
					kind = provider.KindValidation // the same request would end so again
				}
				e := failure(t, err, kind)
				assert.Equal(t, reason, e.Code)
				assert.Contains(t, e.Message, "said of [redacted]")
				assert.Empty(t, r.Text)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, want, r.Stop)
			assert.Equal(t, "As far as it went", r.Text)
		})
	}
}

// Every reason for which a prompt is blocked is a filter's, the unknown ones too.
func TestBlockReasons(t *testing.T) {
	for _, reason := range []string{
		"SAFETY", "OTHER", "BLOCKLIST", "PROHIBITED_CONTENT", "IMAGE_SAFETY", "MODEL_ARMOR", "JAILBREAK", "NEVER_HEARD_OF",
	} {
		t.Run(reason, func(t *testing.T) {
			p, _ := serve(t, http.StatusOK, `data: {"promptFeedback": {"blockReason": "`+reason+`","blockReasonMessage": "said of `+canary+`"},`+
				`"usageMetadata": {"promptTokenCount": 4}}`+"\n\n")
			r, _, err := ask(t, p, request())
			e := failure(t, err, provider.KindContentFilter)
			assert.Equal(t, reason, e.Code)
			assert.Contains(t, e.Message, "said of [redacted]")
			assert.Equal(t, provider.Usage{Input: 4}, r.Usage)
		})
	}
}

func TestAfterTheEndOnlyUsageCounts(t *testing.T) {
	end := `data: {"candidates": [{"content": {"parts": [{"text": "Done."}]},"finishReason": "STOP"}]}` + "\n\n"
	for name, tt := range map[string]struct {
		more string
		kind provider.Kind
	}{
		"usage":        {`{"usageMetadata": {"promptTokenCount": 4,"candidatesTokenCount": 3}}`, ""},
		"the same end": {`{"candidates": [{"content": {"parts": [{"text": ""}]},"finishReason": "STOP"}],"usageMetadata": {"promptTokenCount": 4,"candidatesTokenCount": 3}}`, ""},
		"ratings":      {`{"promptFeedback": {"safetyRatings": []},"usageMetadata": {"promptTokenCount": 4,"candidatesTokenCount": 3}}`, ""},
		"text":         {`{"candidates": [{"content": {"parts": [{"text": " Or not."}]}}]}`, provider.KindInvalidResponse},
		"a call":       {`{"candidates": [{"content": {"parts": [{"functionCall": {"name": "x"}}]}}]}`, provider.KindInvalidResponse},
		"an error":     {`{"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded."}}`, provider.KindAPI},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, http.StatusOK, end+"data: "+tt.more+"\n\n")
			r, _, err := ask(t, p, request())
			if tt.kind != "" {
				failure(t, err, tt.kind)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, "Done.", r.Text)
			assert.Equal(t, provider.Usage{Input: 4, Output: 3}, r.Usage)
		})
	}
}

// The vendor counts in each event, and only the last event's count is the price.
func TestUsageOfWhatIsCut(t *testing.T) {
	event := func(text, more string) string {
		return `data: {"candidates": [{"content": {"parts": [{"text": "` + text + `"}]}` + more + `}],` +
			`"usageMetadata": {"promptTokenCount": 1000,"candidatesTokenCount": 1}}` + "\n\n"
	}
	const failed = `data: {"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded."}}` + "\n\n"
	for name, tt := range map[string]struct {
		answer string
		kind   provider.Kind
		priced bool
	}{
		"cut":                  {event("Half", ""), provider.KindNetwork, false},
		"failed":               {event("Half", "") + failed, provider.KindAPI, false},
		"went on":              {event("Half", `,"finishReason": "STOP"`) + event("more", ""), provider.KindInvalidResponse, false},
		"broken":               {event("Half", `,"finishReason": "OTHER"`), provider.KindInvalidResponse, true},
		"failed after the end": {event("Whole", `,"finishReason": "STOP"`) + failed, provider.KindAPI, true},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, http.StatusOK, tt.answer)
			r, _, err := ask(t, p, request())
			failure(t, err, tt.kind)
			if name == "went on" {
				assert.Nil(t, r, "what came behind the end is not counted")
				return
			}
			require.NotNil(t, r)
			assert.Equal(t, !tt.priced, r.Partial)
			assert.Equal(t, provider.Usage{Input: 1000, Output: 1}, r.Usage)
		})
	}
	// An end that is not counted leaves the price unknown, whatever was counted before.
	p, _ := serve(t, http.StatusOK, event("Half", "")+`data: {"candidates": [{"finishReason": "STOP"}]}`+"\n\n")
	r := adaptertest.Answer(t, p, request())
	assert.Zero(t, r.Usage)
}

// What only names something may have any type: anomalyco/opencode#19947 (2026-03-29), zed#59403 (2026-06-16).
func TestNamesOfAnyType(t *testing.T) {
	p, _ := serve(t, http.StatusOK, `data: {"responseId": 7, "modelVersion": {}, "candidates": [{"index": null, "content": {"parts": [`+
		`{"functionCall": {"id": 7, "name": "look", "args": {}}}]}, "finishReason": "STOP", "finishMessage": 1}]}`+"\n\n")
	r := adaptertest.Answer(t, p, request())
	require.Len(t, r.Calls, 1)
	assert.Equal(t, "7", r.Calls[0].ID)
}

// Pieces may be the text so far: dgrauet/freellmapi#1007 (2026-08-23).
func TestPiecesThatAreTheTextSoFar(t *testing.T) {
	piece := func(text string) string {
		return `data: {"candidates": [{"content": {"parts": [{"text": "` + text + `"}]}`
	}
	p, _ := serve(t, http.StatusOK, piece("Oaks")+"}]}\n\n"+piece("Oaks grow")+"}]}\n\n"+piece("Oaks grow slowly.")+`, "finishReason": "STOP"}]}`+"\n\n")
	r := adaptertest.Answer(t, p, request())
	assert.Equal(t, "Oaks grow slowly.", r.Text)
}

func TestOddAnswers(t *testing.T) {
	half := `data: {"candidates": [{"content": {"parts": [{"text": "Half"}]}}]}` + "\n\n"
	for name, tt := range map[string]struct {
		answer string
		kind   provider.Kind
		code   string
	}{
		"null":                 {"data: null\n\n", provider.KindInvalidResponse, "malformed"},
		"null candidate":       {`data: {"candidates": [null, {"content": null}, {"content": {"parts": [null]}}]}` + "\n\n", provider.KindNetwork, "truncated"},
		"a page":               {"<!doctype html>\n\n", provider.KindInvalidResponse, "endpoint"},
		"not streamed":         {`[{"candidates": [{"content": {"parts": [{"text": "Yes."}]},"finishReason": "STOP"}]}]`, provider.KindInvalidResponse, "not_a_stream"},
		"half an error":        {half + `{"error": {"code": 503, "mess`, provider.KindNetwork, "truncated"},
		"an unended event":     {half + `data: {"candidates": [{"finishReason": "STOP"}]}` + "\n", provider.KindNetwork, "truncated"},
		"unspecified end":      {half + `data: {"candidates": [{"finishReason": "FINISH_REASON_UNSPECIFIED"}]}` + "\n\n", provider.KindNetwork, "truncated"},
		"an endless error":     {half + `{"error": {"code": 503, "message": "` + strings.Repeat("x", 1<<17) + `"}}` + "\n", provider.KindNetwork, "truncated"},
		"nothing":              {"", provider.KindNetwork, "truncated"},
		"an error event":       {half + "event: error\n" + `data: {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded."}` + "\n\n", provider.KindAPI, "UNAVAILABLE"},
		"an error in a list":   {half + `data: [{"error": {"code": 503, "status": "UNAVAILABLE", "message": "Overloaded."}}]` + "\n\n", provider.KindAPI, "UNAVAILABLE"},
		"another event":        {half + "event: ping\ndata: 7\n\n", provider.KindNetwork, "truncated"},
		"an error after space": {"\n  " + `{"error": {"code": 500, "status": "INTERNAL", "message": "Broken."}}`, provider.KindAPI, "INTERNAL"},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := serve(t, http.StatusOK, tt.answer)
			_, _, err := ask(t, p, request())
			assert.Equal(t, tt.code, failure(t, err, tt.kind).Code)
		})
	}
}
