package ollama

import (
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// overflows are words by which the server and its runners say that the window is full.
func overflows() []string {
	return []string{
		"longer than the context length", // a prompt
		"exceeds the context length",     // a text to be embedded
		"exceeds maximum context length", // the same, if it cannot be cut
		"context size has been exceeded", // llama.cpp, in the middle of a reply
		"context shift is disabled",      // the same, formerly
	}
}

// refine reads what Ollama says in shapes and words of its own. err is what package wire made of it.
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
	case e.Kind == provider.KindRateLimit && says("usage limit"): // of hours or weeks: no wait that a debate can make
		e.Kind = provider.KindQuota
	case e.Status == http.StatusNotFound && says("model"):
		e.Code, e.Message = "model_not_found", absent(model)
	}
	return e
}

// absent says that a model is not there, and what to do.
func absent(model string) string {
	return "the server does not have the model; fetch it with: ollama pull " + wire.Clip(model)
}

// unpack reads a runner's failure that the server passed on as JSON in a string.
func unpack(x *wire.Exchange, e *provider.Error) {
	inner := []byte(e.Message)
	if !strings.HasPrefix(e.Message, "{") || !wire.IsFault(inner) {
		return
	}
	f, ok := errors.AsType[*provider.Error](x.Fault(inner)) // which also cuts secrets out of what it unpacks
	if !ok {
		return
	}
	e.Code, e.Message = f.Code, f.Message
	if e.Status/100 == 2 || f.Kind == provider.KindContextOverflow { // any other status says it better
		e.Kind = f.Kind
	}
}
