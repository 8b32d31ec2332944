package cassette

import (
	"context"
	"fmt"
	"slices"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/internal/ended"
	"github.com/agonist-dev/debate/provider/internal/fence"
)

// Wrap returns a provider that records the answers of p, or replays the answers that were recorded under this name. Use the
// name under which the provider is registered. In mode Replay p is never called and may be nil. The result is a
// [provider.Wrapper], a [provider.Checker] and a [provider.Vendor].
//
// Its failures are those of p, those that were recorded, or a [*provider.Error] of kind validation with NotSent set and the
// code [CodeUnseen] or [CodeClosed]. If ctx is done first, the kind is canceled or timeout.
func (c *Cassette) Wrap(name string, p provider.Provider) provider.Provider {
	t := &tape{cassette: c, name: name, asked: p}
	if c.options.Mode == Replay {
		t.asked = nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if vendor, ok := provider.As[provider.Vendor](t.asked); ok && vendor.Vendor() != "" {
		written := c.plain.write(name)
		c.providers[written] = wrapped{Vendor: c.plain.write(vendor.Vendor()), Models: c.providers[written].Models}
	}
	return t
}

// tape is the part of a cassette that belongs to one provider.
type tape struct {
	cassette *Cassette
	name     string
	asked    provider.Provider // nil: no provider is called
}

// Unwrap returns the wrapped provider. In a replay it returns nil, so that no ability of the provider is used either.
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
	return c.providers[c.plain.write(t.name)].Vendor
}

// Generate replays a reply, or records the reply of the wrapped provider.
func (t *tape) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	if err := ctx.Err(); err != nil {
		return nil, ended.Unsent(err)
	}
	c := t.cassette
	words := fence.Words(req)
	s := &scribe{secrets: c.plain.secrets, fences: words[:min(len(words), maxFences)]}
	e := &entry{Provider: c.plain.write(t.name), Request: s.request(req, c.options.Labels)}
	recorded, err := c.begin(e, t.asked != nil)
	if err != nil {
		return nil, err
	}
	if recorded != nil {
		return t.play(ctx, recorded, s.fences, emit)
	}
	var thoughts, said []string
	response, err := t.asked.Generate(ctx, req, func(chunk provider.Chunk) {
		emit(chunk)
		if chunk.Recall { // what is played is the reply alone
			said = nil
		}
		if chunk.Reasoning {
			thoughts = append(thoughts, chunk.Text)
		} else {
			said = append(said, chunk.Text)
		}
	})
	s.answer(e, response, thoughts, said, err)
	c.end(e, err == nil || ctx.Err() == nil) // if ctx ended the call, the result is not the provider's answer
	return response, err
}

// play gives a recorded answer.
func (t *tape) play(ctx context.Context, e *entry, fences []string, emit func(provider.Chunk)) (*provider.Response, error) {
	r := &reader{fences: fences}
	response, pieces, failure := e.replay(r)
	if r.err != nil {
		return nil, refused(CodeUnseen, "%v", r.err)
	}
	for _, chunk := range pieces {
		if err := ctx.Err(); err != nil {
			t.cassette.mu.Lock()
			e.used = false // it will be asked for again
			t.cassette.mu.Unlock()
			return nil, ended.Unsent(err)
		}
		emit(chunk)
	}
	return response, failure
}

// Check passes for a model that was used or checked in the recording. For other models it calls the wrapped provider, if there
// is one; a provider without Check passes.
func (t *tape) Check(ctx context.Context, model string) error {
	if err := ctx.Err(); err != nil {
		return ended.Unsent(err)
	}
	c := t.cassette
	name, written := c.plain.write(t.name), c.plain.write(model)
	if c.options.Mode != Record && c.knows(name, written) {
		return nil
	}
	if t.asked == nil {
		return refused(CodeUnseen, "the cassette has no exchange of provider %s with model %s", clip(name), clip(written))
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
	return slices.Contains(c.providers[name].Models, model) ||
		slices.ContainsFunc(c.entries, func(e *entry) bool { return e.Provider == name && e.Request.Model == model })
}

// learn records that a model can be used.
func (c *Cassette) learn(name, model string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	w := c.providers[name]
	if i, found := slices.BinarySearch(w.Models, model); !found && !c.closed {
		w.Models = slices.Insert(w.Models, i, model)
		c.providers[name] = w
		c.save()
	}
}

// refused returns this package's own failure of a call, before any provider was called.
func refused(code, format string, args ...any) error {
	return &provider.Error{Kind: provider.KindValidation, Code: code, Message: fmt.Sprintf(format, args...), NotSent: true}
}
