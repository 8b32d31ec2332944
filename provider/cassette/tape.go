package cassette

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Wrap returns a provider that records the answers of p, or replays the answers that were recorded under
// this name. Use the name under which the provider is registered. In mode Replay p is never called and
// may be nil. The result is a [provider.Wrapper], a [provider.Checker] and a [provider.Vendor].
//
// Its failures are those of p, those that were recorded, or a [*provider.Error] of kind validation with
// NotSent set and the code [CodeUnseen] or [CodeClosed]. If ctx is done first, the kind is canceled or
// timeout.
func (c *Cassette) Wrap(name string, p provider.Provider) provider.Provider {
	t := &tape{cassette: c, name: name, asked: p}
	if c.options.Mode == Replay {
		t.asked = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if vendor, ok := provider.As[provider.Vendor](t.asked); ok && vendor.Vendor() != "" {
		c.wrapped(c.plain().write(name)).Vendor = c.plain().write(vendor.Vendor())
	}
	return t
}

// plain returns a scribe for texts that belong to no request.
func (c *Cassette) plain() *scribe { return &scribe{secrets: c.secrets} }

// wrapped returns what is known of a provider, for writing. The lock is held.
func (c *Cassette) wrapped(name string) *wrapped {
	if c.providers[name] == nil {
		c.providers[name] = &wrapped{}
	}
	return c.providers[name]
}

// tape is the part of a cassette that belongs to one provider.
type tape struct {
	cassette *Cassette
	name     string
	asked    provider.Provider // nil: no provider is called
}

var (
	_ provider.Wrapper = (*tape)(nil)
	_ provider.Checker = (*tape)(nil)
	_ provider.Vendor  = (*tape)(nil)
)

// Unwrap returns the wrapped provider. In a replay it returns nil, so that no ability of the provider is
// used either.
func (t *tape) Unwrap() provider.Provider { return t.asked }

// String returns the names of the provider and of its cassette.
func (t *tape) String() string { return t.name + " on " + t.cassette.String() }

// GoString is String, for %#v.
func (t *tape) GoString() string { return t.String() }

// Vendor returns the vendor of the wrapped provider, or the recorded one; "" if unknown.
func (t *tape) Vendor() string {
	c := t.cassette
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.providers[c.plain().write(t.name)]; w != nil {
		return w.Vendor
	}
	return ""
}

// Generate replays a reply, or records the reply of the wrapped provider.
func (t *tape) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	played, q, err := t.begin(ctx, req)
	if err != nil {
		return nil, err
	}
	if played != nil {
		return t.play(ctx, played, q.scribe.fences, emit)
	}
	var text, thoughts heard
	response, err := t.asked.Generate(ctx, req, func(chunk provider.Chunk) {
		emit(chunk)
		if chunk.Recall { // what is played is the reply alone
			text = heard{}
		}
		if chunk.Reasoning {
			thoughts.add(chunk.Text)
		} else {
			text.add(chunk.Text)
		}
	})
	e := q.entry
	var whole, reasoning *lines
	if e.Response = q.scribe.response(response); e.Response != nil {
		whole, reasoning = &e.Response.Text, &e.Response.Reasoning
	}
	e.Chunks = q.scribe.chunks(text.String(), text.ends, whole)
	e.Thoughts = q.scribe.chunks(thoughts.String(), thoughts.ends, reasoning)
	t.end(ctx, q, err)
	return response, err
}

// heard is a text that came in pieces.
type heard struct {
	strings.Builder

	ends []int // the offsets at which they end
}

func (h *heard) add(piece string) {
	_, _ = h.WriteString(piece)
	h.ends = append(h.ends, h.Len())
}

// begin looks up a request.
func (t *tape) begin(ctx context.Context, req *provider.Request) (*entry, *question, error) {
	s := &scribe{secrets: t.cassette.secrets, fences: fencesOf(req)}
	e := &entry{ID: req.ID, Provider: t.name, Request: s.request(req)}
	if t.cassette.options.Labels && len(req.Labels) > 0 {
		e.Labels = make(map[string]string, len(req.Labels))
		for key, value := range req.Labels {
			e.Labels[s.write(key)] = s.write(value)
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, nil, ended(err)
	}
	q, err := t.cassette.question(e, s)
	if err != nil {
		return nil, nil, err
	}
	played, err := t.cassette.begin(q, t.asked != nil)
	return played, q, err
}

// end records the result of a call. If ctx ended the call, the result is not the provider's answer.
func (t *tape) end(ctx context.Context, q *question, err error) {
	q.entry.Error = q.scribe.failure(err)
	t.cassette.end(q, err == nil || ctx.Err() == nil)
}

// play returns a recorded answer.
func (t *tape) play(ctx context.Context, e *entry, fences []string, emit func(provider.Chunk)) (*provider.Response, error) {
	r := reader{fences: fences}
	response, thoughts, pieces, failure := r.response(e.Response), r.thoughts(e), r.chunks(e), r.failure(e.Error)
	if r.err != nil {
		return nil, unreadable(r.err)
	}
	for i, piece := range append(thoughts, pieces...) {
		if err := t.pace(ctx, i); err != nil {
			t.cassette.giveBack(e)
			return nil, ended(err)
		}
		emit(provider.Chunk{Text: piece, Reasoning: i < len(thoughts)})
	}
	return response, failure
}

// pace waits before a chunk, as Options.Interval says.
func (t *tape) pace(ctx context.Context, chunk int) error {
	if chunk == 0 || t.cassette.options.Interval <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(t.cassette.options.Interval)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Check passes for a model that was used or checked in the recording. For other models it calls the
// wrapped provider, if there is one; a provider without Check passes.
func (t *tape) Check(ctx context.Context, model string) error {
	if err := ctx.Err(); err != nil {
		return ended(err)
	}
	c := t.cassette
	name, written := c.plain().write(t.name), c.plain().write(model)
	if c.options.Mode != Record && c.knows(name, written) {
		return nil
	}
	if t.asked == nil {
		return &provider.Error{
			Kind: provider.KindValidation, Code: CodeUnseen, NotSent: true,
			Message: "the cassette has no exchange of provider " + clip(name) + " with model " + clip(written),
		}
	}
	if checker, ok := provider.As[provider.Checker](t.asked); ok {
		if err := checker.Check(ctx, model); err != nil {
			return err
		}
	}
	c.learn(name, written)
	return nil
}

// knows reports whether a model was used or checked.
func (c *Cassette) knows(name, model string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w := c.providers[name]; w != nil && slices.Contains(w.Models, model) {
		return true
	}
	return slices.ContainsFunc(c.entries, func(e *entry) bool { return e.Provider == name && e.Request.Model == model })
}

// learn records that a model can be used.
func (c *Cassette) learn(name, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.wrapped(name)
	i, found := slices.BinarySearch(w.Models, model)
	if found || c.closed {
		return
	}
	w.Models = slices.Insert(w.Models, i, model)
	c.changed = true
	c.save()
}

// unreadable returns the failure for an answer that was valid when the file was read, and cannot be
// decoded now.
func unreadable(err error) error {
	return &provider.Error{Kind: provider.KindValidation, Code: CodeUnseen, Message: err.Error(), NotSent: true}
}

// ended returns the failure of a call whose context was done before any provider was called.
func ended(cause error) error {
	kind := provider.KindCanceled
	if errors.Is(cause, context.DeadlineExceeded) {
		kind = provider.KindTimeout
	}
	return &provider.Error{Kind: kind, NotSent: true, Err: cause}
}
