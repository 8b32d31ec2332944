package storetest_test

import (
	"bytes"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
	"github.com/agonist-dev/debate/store/storetest"
)

func blobDefects() []defect {
	puts := func(f func(s *spoiled, ctx context.Context, id, hash string, data []byte) error) func(s *spoiled) {
		return func(s *spoiled) {
			s.onPut = func(ctx context.Context, id, hash string, data []byte) error { return f(s, ctx, id, hash, data) }
		}
	}
	reads := func(f func(s *spoiled, ctx context.Context, id, hash string) ([]byte, error)) func(s *spoiled) {
		return func(s *spoiled) {
			s.onBlob = func(ctx context.Context, id, hash string) ([]byte, error) { return f(s, ctx, id, hash) }
		}
	}
	return []defect{
		{"keeps text only", []string{"blob/every handle*"}, "want the", reads(func(s *spoiled, ctx context.Context, id, hash string) ([]byte, error) {
			data, err := s.good.Blob(ctx, id, hash)
			return bytes.ToValidUTF8(data, nil), err
		})},
		{"refuses a second time", []string{"blob/a second*", "blob/several*"}, "failed", puts(func(s *spoiled, ctx context.Context, id, hash string, data []byte) error {
			if _, err := s.good.Blob(ctx, id, hash); err == nil {
				return flow.ErrConflict
			}
			return s.good.PutBlob(ctx, id, hash, data)
		})},
		{"returns nothing for what is missing", []string{"blob/what is not*", "blob/another*"}, "want flow.ErrNoFile", reads(func(s *spoiled, ctx context.Context, id, hash string) ([]byte, error) {
			data, _ := s.good.Blob(ctx, id, hash)
			return data, nil
		})},
		{"believes the hash", []string{"blob/another*"}, "succeeds", puts(func(s *spoiled, ctx context.Context, id, hash string, data []byte) error {
			_ = s.good.PutBlob(ctx, id, hash, data)
			return nil
		})},
		{"shares blobs", []string{"blob/a blob belongs*"}, "want flow.ErrNoFile", func(s *spoiled) {
			s.onPut = func(ctx context.Context, _, hash string, data []byte) error {
				return s.good.PutBlob(ctx, "all", hash, data)
			}
			s.onBlob = func(ctx context.Context, _, hash string) ([]byte, error) { return s.good.Blob(ctx, "all", hash) }
		}},
		{"keeps the blobs of what is deleted", []string{"blob/delete*"}, "want flow.ErrNoFile", func(s *spoiled) {
			s.onPut = func(ctx context.Context, id, hash string, data []byte) error {
				_ = s.good.PutBlob(ctx, id+".kept", hash, data)
				return s.good.PutBlob(ctx, id, hash, data)
			}
			s.onBlob = func(ctx context.Context, id, hash string) ([]byte, error) { return s.good.Blob(ctx, id+".kept", hash) }
		}},
		{"lists blobs", []string{"blob/they are*"}, "only a blob is there", puts(func(s *spoiled, ctx context.Context, id, hash string, data []byte) error {
			_ = s.good.Append(ctx, id+".blob", 0, "w", []flow.Event{{Seq: 1, At: time.Unix(1, 0).UTC(), Body: &flow.Warning{Kind: "blob"}}})
			return s.good.PutBlob(ctx, id, hash, data)
		})},
	}
}

func TestAStoreWithoutBlobsIsSkippedThere(t *testing.T) {
	fresh := func(testing.TB) storetest.Storage {
		s := silent{&store.Memory{}}
		return storetest.Storage{Open: func(testing.TB) store.Store { return s }}
	}
	faults := storetest.Examine(t, "blob/several at once", fresh)
	assert.Equal(t, []string{"skipped: the store is no store.Blobs"}, faults)
}
