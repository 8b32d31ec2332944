package debate

import (
	"fmt"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/jsondiff"
)

// sameConfig reports where two configs differ, as an error of kind conflict that names the field and both values.
// Two differences do not count: the id, which the log does not hold twice, and what is chosen where no person is
// asked. For the latter, the log's choice stays.
func sameConfig(stored, given *flow.Record) error {
	a, err := jsondiff.Tree(stored.Config())
	if err != nil {
		return &flow.Error{Kind: flow.KindValidation, Op: string(flow.TriggerStart), Err: err}
	}
	b, err := jsondiff.Tree(given.Config())
	if err != nil {
		return &flow.Error{Kind: flow.KindValidation, Op: string(flow.TriggerStart), Err: err}
	}
	for _, side := range []any{a, b} {
		if object, ok := side.(map[string]any); ok {
			delete(object, "id")
			delete(object, "unattended")
		}
	}
	if stored.Flow() != given.Flow() {
		a, b = map[string]any{"flow": stored.Flow()}, map[string]any{"flow": given.Flow()}
	}
	field, left, right := jsondiff.Compare("", a, b)
	if field == "" {
		return nil
	}
	other := fmt.Errorf("a debate of this id exists with another value: it has %s, and %s is given", left, right)
	return &flow.Error{Kind: flow.KindConflict, Op: string(flow.TriggerStart), Field: field, Err: other}
}
