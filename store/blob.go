package store

import (
	"errors"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/provider"
)

// CheckBlob reports whether a hash is that of data, as [Blobs] has it. Otherwise the error is of kind validation.
func CheckBlob(hash string, data []byte) error {
	if !flow.IsHash(hash) || flow.HashOf(data) != hash {
		err := errors.New("is not the SHA-256 of the data in small hexadecimal digits")
		return &flow.Error{Kind: provider.KindValidation, Op: "blob", Field: "hash", Err: err}
	}
	return nil
}
