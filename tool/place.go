package tool

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// place is where something is in a folder.
type place struct {
	given string // as the model wrote it
	clean string // with slashes, without "." and ".." but for the folder itself, which is "."
	local string // as this system writes it
}

const mostPath = 4096 // bytes of a path

// find takes a path that a model wrote.
func find(given string) (place, error) {
	p := place{given: given, clean: path.Clean(given)}
	var err error
	switch {
	case len(given) > mostPath:
		err = fmt.Errorf("is longer than %d bytes", mostPath)
	case !utf8.ValidString(given), strings.ContainsRune(given, 0):
		err = errors.New("holds what no name of a file does")
	case path.IsAbs(given):
		err = errors.New("is absolute: paths begin in the folder")
	case !fs.ValidPath(p.clean):
		err = errors.New("leads out of the folder")
	default:
		if p.local, err = filepath.Localize(p.clean); err != nil {
			err = errors.New("holds what no name of a file does")
		}
	}
	if err != nil {
		return place{}, p.fault(err)
	}
	return p, nil
}

// within yields the place of an entry of a folder.
func (p place) within(entry string) place {
	clean := path.Join(p.clean, entry)
	return place{given: clean, clean: clean, local: filepath.Join(p.local, entry)}
}

// fault is an error that names the path as the model gave it.
func (p place) fault(err error) error {
	return fmt.Errorf("%s: %w", strconv.Quote(cut(p.given, mostName)), reason(err))
}

const mostName = 200 // bytes of a name in an error or in a title

// reason is the innermost error: those around it say where the folder is.
func reason(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(err) {
		err = inner
	}
	return err
}

// cut keeps the beginning of a name.
func cut(name string, n int) string {
	if len(name) <= n {
		return name
	}
	return strings.ToValidUTF8(name[:n], "") + "…"
}

// clip is a name as it stands in a title.
func clip(name string) string { return shown(cut(name, mostName)) }

// shown is a name that cannot be taken for anything else, as nobody knows who named the file.
func shown(name string) string {
	plain := utf8.ValidString(name) && !strings.HasPrefix(name, `"`)
	if plain && !strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return name
	}
	return strconv.Quote(name)
}
