package storetest

import (
	"bytes"
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

func blobChecks() []check {
	list := []check{
		{"blob/every handle reads the bytes", blobRead},
		{"blob/a second time does nothing", blobTwice},
		{"blob/what is not there", blobMissing},
		{"blob/another hash is refused", blobRefused},
		{"blob/a blob belongs to one conversation", blobOwned},
		{"blob/delete removes them", blobDeleted},
		{"blob/delete removes those of no log", blobUnbegun},
		{"blob/they are no conversation", blobUnlisted},
		{"blob/several at once", blobCrowd},
	}
	for i := range list {
		run := list[i].run
		list[i].run = func(x *exam) {
			if _, ok := x.open().(store.Blobs); !ok {
				x.Skip("the store is no store.Blobs")
			}
			run(x)
		}
	}
	return list
}

func (x *exam) blobs(s store.Store) store.Blobs {
	x.Helper()
	b, ok := s.(store.Blobs)
	if !ok {
		x.Fatalf("one handle is a store.Blobs and another is not")
	}
	return b
}

// put stores data under its hash, and returns the hash.
func (x *exam) put(s store.Store, id string, data []byte) string {
	x.Helper()
	hash := flow.HashOf(data)
	if err := x.blobs(s).PutBlob(x.Context(), id, hash, data); err != nil {
		x.Fatalf("PutBlob of %d bytes to %q failed: %v", len(data), id, err)
	}
	return hash
}

// blob requires that Blob returns exactly these bytes.
func (x *exam) blob(s store.Store, id string, want []byte) {
	x.Helper()
	got, err := x.blobs(s).Blob(x.Context(), id, flow.HashOf(want))
	if err != nil || !bytes.Equal(got, want) {
		x.Errorf("Blob of %q returns %d bytes and %v, want the %d bytes that were put", id, len(got), err, len(want))
	}
}

// noBlob requires that a conversation has no such blob.
func (x *exam) noBlob(why string, s store.Store, id, hash string) {
	x.Helper()
	if got, err := x.blobs(s).Blob(x.Context(), id, hash); !errors.Is(err, flow.ErrNoFile) {
		x.Errorf("%s: Blob of %q returns %d bytes and %v, want flow.ErrNoFile", why, id, len(got), err)
	}
}

// samples are bytes that a store of text could spoil.
func samples() [][]byte {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return [][]byte{{0}, []byte("\r\n"), every, []byte(strings.Repeat("\x00'\\\"%", 50_000)), []byte("text\n")}
}

func blobRead(x *exam) {
	handles := x.handles(2)
	for _, data := range samples() {
		x.put(handles[0], "Ab.c", data)
	}
	x.append(handles[0], "Ab.c", 0, "w", some(0, 2, "w"))
	for _, s := range append(handles, x.open()) {
		for _, data := range samples() {
			x.blob(s, "Ab.c", data)
		}
	}
	x.log(handles[1], "Ab.c", 0, some(0, 2, "w"))
}

func blobTwice(x *exam) {
	handles := x.handles(2)
	for _, s := range handles {
		x.put(s, "a", []byte("one"))
		x.put(s, "a", []byte("two"))
	}
	for _, s := range handles {
		x.blob(s, "a", []byte("one"))
		x.blob(s, "a", []byte("two"))
	}
}

func blobMissing(x *exam) {
	s := x.open()
	x.noBlob("there is no conversation", s, "a", flow.HashOf([]byte("one")))
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	x.noBlob("it has no blobs", s, "a", flow.HashOf([]byte("one")))
	x.put(s, "a", []byte("one"))
	x.noBlob("it has another one", s, "a", flow.HashOf([]byte("two")))
	x.noBlob("this is no hash", s, "a", "../a")
	x.noBlob("this is no hash", s, "a", "")
}

func blobRefused(x *exam) {
	s := x.open()
	data := []byte("one")
	for _, hash := range []string{"", "../b", flow.HashOf([]byte("two")), strings.ToUpper(flow.HashOf(data))} {
		if err := x.blobs(s).PutBlob(x.Context(), "a", hash, data); err == nil {
			x.Errorf("PutBlob under the hash %q succeeds", hash)
		}
	}
	x.noBlob("it was refused", s, "a", flow.HashOf(data))
	for _, id := range []string{"", "../a", "a/b", strings.Repeat("a", 200)} {
		if err := x.blobs(s).PutBlob(x.Context(), id, flow.HashOf(data), data); err == nil {
			x.Errorf("PutBlob for the id %q succeeds", id)
		}
	}
}

func blobOwned(x *exam) {
	s := x.open()
	hash := x.put(s, "a", []byte("one"))
	for _, id := range []string{"A", "aa", "a-a", "b"} {
		x.noBlob("the blob is a's", s, id, hash)
		x.put(s, id, []byte("one"))
	}
	x.remove(s, "a")
	for _, id := range []string{"A", "aa", "a-a", "b"} {
		x.blob(s, id, []byte("one"))
	}
}

func blobDeleted(x *exam) {
	handles := x.handles(2)
	hash := x.put(handles[0], "a", []byte("one"))
	x.append(handles[0], "a", 0, "w", some(0, 1, "w"))
	x.blob(handles[1], "a", []byte("one"))
	x.remove(handles[1], "a")
	for _, s := range append(handles, x.open()) {
		x.noBlob("it was deleted", s, "a", hash)
	}
	x.append(handles[0], "a", 0, "v", some(0, 1, "v"))
	x.noBlob("it was deleted, and another conversation began", handles[0], "a", hash)
	x.put(handles[0], "a", []byte("one"))
	x.blob(handles[1], "a", []byte("one"))
}

// blobUnbegun deletes what a process has left that ended before the first commit.
func blobUnbegun(x *exam) {
	s := x.open()
	hash := x.put(s, "a", []byte("one"))
	x.remove(s, "a")
	x.noBlob("it was deleted", s, "a", hash)
}

func blobUnlisted(x *exam) {
	s := x.open()
	x.put(s, "a", []byte("one"))
	x.unknown(s, "a")
	x.listed("only a blob is there", s, store.Filter{})
	x.append(s, "a", 0, "w", some(0, 1, "w"))
	x.listed("the log has begun", s, store.Filter{}, "a")
	x.listed("a blob is no text", s, store.Filter{Text: "one"})
}

func blobCrowd(x *exam) {
	handles := x.handles(2)
	const n = 8
	data := func(i int) []byte { return []byte(strconv.Itoa(i % (n / 2))) }
	errs := make([]error, n)
	ctx := context.WithoutCancel(x.Context())
	stores := []store.Blobs{x.blobs(handles[0]), x.blobs(handles[1])}
	x.crowd(n, func(i int) {
		errs[i] = stores[i%len(stores)].PutBlob(ctx, "a", flow.HashOf(data(i)), data(i))
	})
	if err := errors.Join(errs...); err != nil {
		x.Errorf("PutBlob at once failed: %v", err)
	}
	for i := range n {
		x.blob(handles[0], "a", data(i))
	}
}
