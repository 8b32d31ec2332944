package deliberation_test

import "github.com/agonist-dev/debate"

// as returns the body of an event if it is a T; nil: it is another.
func as[T any](e debate.Event) *T {
	body, _ := any(e.Body).(*T)
	return body
}
