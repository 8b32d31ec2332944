package cache

import "context"

// Store stores replies by key: a [Memory], or a database or cache server of the host program. It is safe
// for concurrent use. It returns soon after ctx is done. A call waits for the store, so a store over a
// network needs a time limit of its own. It may forget values at any time. Values are checked before they
// are used, yet whoever can write to a store decides what the models seem to say.
type Store interface {
	// Get returns the value that was put under a key. ok is false if there is none. The caller only reads
	// the value.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put stores a value and replaces the former value of the key. The store owns the value from then on.
	// Keys are 64 hexadecimal digits. Values are versioned, and opaque to a store.
	Put(ctx context.Context, key string, value []byte) error
}
