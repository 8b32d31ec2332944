package file

import (
	"encoding/hex"
	"strings"

	"github.com/agonist-dev/debate"
)

// What stands in the folder: these for each debate, behind its name, and the file of each live handle.
const (
	suffixLog   = ".log"   // the journal
	suffixTorn  = ".torn"  // what was cut off it
	suffixLock  = ".lock"  // empty; whoever changes anything of the debate holds its lock
	suffixLease = ".lease" // who goes on with the debate
	suffixLive  = ".live"  // empty; locked for as long as a handle lives
)

// name yields the beginning of the names of a debate's files. Many file systems do not tell capital
// letters from small ones, and ids do. So the name is in small letters, and if the id has capitals a '+'
// follows and their places as a bit set in hexadecimal digits: "Ab-C" is "ab-c+09". An id holds no '+',
// so no two have the same name; and in the worst case the name has 161 bytes, where escaping each letter
// would need 256, which is one too many. ('~' would do as well, were it not that "ab~1" may be what
// Windows calls some other file in short.)
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

// identify is the inverse of name; false: no debate has this name.
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
	return id, debate.CheckID(id) == nil && name(id) == file
}
