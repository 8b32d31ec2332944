package ollama

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// overflows returns words with which the server and its runners report a full window.
func overflows() []string {
	return []string{
		"longer than the context length", // a prompt
		"exceeds the context length",     // a text to be embedded
		"exceeds maximum context length", // the same, if it cannot be cut
		"context size has been exceeded", // llama.cpp, in the middle of a reply
		"context shift is disabled",      // the same, in older versions
	}
}

// refine improves the classification of a failure that Ollama reports in its own shapes and words. err is
// the classification by package wire.
func refine(x *wire.Exchange, err error, model string) error {
	e, ok := errors.AsType[*provider.Error](err)
	if !ok {
		return err
	}
	unpack(x, e)
	words := strings.ToLower(e.Message)
	says := func(s string) bool { return strings.Contains(words, s) }
	switch {
	case (e.Kind == provider.KindValidation || e.Kind == provider.KindAPI) && slices.ContainsFunc(overflows(), says):
		e.Kind = provider.KindContextOverflow
	case e.Kind == provider.KindRateLimit && says("usage limit"): // an allowance of hours or weeks: a debate cannot wait that long
		e.Kind = provider.KindQuota
	case e.Status == http.StatusNotFound && says("model"):
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
