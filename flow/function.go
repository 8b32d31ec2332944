package flow

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agonist-dev/debate/provider"
)

// Function is code of the host program that answers calls in place of a model: it judges, makes a solution, or decides what comes
// next. The engine has it under a name, which the config of a conversation uses.
//
// Each flow says which task it gives to its functions, and has a type of function that takes it; see [TaskOf]. The answer is checked
// like that of a model: it must be one JSON value that matches the schema of the call, and if it is not accepted, the function is
// asked once more.
//
// Call must return soon after ctx is done. It is called concurrently if several conversations use it. Errors that are
// *provider.Error or *[Error] are retried by their kind, all others as api_error. A panic ends the process.
type Function interface {
	Call(ctx context.Context, task any) (json.RawMessage, error)
}

// TaskOf returns the task of a function that takes a *T. A config may name a function that is made for another flow: that is an
// error of kind validation, which is not retried.
func TaskOf[T any](task any) (*T, error) {
	own, ok := task.(*T)
	if !ok {
		err := fmt.Errorf("the function takes a %T, and the flow of this conversation gives it a %T", own, task)
		return nil, &Error{Kind: provider.KindValidation, Op: "function", Err: err}
	}
	return own, nil
}
