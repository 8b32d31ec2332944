package ollama_test

import (
	"io"
	"net/http"
	"testing"

	"github.com/agonist-dev/debate/provider/internal/adaptertest"
)

// TestAModelThatCannotThink: it is asked without, and that is remembered.
func TestAModelThatCannotThink(t *testing.T) {
	picky := &adaptertest.Picky{
		Refuses: [][2]string{{`"think"`, `{"error":"\"llama3.2\" does not support thinking"}`}},
		Say:     func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, yes) },
	}
	p := serve(t, picky.ServeHTTP)
	p.Think = true
	picky.Learns(t, p, request(), "think")
}
