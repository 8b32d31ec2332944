package tool

import (
	"crypto/sha256"
	"fmt"
	"strconv"
	"strings"

	"github.com/agonist-dev/debate/flow"
)

// leastHash is how many digits of a hash a model has to give: 64 bits.
const leastHash = 16

// hashOf returns the hash by which models name what a file holds: the first 16 hexadecimal digits of its SHA-256.
func hashOf(data []byte) string { return flow.HashOf(data)[:leastHash] }

// hash is one that a model gives: at least 16 hexadecimal digits, up to a whole SHA-256.
type hash string

func parseHash(given string) (hash, error) {
	h := strings.ToLower(given)
	if len(h) < leastHash || len(h) > 2*sha256.Size || strings.Trim(h, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%s is no hash: read the file, and give the %d digits that are named there",
			strconv.Quote(cut(given, maxName)), leastHash)
	}
	return hash(h), nil
}

// of reports whether this is the hash of what a file holds.
func (h hash) of(data []byte) bool { return strings.HasPrefix(flow.HashOf(data), string(h)) }
