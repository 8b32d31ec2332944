package google_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
)

func refused(code int, status, message string) string {
	return fmt.Sprintf(`{"error": {"code": %d, "status": %q, "message": %q}}`, code, status, message+" "+canary)
}

func TestCheck(t *testing.T) {
	invalid := `{"error": {"code": 400, "status": "INVALID_ARGUMENT", "message": "API key not valid.", "details": [{"reason": "API_KEY_INVALID"}]}}`
	tests := []struct {
		name   string
		status int
		answer string
		want   provider.Kind
		code   string
	}{
		{"known", 200, `{"name": "models/gemini-2.5-flash", "inputTokenLimit": 1048576}`, "", ""},
		{"unknown", 404, refused(404, "NOT_FOUND", "models/x is not found"), provider.KindValidation, "model_not_found"},
		{"wrong key", 400, invalid, provider.KindAuthentication, "INVALID_ARGUMENT"},
		{"no access", 403, refused(403, "PERMISSION_DENIED", "no"), provider.KindAuthentication, "PERMISSION_DENIED"},
		{"down", 503, refused(503, "UNAVAILABLE", "no"), provider.KindAPI, "UNAVAILABLE"},
		{"a page", 200, `<html>`, provider.KindInvalidResponse, "endpoint"},
		{"something else", 200, `{}`, provider.KindInvalidResponse, "malformed"},
		{"an error", 200, refused(429, "RESOURCE_EXHAUSTED", "no"), provider.KindRateLimit, "RESOURCE_EXHAUSTED"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, all := serve(t, tt.status, tt.answer)
			err := p.Check(t.Context(), "gemini-2.5-flash")
			require.Len(t, *all, 1)
			assert.Equal(t, "GET /v1beta/models/gemini-2.5-flash", (*all)[0].method+" "+(*all)[0].url)
			assert.Equal(t, canary, (*all)[0].header.Get("X-Goog-Api-Key"))
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			assert.Equal(t, tt.code, failure(t, err, tt.want).Code)
		})
	}
}
