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
	// Speak yields a reply piece by piece. An error ends the reply; without one the last piece says why
	// the reply ended.
	Speak func(ctx context.Context, req *provider.Request) iter.Seq2[Piece, error]
}

// Piece is a part of a reply. The last one has a Stop, and what else is known by then.
type Piece struct {
	Text  string
	Stop  provider.StopReason
	Usage provider.Usage // in tokens; zero: not counted
	Model string
}

// Generate emits the pieces as they come, and returns the whole. Failures are *[provider.Error], by
// whose kind the engine decides whether to try again.
func (e *Eliza) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, failure(err)
	}
	var text strings.Builder
	var last Piece
	for piece, err := range e.Speak(ctx, req) {
		if err != nil {
			return nil, failure(err)
		}
		if last = piece; piece.Text != "" {
			text.WriteString(piece.Text)
			emit(provider.Chunk{Text: piece.Text})
		}
	}
	response := &provider.Response{Text: text.String(), Stop: last.Stop, Usage: last.Usage, Model: last.Model}
	switch {
	case last.Stop == "": // a stream that is cut looks like one that ends
		return nil, &provider.Error{Kind: provider.KindNetwork, Message: "the reply was cut"}
	case text.Len() == 0 && last.Stop == provider.StopEnd:
		return response, &provider.Error{Kind: provider.KindInvalidResponse, Message: "the reply is empty"}
	}
	return response, nil
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
