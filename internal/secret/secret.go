// Package secret draws from a conversation's seed.
package secret

import (
	"crypto/sha256"
	"encoding/binary"
	"math/rand/v2"
	"strconv"
)

// Everything drawn from a conversation's seed is the same in every process. It is as secret as the seed.

// Digest returns 32 bytes for one use of the seed.
func Digest(seed, use string) [32]byte { return sha256.Sum256([]byte(use + " " + seed)) }

// Fence derives the secret word of the fences from the conversation's seed. It has digits only, so that another
// case cannot disguise it.
func Fence(seed string) string {
	sum := Digest(seed, "fence")
	return strconv.FormatUint(1e15+binary.BigEndian.Uint64(sum[:8])%9e15, 10)
}

// Shuffled returns the numbers below n in an order drawn from the seed for this use.
func Shuffled(seed, use string, n int) []int {
	return rand.New(rand.NewChaCha8(Digest(seed, use))).Perm(n) //nolint:gosec // keyed by the conversation's secret
}
