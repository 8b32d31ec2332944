package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/quote"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
	"github.com/agonist-dev/debate/store"
)

// shelf holds the bytes of a conversation's files: each is read from the store once. The requests share them.
type shelf struct {
	mu      sync.Mutex
	bytes   map[string][]byte               // by hash
	sources map[string]func() *quote.Source // likewise, prepared for quotations; nil: they cannot be compared
}

func (s *shelf) get(hash string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.bytes[hash]
	return data, ok
}

// keep adds bytes whose hash is known.
func (s *shelf) keep(hash string, data []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes == nil {
		s.bytes = make(map[string][]byte)
	}
	s.bytes[hash] = data
}

// clear forgets the bytes: no request needs them any more.
func (s *shelf) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bytes, s.sources = nil, nil
}

// source returns bytes as quotations are compared with them, which are prepared once.
func (s *shelf) source(hash string, data []byte) *quote.Source {
	s.mu.Lock()
	made, ok := s.sources[hash]
	if !ok {
		if s.sources == nil {
			s.sources = make(map[string]func() *quote.Source)
		}
		made = sync.OnceValue(func() *quote.Source { return quote.Read(data) })
		s.sources[hash] = made
	}
	s.mu.Unlock()
	return made()
}

// Keep gives the session the bytes of files that its config refers to, by hash. It stores them when the conversation starts.
func (s *Session) Keep(files map[string][]byte) {
	for hash, data := range files {
		s.files.keep(hash, data)
	}
}

// fileError reports what is wrong with a file. If the file is missing or damaged, nothing helps, so the error is of kind
// validation.
func fileError(f *flow.File, err error) error {
	if !errors.Is(err, flow.ErrNoFile) {
		return StoreError("read file", err)
	}
	return unusable(f, "")
}

func unusable(f *flow.File, why string) error {
	err := fmt.Errorf("%w: %s, SHA-256 %.64s%s", flow.ErrNoFile, f.String(), f.Hash, why)
	return &flow.Error{Kind: provider.KindValidation, Op: "read file", Field: "attachments", Err: err}
}

// check reports why bytes are not those that a file describes. Each mention of the bytes has to describe them as they are:
// the type and the size decide what a request with them costs, and the type who can read them.
func check(f *flow.File, data []byte) error {
	if _, wrong := f.Described(data); wrong != nil {
		return unusable(f, ": "+wrong.Error())
	}
	return nil
}

// errNoBlobs means that the store has no [store.Blobs].
var errNoBlobs = errors.New("the store keeps no files")

// File returns the bytes of a conversation's file, and checks that they are those that the log describes.
func (h *Host) File(ctx context.Context, id string, f *flow.File) ([]byte, error) {
	blobs, ok := h.Store.(store.Blobs)
	if !ok {
		return nil, fileError(f, fmt.Errorf("%w: %w", flow.ErrNoFile, errNoBlobs))
	}
	var data []byte
	err := h.retryStore(ctx.Done(), func() (err error) {
		data, err = blobs.Blob(ctx, id, f.Hash)
		return err
	})
	if err != nil {
		return nil, fileError(f, err)
	}
	if err := check(f, data); err != nil {
		return nil, err
	}
	return data, nil
}

// PutFiles stores the bytes of files under a conversation.
func (h *Host) PutFiles(ctx context.Context, id string, files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	blobs, ok := h.Store.(store.Blobs)
	if !ok {
		return &flow.Error{Kind: provider.KindValidation, Op: "store file", Field: "attachments", Err: errNoBlobs}
	}
	for hash, data := range files {
		if err := h.retryStore(ctx.Done(), func() error { return blobs.PutBlob(ctx, id, hash, data) }); err != nil {
			return StoreError("store file", err)
		}
	}
	return nil
}

// storeFiles stores the files of a conversation that is about to begin.
func (s *Session) storeFiles(ctx context.Context) error {
	given, err := s.givenFiles(ctx)
	if err != nil {
		return err
	}
	return s.host.PutFiles(ctx, s.ID, given)
}

// givenFiles returns the bytes, by hash, that are to be stored for a conversation that is about to begin. A file whose bytes
// nobody gave must be stored already. Bytes that several files have are stored once, and checked for each.
func (s *Session) givenFiles(ctx context.Context) (map[string][]byte, error) {
	all, given := s.core.Record().Files(), make(map[string][]byte)
	for _, f := range all {
		if data, ok := s.files.get(f.Hash); ok {
			given[f.Hash] = data
		}
	}
	for _, f := range all {
		if err := s.host.readFile(ctx, s.ID, &s.files, &f); err != nil {
			return nil, err
		}
	}
	return given, nil
}

// readFiles reads the files that the requests of a stored conversation may carry. So a missing one is found before any call.
func (s *Session) readFiles(ctx context.Context, r *flow.Record) error {
	for _, f := range r.Files() {
		if err := s.host.readFile(ctx, s.ID, &s.files, &f); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads the bytes of a file, and checks that they are those that the log describes.
func (h *Host) readFile(ctx context.Context, id string, files *shelf, f *flow.File) error {
	if data, ok := files.get(f.Hash); ok {
		return check(f, data)
	}
	data, err := h.File(ctx, id, f)
	if err == nil {
		files.keep(f.Hash, data)
	}
	return err
}

// attach puts the bytes of files into a request. The messages that have files are copied; the bytes are shared. With inline, files that are
// text become a part of the text of their message.
func (h *Host) attach(ctx context.Context, id string, files *shelf, request *provider.Request, inline bool) error {
	copied := false
	for i := range request.Messages {
		if len(request.Messages[i].Parts) == 0 {
			continue
		}
		if !copied {
			request.Messages, copied = slices.Clone(request.Messages), true
		}
		m := &request.Messages[i]
		m.Parts = slices.Clone(m.Parts)
		for k := range m.Parts {
			p := &m.Parts[k]
			var ok bool
			if p.Data, ok = files.get(p.Hash); ok {
				continue // its description was checked when the conversation was opened
			}
			if err := h.readFile(ctx, id, files, &flow.File{Name: p.Name, Type: p.Type, Hash: p.Hash}); err != nil {
				return err
			}
			p.Data, _ = files.get(p.Hash)
		}
		if inline {
			inlined(m)
		}
	}
	return nil
}

// inlined moves the parts of a message that are text into its text, where no words of them can close its fence.
func inlined(m *provider.Message) {
	var b strings.Builder
	b.WriteString(m.Text)
	m.Parts = slices.DeleteFunc(m.Parts, func(p provider.Part) bool {
		f := flow.File{Name: p.Name, Type: p.Type, Hash: p.Hash}
		if !f.IsText() {
			return false
		}
		content := strings.ToValidUTF8(string(p.Data), "?")
		b.WriteString("\n\n" + text.Escape(f.String()+":\n"+content, m.Fence))
		return true
	})
	m.Text = b.String()
}
