package scripted

import (
	"context"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/ended"
)

// Reply is one reply of a script. The zero value is an empty text that ends at once.
type Reply struct {
	Text string
	// Reasoning is the text of thoughts. It is emitted as one chunk before the text, unless the request hides it.
	Reasoning string
	Citations []provider.Citation
	Uncited   int // see [provider.Response]
	// Chunks is the number of pieces in which the text is emitted, of nearly equal numbers of characters.
	// 0 and 1 mean one piece. A text with fewer characters has one piece for each. ChunkSize is the size
	// of a piece in bytes, except the last, and takes precedence over Chunks. A piece is longer if it
	// would otherwise end inside a character.
	Chunks    int
	ChunkSize int

	Delay    time.Duration // before the first chunk, or before Err
	Interval time.Duration // before each further chunk
	// Hold, if not nil, stops the reply after its first chunk until it is closed. So a test can stop a
	// stream in its middle without measuring time. Under testing/synctest, make it inside the bubble.
	Hold <-chan struct{}

	Stop  provider.StopReason // if "": StopTool with Calls, StopEnd without
	Calls []provider.ToolCall
	ID    string   // of the reply, as a vendor reports it
	Model string   // if "": the model of the request
	Cost  *float64 // in USD, as a vendor reports it
	Left  []string // see [provider.Response.Left]
	// Usage is estimated if it is zero: one token for four bytes of request and of text, at least one
	// each. The estimate reads the length of every message, so a benchmark should set Usage.
	Usage provider.Usage

	// Err is returned in place of the reply, after Delay and the first AfterChunks chunks. With
	// AfterChunks, a stream breaks in the middle. If Usage is set, a Response next to the error reports
	// it; with Partial as a part of what the attempt has cost. The same value is returned each time and
	// must not be changed.
	Err         error
	AfterChunks int
	Partial     bool
}

func (r *Reply) perform(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if r.Delay > 0 {
		if err := sleep(ctx, r.Delay); err != nil {
			return nil, ended.Sent(err)
		}
	}
	reasoning := r.Reasoning
	if req.Options != nil && req.Options.Reasoning == provider.ReasoningHide {
		reasoning = ""
	}
	if reasoning != "" && (r.Err == nil || r.AfterChunks > 0) {
		emit(provider.Chunk{Text: reasoning, Reasoning: true})
	}
	if err := r.stream(ctx, emit); err != nil {
		return nil, err
	}
	if r.Err != nil {
		if r.Usage.IsZero() {
			return nil, r.Err
		}
		return &provider.Response{Usage: r.Usage, ID: r.ID, Model: r.model(req), Cost: r.cost(), Partial: r.Partial}, r.Err
	}
	response := &provider.Response{
		Text: r.Text, Stop: r.Stop, Usage: r.Usage, ID: r.ID, Model: r.model(req), Reasoning: reasoning,
		Citations: slices.Clone(r.Citations), Uncited: r.Uncited, Cost: r.cost(), Left: slices.Clone(r.Left),
	}
	if len(r.Calls) > 0 {
		response.Calls = cloneCalls(r.Calls)
	}
	switch {
	case r.Stop != "":
	case len(r.Calls) > 0:
		response.Stop = provider.StopTool
	default:
		response.Stop = provider.StopEnd
	}
	if response.Usage.IsZero() {
		response.Usage = estimate(req, r.Text)
	}
	return response, nil
}

// stream emits the text in pieces, as far as the script allows.
func (r *Reply) stream(ctx context.Context, emit func(provider.Chunk)) error {
	rest, split := r.Text, r.split()
	for n := 0; rest != "" && (r.Err == nil || n < r.AfterChunks); n++ {
		if n > 0 {
			if err := sleep(ctx, r.Interval); err != nil {
				return ended.Sent(err)
			}
		}
		cut := split.next(rest)
		emit(provider.Chunk{Text: rest[:cut]})
		rest = rest[cut:]
		if n == 0 && r.Hold != nil {
			select {
			case <-r.Hold:
			case <-ctx.Done():
				return ended.Sent(ctx.Err())
			}
		}
	}
	return nil
}

// split says how to divide the rest of a text.
type split struct {
	size               int // of a piece, in bytes; 0: pieces decides
	pieces, characters int // how many are left
}

func (r *Reply) split() split {
	switch {
	case r.ChunkSize > 0:
		return split{size: r.ChunkSize}
	case r.Chunks > 1:
		characters := utf8.RuneCountInString(r.Text)
		return split{pieces: min(r.Chunks, characters), characters: characters}
	default:
		return split{pieces: 1}
	}
}

// next returns where the first piece of the rest ends.
func (s *split) next(rest string) int {
	if s.size > 0 {
		return boundary(rest, s.size)
	}
	if s.pieces <= 1 {
		return len(rest)
	}
	share := (s.characters + s.pieces - 1) / s.pieces
	s.pieces--
	s.characters -= share
	for at := range rest {
		if share == 0 {
			return at
		}
		share--
	}
	return len(rest)
}

// boundary returns where a piece of about size bytes ends without splitting a character.
func boundary(s string, size int) int {
	if size >= len(s) {
		return len(s)
	}
	for size < len(s) && !utf8.RuneStart(s[size]) {
		size++
	}
	return size
}

// cost returns a copy of Cost.
func (r *Reply) cost() *float64 {
	if r.Cost == nil {
		return nil
	}
	return new(*r.Cost)
}

func (r *Reply) model(req *provider.Request) string {
	if r.Model != "" {
		return r.Model
	}
	return req.Model
}

func estimate(req *provider.Request, text string) provider.Usage {
	bytes := len(req.System) + len(req.Last.Text)
	for i := range req.Messages {
		bytes += len(req.Messages[i].Text)
	}
	return provider.Usage{Input: max(1, bytes/4), Output: max(1, len(text)/4)}
}
