package wire_test

import (
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/provider/wire"
)

// silent is a body that gives its text, and then nothing for as long as somebody waits.
type silent struct {
	ctx  context.Context
	text string
}

func (s *silent) Read(b []byte) (int, error) {
	if s.text == "" {
		<-s.ctx.Done()
		return 0, s.ctx.Err()
	}
	n := copy(b, s.text)
	s.text = s.text[n:]
	return n, nil
}

func (s *silent) Close() error { return nil }

func falling(text string) transport {
	return func(req *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: &silent{req.Context(), text}, Request: req}, nil
	}
}

// never is a transport that waits.
func never(req *http.Request) (*http.Response, error) {
	<-req.Context().Done()
	return nil, req.Context().Err()
}

func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(transport(never))
		e.IdleTimeout = 3 * time.Second
		began := time.Now()
		_, err := send(t, e)
		assert.Equal(t, "idle", failure(t, err, provider.KindTimeout).Code)
		assert.Equal(t, 3*time.Second, time.Since(began))

		e.Client.Transport = falling("data: half")
		x, err := send(t, e)
		require.NoError(t, err)
		for range 2 {
			_, err = x.Read(make([]byte, 1))
			require.NoError(t, err)
			<-time.After(time.Hour) // what the host does with a piece is not the server's silence
		}
		began = time.Now()
		_, err = x.Events().Next()
		assert.Equal(t, "idle", failure(t, x.Cut(err), provider.KindTimeout).Code)
		assert.Equal(t, 3*time.Second, time.Since(began))
	})
}

func TestDefaultAndNoIdleTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(transport(never))
		began := time.Now()
		_, err := send(t, e)
		failure(t, err, provider.KindTimeout)
		assert.Equal(t, 5*time.Minute, time.Since(began))

		e.IdleTimeout = -1
		ctx, cancel := context.WithTimeout(t.Context(), 24*time.Hour)
		defer cancel()
		x, err := e.Open(ctx, "")
		require.NoError(t, err)
		defer x.Close()
		failure(t, x.Send(http.MethodPost, "chat", nil), provider.KindTimeout)
		assert.Equal(t, 24*time.Hour+5*time.Minute, time.Since(began))
	})
}

func TestClientTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := endpoint(transport(never))
		e.Client.Timeout = time.Second
		_, err := send(t, e)
		assert.Contains(t, failure(t, err, provider.KindTimeout).Message, "client's timeout")

		// It bounds the whole exchange, the reading included.
		e.Client.Transport = falling("half")
		x, err := send(t, e)
		require.NoError(t, err)
		_, err = io.ReadAll(x)
		failure(t, x.Cut(err), provider.KindTimeout)
	})
}

func TestCancel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		x, err := endpoint(falling("half")).Open(ctx, "")
		require.NoError(t, err)
		defer x.Close()
		require.NoError(t, x.Send(http.MethodPost, "chat", nil))
		time.AfterFunc(time.Second, cancel)
		_, err = io.ReadAll(x)
		err = x.Cut(err)
		failure(t, err, provider.KindCanceled)
		assert.ErrorIs(t, err, context.Canceled)
	})
}

// pinging is a body that gives its text, and then a comment each second for as long as somebody waits.
type pinging struct {
	silent

	pinged func()
}

func (p *pinging) Read(b []byte) (int, error) {
	if p.text != "" {
		return p.silent.Read(b)
	}
	select {
	case <-p.ctx.Done():
		return 0, p.ctx.Err()
	case <-time.After(time.Second):
		p.pinged()
		return copy(b, ": still here\n\n"), nil
	}
}

// Comments are no news: after the reply's end they do not lengthen the wait for what may follow.
func TestLingeringAmongComments(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, idle := range []time.Duration{0, -1, 2 * time.Second} {
			var x *wire.Exchange
			e := endpoint(transport(func(req *http.Request) (*http.Response, error) {
				body := &pinging{silent{req.Context(), "data: whole\n\n"}, func() { x.Ended() }} // what is said twice ends once
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{}, Body: body, Request: req}, nil
			}))
			e.IdleTimeout = idle
			x = open(t, e)
			require.NoError(t, x.Send(http.MethodPost, "chat", nil))
			events := x.Events()
			_, err := events.Next()
			require.NoError(t, err)
			x.Ended()
			<-time.After(time.Hour) // what the host does is not the server's delay
			began := time.Now()
			_, err = events.Next()
			assert.Equal(t, "idle", failure(t, x.Cut(err), provider.KindTimeout).Code)
			assert.Equal(t, 10*time.Second, time.Since(began))
			_, err = x.Read(make([]byte, 1))
			assert.Equal(t, "idle", failure(t, x.Cut(err), provider.KindTimeout).Code, "and stays so")
		}
	})
}

// After the reply's end nobody waits long for what may follow.
func TestLingering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, idle := range []time.Duration{0, -1, time.Second} {
			e := endpoint(falling("whole"))
			e.IdleTimeout = idle
			x, err := send(t, e)
			require.NoError(t, err)
			x.Ended()
			began := time.Now()
			_, err = io.ReadAll(x)
			require.Error(t, err)
			want := 10 * time.Second
			if idle == time.Second {
				want = idle
			}
			assert.Equal(t, want, time.Since(began))
		}
	})
}
