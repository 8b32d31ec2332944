package file

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/agonist-dev/debate/flow"
)

// blobPlace is where a blob's bytes are. If its head is damaged, hash is "".
type blobPlace struct {
	hash     string
	at, size int64
}

// Bounds of the search for what stands behind a damaged head. A blob may hold what looks like many heads.
const (
	searchPiece = 1 << 20
	maxSearched = 256 << 20 // bytes that are hashed
)

// errBlobs means that a file of blobs is damaged, and has too much in it that looks like a blob. Nothing is written to it.
var errBlobs = errors.New("file: a file of blobs is damaged beyond what can be searched")

// findBlobs returns where the blobs are, and where the next one is to be written: behind all that could be read.
func findBlobs(f handle) (places []blobPlace, end int64, err error) {
	size, err := f.Size()
	if err != nil {
		return nil, 0, err
	}
	for end < size {
		place, head, err := headAt(f, end)
		if err != nil {
			return nil, 0, err
		}
		whole, err := place.whole(f, size)
		if err != nil {
			return nil, 0, err
		}
		if head && whole {
			places, end = append(places, place), place.at+place.size
			continue
		}
		next, err := nextBlob(f, end+1, size)
		if err != nil {
			return nil, 0, err
		}
		damaged := blobPlace{at: end + blobHead, size: next - end - blobHead}
		if next == size {
			torn, err := damaged.torn(f, head, place)
			if err != nil || torn {
				return places, end, err
			}
		}
		if damaged.size > 0 {
			places = append(places, damaged)
		}
		end = next
	}
	return places, end, nil
}

// named returns the places of a hash, and those whose heads are damaged.
func named(places []blobPlace, hash string) []blobPlace {
	var out []blobPlace
	for _, p := range places {
		if p.hash == hash || p.hash == "" {
			out = append(out, p)
		}
	}
	return out
}

// headAt reads the head at a place. ok: it is one.
func headAt(f handle, at int64) (p blobPlace, ok bool, err error) {
	head := make([]byte, blobHead)
	n, err := f.ReadAt(head, at)
	if err != nil && !errors.Is(err, io.EOF) {
		return p, false, err
	}
	p, ok = parseHead(head[:n])
	p.at += at
	return p, ok, nil
}

// parseHead reads a head. The place counts from where it begins.
func parseHead(head []byte) (p blobPlace, ok bool) {
	if len(head) != blobHead || head[64] != ' ' || head[blobHead-1] != '\n' || !flow.IsHash(string(head[:64])) {
		return p, false
	}
	n, err := strconv.ParseUint(string(head[65:blobHead-1]), 10, 63)
	if err != nil || n < 1 || n > maxBlob {
		return p, false
	}
	return blobPlace{hash: string(head[:64]), at: blobHead, size: int64(n)}, true
}

// whole reports whether a blob is all there. The bytes are read only if no head follows them.
func (p blobPlace) whole(f handle, size int64) (bool, error) {
	next := p.at + p.size
	if p.size == 0 || next > size {
		return false, nil
	}
	if next == size {
		return true, nil
	}
	if _, ok, err := headAt(f, next); ok || err != nil {
		return ok, err
	}
	data, err := p.read(f)
	return err == nil && flow.HashOf(data) == p.hash, err
}

// torn reports whether what stands at the end of the file, behind its last whole blob, is what a crash has left of a blob.
// Otherwise it may be a blob whose head is damaged.
func (p blobPlace) torn(f handle, head bool, told blobPlace) (bool, error) {
	if p.size <= 0 || p.size > maxBlob {
		return p.size <= 0, nil
	}
	data, err := p.read(f)
	if err != nil {
		return false, err
	}
	if head {
		return told.size > p.size && flow.HashOf(data) != told.hash, nil
	}
	return len(bytes.Trim(data, "\x00")) == 0, nil
}

// nextBlob returns where the next blob begins whose bytes have the hash in its head; size: there is none.
func nextBlob(f handle, from, size int64) (int64, error) {
	searched := int64(0)
	piece := make([]byte, min(searchPiece, size-from+1))
	for base := from; ; base += searchPiece - blobHead {
		n, readErr := f.ReadAt(piece, base)
		if readErr != nil && !errors.Is(readErr, io.EOF) {
			return 0, readErr
		}
		for _, p := range headsIn(piece[:n]) {
			at := base + p.at - blobHead
			if p.at += base; p.at+p.size > size {
				continue
			}
			if searched += p.size; searched > maxSearched {
				return 0, errBlobs
			}
			if data, err := p.read(f); err != nil || flow.HashOf(data) == p.hash {
				return at, err
			}
		}
		if readErr != nil || base+int64(n) >= size {
			return size, nil //nolint:nilerr // it is the end of the file
		}
	}
}

// headsIn returns the heads in a part of a file. The places count from where the part begins.
func headsIn(piece []byte) (all []blobPlace) {
	for end := 0; ; {
		line := bytes.IndexByte(piece[end:], '\n')
		if line < 0 {
			return all
		}
		if end += line + 1; end >= blobHead {
			if p, ok := parseHead(piece[end-blobHead : end]); ok {
				p.at = int64(end)
				all = append(all, p)
			}
		}
	}
}

// read returns the bytes at a place: none, if they are more than a blob can have.
func (p blobPlace) read(f handle) ([]byte, error) {
	if p.size > maxBlob {
		return nil, nil
	}
	data := make([]byte, p.size)
	if _, err := f.ReadAt(data, p.at); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("file: read a blob: %w", err)
	}
	return data, nil
}
