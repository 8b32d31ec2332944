package ollama_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/provider"
)

// A runner's failure comes as JSON in a string: what shows only once it is unpacked is cut out too.
func TestKeyInAPackedFailure(t *testing.T) {
	packed := `{"error":"{\"error\":{\"code\":503,\"message\":\"not with \\u0073` + canary[1:] + `\",\"type\":\"\\u0073` + canary[1:] + `\"}}"}` + "\n"
	for _, status := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		_, _, err := ask(t, answering(t, status, packed), request())
		e := failure(t, err, provider.KindAPI)
		assert.Equal(t, "not with [redacted]", e.Message)
		assert.Equal(t, status, e.Status)
	}
}
