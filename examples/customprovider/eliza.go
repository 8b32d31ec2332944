package main

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"

	"github.com/agonist-dev/debate/provider"
)

// Eliza is a [provider.Provider] whose model is a function of this program: put a client of your own
// in its place. It is safe for concurrent use as long as Speak is.
type Eliza struct {
	// Speak yields a reply piece by piece. An error ends the reply.
	Speak func(ctx context.Context, req *provider.Request) iter.Seq2[string, error]
}

// Generate emits the pieces as they come, and returns the whole. Failures are *[provider.Error], by
// whose kind the engine decides whether to try again.
func (e *Eliza) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(err)
	}
	var text strings.Builder
	for piece, err := range e.Speak(ctx, req) {
		if err != nil {
			return nil, failure(err)
		}
		text.WriteString(piece)
		emit(provider.Chunk{Text: piece})
	}
	if text.Len() == 0 {
		return nil, &provider.Error{Kind: provider.KindInvalidResponse, Message: "the reply is empty"}
	}
	return &provider.Response{Text: text.String(), Stop: provider.StopEnd, Model: req.Model}, nil
}

// failure classifies an error. One that tells its kind is passed on.
func failure(err error) error {
	if known, ok := errors.AsType[*provider.Error](err); ok {
		return known
	}
	kind := provider.KindAPI
	switch {
	case errors.Is(err, context.Canceled):
		kind = provider.KindCanceled
	case errors.Is(err, context.DeadlineExceeded):
		kind = provider.KindTimeout
	case errors.Is(err, io.ErrUnexpectedEOF): // the stream was cut
		kind = provider.KindNetwork
	}
	return &provider.Error{Kind: kind, Err: err}
}
