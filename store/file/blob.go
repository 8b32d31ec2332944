package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// A conversation's blobs are in one file, one behind the other: a head of fixed length, and the bytes. The head is the hash, a
// space, the number of bytes in twelve digits, and a line feed. What a crash leaves behind the last whole blob is overwritten
// by the next one. If a hash occurs twice, the last one counts. If a head is damaged, the bytes up to the next whole blob
// are taken for those that it had: their hash says whose they are.
const (
	blobHead = 64 + 1 + 12 + 1
	maxBlob  = flow.MaxFile
)

// PutBlob implements [store.Blobs].
func (s *Store) PutBlob(ctx context.Context, id, hash string, data []byte) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	if err := store.CheckBlob(hash, data); err != nil {
		return err
	}
	h, err := s.lock(ctx, id, 0)
	if err != nil {
		return err
	}
	defer h.release()
	return s.putBlob(h.name+suffixBlobs, hash, data)
}

func (s *Store) putBlob(name, hash string, data []byte) (err error) {
	f, err := s.disk.Open(name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	places, end, err := findBlobs(f)
	if err != nil {
		return err
	}
	if there, err := readBlob(f, named(places, hash), hash); err == nil && there != nil {
		if err := s.flush(f); err != nil { // another handle may have written it, and ended before it was on the disk
			return err
		}
		return s.flushDir()
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.WriteAt(fmt.Appendf(nil, "%s %012d\n", hash, len(data)), end); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, end+blobHead); err != nil {
		return err
	}
	if err := s.flush(f); err != nil {
		return err
	}
	return s.flushDir()
}

// Blob implements [store.Blobs].
func (s *Store) Blob(_ context.Context, id, hash string) (data []byte, err error) {
	if err := store.CheckID(id); err != nil {
		return nil, err
	}
	if err := s.begin(); err != nil {
		return nil, err
	}
	defer s.busy.Done()
	f, err := s.disk.Open(name(id)+suffixBlobs, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, flow.ErrNoFile
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	places, _, err := findBlobs(f)
	if err != nil {
		return nil, err
	}
	data, err = readBlob(f, named(places, hash), hash)
	if err == nil && data == nil { // a damaged head may name another one
		data, err = readBlob(f, places, hash)
	}
	if err == nil && data == nil {
		err = flow.ErrNoFile
	}
	return data, err
}

// readBlob returns the last bytes at these places that have a hash; nil: there are none.
func readBlob(f handle, places []blobPlace, hash string) ([]byte, error) {
	for _, p := range slices.Backward(places) {
		data, err := p.read(f)
		if err != nil || flow.HashOf(data) == hash {
			return data, err
		}
	}
	return nil, nil
}
