// Package body reads the bodies of events in tests.
package body

import (
	"encoding/json"

	"github.com/agonist-dev/debate/flow"
)

// As returns the body of an event if it is a T, else nil. It decodes a body that only JSON has been read into.
func As[T any](e flow.Event) *T {
	if body, ok := any(e.Body).(*T); ok {
		return body
	}
	foreign, ok := e.Body.(*flow.Foreign)
	if !ok {
		return nil
	}
	body := new(T)
	if known, ok := any(body).(flow.Body); !ok || known.EventKind() != foreign.Kind || json.Unmarshal(foreign.JSON, body) != nil {
		return nil
	}
	return body
}
