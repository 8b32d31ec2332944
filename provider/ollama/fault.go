package ollama

import (
	"errors"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// refine improves the classification of a failure that Ollama reports in its own shape, and says how a missing model is fetched. err
// is the classification by package wire.
func refine(x *wire.Exchange, err error, model string) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return err
	}
	unpack(x, e)
	if e.Status == http.StatusNotFound && strings.Contains(strings.ToLower(e.Message), "model") {
		e.Code, e.Message = "model_not_found", absent(model)
	}
	return e
}

// absent returns the message that a model is missing, and what to do.
func absent(model string) string {
	return "the server does not have the model; fetch it with: ollama pull " + wire.Clip(model)
}

// unpack reads a runner's failure that the server passed on as JSON in a string.
func unpack(x *wire.Exchange, e *provider.Error) {
	inner := []byte(e.Message)
	if !strings.HasPrefix(e.Message, "{") || !wire.IsFault(inner) {
		return
	}
	f, ok := errors.AsType[*provider.Error](x.Fault(inner)) // Fault also removes secrets from the message
	if !ok {
		return
	}
	e.Code, e.Message = f.Code, f.Message
	if e.Status/100 == 2 || f.Kind == provider.KindContextOverflow { // any other status says more
		e.Kind = f.Kind
	}
}
