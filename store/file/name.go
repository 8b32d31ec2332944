package file

import (
	"encoding/hex"
	"strings"

	"github.com/agonist-dev/debate/store"
)

// The folder holds these files of each conversation, named after it, and a file of each handle that is alive.
const (
	suffixLog   = ".log"   // the journal
	suffixTorn  = ".torn"  // what was cut off the journal
	suffixBlobs = ".blobs" // the bytes of the conversation's files
	suffixLock  = ".lock"  // empty; locked while anything of the conversation is changed
	suffixLease = ".lease" // who works on the conversation
	suffixLive  = ".live"  // empty; locked while a handle is alive

	suffixAlarm      = ".alarm"      // when the conversation needs a process next
	suffixQuarantine = ".quarantine" // why the conversation could not be opened
)

// name returns the beginning of the names of a conversation's files. Many file systems ignore case, and ids do
// not. So the name is in lower case. If the id has capitals, a '+' follows, and then their positions as a
// bit set in hexadecimal digits: "Ab-C" is "ab-c+09". An id never contains '+', so no two ids have the
// same name. The longest name has 161 bytes. Escaping each letter would take up to 256 bytes, one more
// than is allowed. ('~' instead of '+' could clash with the short names of Windows, such as "ab~1".)
func name(id string) string {
	lower := strings.ToLower(id)
	if lower == id {
		return id
	}
	bits := make([]byte, 0, 16)
	for i := range len(id) {
		if id[i] == lower[i] {
			continue
		}
		for len(bits) <= i/8 {
			bits = append(bits, 0)
		}
		bits[i/8] |= 1 << (i % 8)
	}
	return lower + "+" + hex.EncodeToString(bits)
}

// identify is the inverse of name. It returns false if no conversation has this name.
func identify(file string) (id string, ok bool) {
	lower, places, capital := strings.Cut(file, "+")
	out := []byte(lower)
	if capital {
		bits, err := hex.DecodeString(places)
		if err != nil {
			return "", false
		}
		for i := range out {
			if i/8 < len(bits) && bits[i/8]&(1<<(i%8)) != 0 && 'a' <= out[i] && out[i] <= 'z' {
				out[i] -= 'a' - 'A'
			}
		}
	}
	id = string(out)
	return id, store.CheckID(id) == nil && name(id) == file
}
