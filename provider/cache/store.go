package cache

import "context"

// Store keeps replies by key: a [Memory], or a database or cache server of the host's. It is safe for
// concurrent use and returns soon after ctx is done; a call waits for it, so that a store over a network
// bounds its own time. It may forget whatever it likes. What it yields is checked before it is used, yet
// whoever can write to it decides what the models are heard to say.
type Store interface {
	// Get yields the value that was put under a key; ok is false if there is none. The value is only read.
	Get(ctx context.Context, key string) (value []byte, ok bool, err error)
	// Put keeps a value, in place of the one that was kept under the key. The value is the store's from
	// then on. Keys are 64 hexadecimal digits; values are versioned, and of no meaning to a store.
	Put(ctx context.Context, key string, value []byte) error
}
