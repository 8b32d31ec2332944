package storetest_test

import (
	"encoding/json"

	"github.com/agonist-dev/debate/flow"
)

// as yields the body of an event if it is a T; nil: it is another.
func as[T any](e flow.Event) *T {
	body, _ := any(e.Body).(*T)
	return body
}

// bodyOf yields an empty body of a kind.
func bodyOf(kind flow.EventKind) flow.Body {
	var e flow.Event
	_ = json.Unmarshal([]byte(`{"kind":"`+string(kind)+`","body":{}}`), &e)
	return e.Body
}
