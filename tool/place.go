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

// place is the path of something in a folder.
type place struct {
	given string // as the model wrote it
	clean string // with slashes and without "." and ".."; the folder itself is "."
	local string // in the form of this system
}

const maxPath = 4096 // bytes of a path

// find checks and converts a path that a model wrote.
func find(given string) (place, error) {
	p := place{given: given, clean: path.Clean(given)}
	var err error
	switch {
	case len(given) > maxPath:
		err = fmt.Errorf("is longer than %d bytes", maxPath)
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

// within returns the place of an entry of a folder.
func (p place) within(entry string) place {
	clean := path.Join(p.clean, entry)
	return place{given: clean, clean: clean, local: filepath.Join(p.local, entry)}
}

// fault returns an error with the path in the model's words.
func (p place) fault(err error) error {
	return fmt.Errorf("%s: %w", strconv.Quote(cut(p.given, maxName)), reason(err))
}

const maxName = 200 // bytes of a name in an error or in a title

// reason returns the innermost error: the outer ones reveal where the folder is.
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

// clip returns a name for a title.
func clip(name string) string { return shown(cut(name, maxName)) }

// shown returns a name in a form that cannot be taken for anything else, because its author is unknown.
func shown(name string) string {
	plain := utf8.ValidString(name) && !strings.HasPrefix(name, `"`)
	if plain && !strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return name
	}
	return strconv.Quote(name)
}
