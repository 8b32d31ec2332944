package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"sync"
	"time"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/media"
	"github.com/agonist-dev/debate/internal/text"
)

// Fetched is what was found under a URL: a body, read up to flow.MaxFile bytes and closed, and the media type that a server gives.
type Fetched struct {
	Body io.ReadCloser
	Type string
}

const (
	fetchTimeout  = 30 * time.Second  // of one URL
	fetchLifetime = checkLifetime     // how long an engine remembers what was under a URL
	maxFetched    = 2 * flow.MaxFiles // bytes that an engine remembers: those of two conversations
)

// fetchedFile is what was found under a URL.
type fetchedFile struct {
	url   string
	data  []byte // read only
	media string
	at    time.Time
}

// fetchedFiles remembers what was found under URLs, so that what is started is what was validated.
type fetchedFiles struct {
	mu   sync.Mutex
	all  []fetchedFile // the oldest first
	size int           // of all bytes
}

// find returns what was found under a URL a short while ago.
func (m *fetchedFiles) find(url string) (fetchedFile, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(0)
	for _, f := range m.all {
		if f.url == url {
			return f, true
		}
	}
	return fetchedFile{}, false
}

// keep remembers what was found. The oldest files are forgotten for it.
func (m *fetchedFiles) keep(f fetchedFile) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forget(len(f.data))
	m.all, m.size = append(m.all, f), m.size+len(f.data)
}

// forget drops what is too old, and what leaves no room for that many bytes more.
func (m *fetchedFiles) forget(more int) {
	n := 0
	for n < len(m.all) && (m.size+more > maxFetched || time.Since(m.all[n].at) >= fetchLifetime) {
		m.size -= len(m.all[n].data)
		n++
	}
	clear(m.all[:n])
	m.all = m.all[n:]
}

// fetched returns the bytes under a URL, and their media type if they do not show it. It calls the function that the host
// program gives, unless it has done so a short while ago.
func (l *Engine) fetched(ctx context.Context, url string) (data []byte, media string, err error) {
	if known, ok := l.remembered.find(url); ok {
		return known.data, known.media, nil
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	type outcome struct {
		data  []byte
		media string
		err   error
	}
	done := make(chan outcome, 1)
	go func() { // it belongs to the function if that ignores its context
		got, err := l.fetch(ctx, url)
		if err != nil || got.Body == nil {
			done <- outcome{err: cmpErr(err, errors.New("there is no body"))}
			return
		}
		var read bytes.Buffer
		_, err = io.Copy(&read, io.LimitReader(got.Body, flow.MaxFile+1))
		done <- outcome{read.Bytes(), got.Type, errors.Join(err, got.Body.Close())}
	}()
	select {
	case got := <-done:
		if got.err != nil {
			return nil, "", fmt.Errorf("the url could not be fetched: %s", text.OneLine(got.err.Error(), 200)) //nolint:err113 // foreign text
		}
		media = mediaType(got.data, got.media)
		if len(got.data) <= flow.MaxFile {
			l.remembered.keep(fetchedFile{url, got.data, media, time.Now()})
		}
		return got.data, media, nil
	case <-ctx.Done():
		return nil, "", fmt.Errorf("the url could not be fetched: %w", ctx.Err())
	}
}

// mediaType returns the media type that a server gives, without its parameters; "": it says nothing, or the bytes show another.
func mediaType(data []byte, given string) string {
	kind, _, err := mime.ParseMediaType(given)
	if shown := media.TypeOf(data); shown != "" && shown != "text/plain" || err != nil || strings.HasSuffix(kind, "/octet-stream") {
		return ""
	}
	return kind
}

// cmpErr returns the first error that is not nil.
func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
