package storetest_test

import (
	"encoding/json"

	"github.com/agonist-dev/debate/flow"
)

// bodyOf yields an empty body of a kind.
func bodyOf(kind flow.EventKind) flow.Body {
	var e flow.Event
	_ = json.Unmarshal([]byte(`{"kind":"`+string(kind)+`","body":{}}`), &e)
	return e.Body
}
