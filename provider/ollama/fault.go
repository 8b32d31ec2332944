package ollama

import (
	"errors"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// refine says of the failure for a missing model how it is fetched. err is the classification by package wire.
func refine(err error, model string) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return err
	}
	if e.Status == http.StatusNotFound && strings.Contains(strings.ToLower(e.Message), "model") {
		e.Code, e.Message = codeNoModel, absent(model)
	}
	return e
}

const codeNoModel = "model_not_found"

// absent returns the message that a model is missing, and what to do.
func absent(model string) string {
	return "the server does not have the model; fetch it with: ollama pull " + wire.Clip(model)
}
