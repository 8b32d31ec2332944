package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/agonist-dev/debate/flow"
	"github.com/agonist-dev/debate/internal/text"
	"github.com/agonist-dev/debate/provider"
)

// CheckID reports why an id is not safe as the name of a file and as a key on every system. An id has 1 to 128 ASCII
// letters, digits, '-', '_' and '.'. It neither begins nor ends with '.', and is no name of a device on Windows. The
// error is of kind validation. Ids that differ only in the case of letters are different ids.
func CheckID(id string) error {
	name, _, _ := strings.Cut(id, ".")
	switch {
	case len(id) == 0 || len(id) > 128 || id[0] == '.' || id[len(id)-1] == '.' || strings.IndexFunc(id, notOfID) >= 0:
		err := errors.New("is not 1 to 128 letters, digits, '-', '_' and '.', without '.' at the beginning or the end")
		return &flow.Error{Kind: provider.KindValidation, Op: "config", Field: "id", Err: err}
	case device(strings.ToLower(name)):
		err := fmt.Errorf("is the name of a device on some systems: %q", text.OneLine(id, 40))
		return &flow.Error{Kind: provider.KindValidation, Op: "config", Field: "id", Err: err}
	default:
		return nil
	}
}

// notOfID reports whether an id must not contain the rune.
func notOfID(r rune) bool {
	switch {
	case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
		return false
	default:
		return true
	}
}

// device reports whether Windows reserves a name, in small letters. Source: "Naming Files, Paths, and Namespaces"
// in Microsoft's documentation of Win32.
func device(name string) bool {
	switch name {
	case "con", "prn", "aux", "nul":
		return true
	}
	port := strings.HasPrefix(name, "com") || strings.HasPrefix(name, "lpt")
	return port && len(name) == 4 && name[3] >= '0' && name[3] <= '9'
}
