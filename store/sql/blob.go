package sql

import (
	"context"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/store"
)

// PutBlob implements [store.Blobs].
func (s *Store) PutBlob(ctx context.Context, id, hash string, data []byte) error {
	if err := store.CheckID(id); err != nil {
		return err
	}
	if err := store.CheckBlob(hash, data); err != nil {
		return err
	}
	return failed("put blob", s.alone(ctx, `INSERT INTO debate_blob (id, hash, data) VALUES ($1, $2, $3)
		ON CONFLICT (id, hash) DO UPDATE SET data = excluded.data WHERE debate_blob.data <> excluded.data`, id, hash, data))
}

// Blob implements [store.Blobs].
func (s *Store) Blob(ctx context.Context, id, hash string) ([]byte, error) {
	if err := store.CheckID(id); err != nil {
		return nil, err
	}
	var data []byte
	found, err := first(ctx, s.reads(ctx), []any{&data}, `SELECT data FROM debate_blob WHERE id = $1 AND hash = $2`, id, hash)
	if err == nil && (!found || flow.HashOf(data) != hash) {
		return nil, flow.ErrNoFile
	}
	return data, failed("read blob", err)
}
