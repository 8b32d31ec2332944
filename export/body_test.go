package export_test

import "github.com/agonist-dev/debate/flow"

// as yields the body of an event if it is a T; nil: it is another.
func as[T any](e flow.Event) *T {
	body, _ := any(e.Body).(*T)
	return body
}
