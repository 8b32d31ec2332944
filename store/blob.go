package store

import (
	"errors"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// CheckBlob checks that hash is the hash of data that [Blobs] requires. If not, the error is of kind validation.
func CheckBlob(hash string, data []byte) error {
	if !flow.IsHash(hash) || flow.HashOf(data) != hash {
		err := errors.New("is not the SHA-256 of the data in lower-case hexadecimal digits")
		return &flow.Error{Kind: provider.KindValidation, Op: "blob", Field: "hash", Err: err}
	}
	return nil
}
