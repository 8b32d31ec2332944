package providertest_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/providertest"
)

// generate is a Provider that is only its Generate.
type generate func(context.Context, *provider.Request, func(provider.Chunk)) (*provider.Response, error)

func (g generate) Generate(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
	return g(ctx, req, emit)
}

func ended(ctx context.Context, err error) error {
	e := &provider.Error{Kind: provider.KindNetwork, Message: "broken"}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind = provider.KindCanceled
	case ctx.Err() != nil:
		e.Kind = provider.KindTimeout
	case err == nil:
		return nil
	}
	return e
}

// naive asks without package wire, as one would who trusts the server.
func naive(s providertest.Server, _ provider.Provider) provider.Provider {
	return generate(func(ctx context.Context, _ *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+"/reply", strings.NewReader("{}"))
		if err != nil {
			return nil, err
		}
		req.Header.Set("X-Api-Key", s.Key)
		response, err := s.Client.Do(req)
		if err != nil {
			return nil, ended(ctx, err)
		}
		defer func() { _ = response.Body.Close() }()
		data, err := io.ReadAll(response.Body)
		if err := ended(ctx, err); err != nil {
			return nil, err
		}
		var text strings.Builder
		for line := range bytes.Lines(data) {
			var e struct{ Text string }
			if _, value, ok := bytes.Cut(line, []byte("data: ")); ok && json.Unmarshal(value, &e) == nil && e.Text != "" {
				text.WriteString(e.Text)
				emit(provider.Chunk{Text: e.Text})
			}
		}
		return &provider.Response{Text: text.String(), Stop: provider.StopEnd}, nil
	})
}

// failing hands a failure of the adapter to what deals with it wrongly.
func failing(deal func(ctx context.Context, p provider.Provider, req *provider.Request, e *provider.Error) (*provider.Response, error)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			r, err := p.Generate(ctx, req, emit)
			if e, ok := errors.AsType[*provider.Error](err); ok {
				return deal(ctx, p, req, e)
			}
			return r, err
		})
	}
}

// with changes the adapter's own fields.
func with(change func(a *adapter)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		change(p.(*adapter))
		return p
	}
}

func keptKind(kind provider.Kind) func(providertest.Server, provider.Provider) provider.Provider {
	return failing(func(_ context.Context, _ provider.Provider, _ *provider.Request, e *provider.Error) (*provider.Response, error) {
		e.Kind = kind
		return nil, e
	})
}

// ownLogger was made before anybody listened.
var ownLogger = slog.Default()

// saying lets the adapter say something with each request.
func saying(say func(key string)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(s providertest.Server, p provider.Provider) provider.Provider {
		return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			say(s.Key)
			return p.Generate(ctx, req, emit)
		})
	}
}

// changed does something to each reply.
func changed(p provider.Provider, change func(context.Context, *provider.Response)) provider.Provider {
	return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
		r, err := p.Generate(ctx, req, emit)
		if err == nil {
			change(ctx, r)
		}
		return r, err
	})
}

func spoilt(change func(r *provider.Response)) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		return changed(p, func(_ context.Context, r *provider.Response) { change(r) })
	}
}

func each(r *provider.Response, change func(c *provider.ToolCall)) {
	for i := range r.Calls {
		change(&r.Calls[i])
	}
}

// gathering hands on some chunks at once, and the rest at the end.
func gathering(most int) func(providertest.Server, provider.Provider) provider.Provider {
	return func(_ providertest.Server, p provider.Provider) provider.Provider {
		return generate(func(ctx context.Context, req *provider.Request, emit func(provider.Chunk)) (*provider.Response, error) {
			var rest strings.Builder
			n := 0
			r, err := p.Generate(ctx, req, func(c provider.Chunk) {
				if n++; n <= most {
					emit(c)
					return
				}
				rest.WriteString(c.Text)
			})
			if rest.Len() > 0 {
				emit(provider.Chunk{Text: rest.String()})
			}
			return r, err
		})
	}
}

// careless asks for models without package wire.
type careless struct {
	*adapter

	s providertest.Server
}

func (c *careless) Check(ctx context.Context, _ string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, c.s.URL+"/models", http.NoBody)
	if err != nil {
		return err
	}
	response, err := c.s.Client.Do(req)
	if err != nil {
		return ended(ctx, err)
	}
	defer func() { _ = response.Body.Close() }()
	_, err = io.ReadAll(response.Body)
	return ended(ctx, err)
}

// finicky is an adapter that gives up on an answer with some bytes in its body.
func finicky(bytes string) func(providertest.Server, provider.Provider) provider.Provider {
	return func(s providertest.Server, p provider.Provider) provider.Provider {
		s.Client.Transport = picky{s.Client.Transport, bytes}
		return p
	}
}

type picky struct {
	http.RoundTripper

	bytes string
}

func (p picky) RoundTrip(req *http.Request) (*http.Response, error) {
	r, err := p.RoundTripper.RoundTrip(req)
	if err == nil {
		in, out := io.Pipe()
		body := r.Body
		go func() {
			for line, err := range lines(body) {
				switch {
				case strings.Contains(line, p.bytes):
					_ = out.CloseWithError(errors.New("did not like that"))
				case err != nil:
					_ = out.CloseWithError(err)
				default:
					_, _ = io.WriteString(out, line)
				}
			}
		}()
		r.Body = struct {
			io.Reader
			io.Closer
		}{in, closers{in, body}}
	}
	return r, err
}

type closers []io.Closer

func (c closers) Close() error {
	for _, one := range c {
		_ = one.Close()
	}
	return nil
}

// lines returns the lines of r, and its error at last.
func lines(r io.Reader) func(yield func(string, error) bool) {
	return func(yield func(string, error) bool) {
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if !yield(line, nil) || err != nil {
				yield("", err)
				return
			}
		}
	}
}
