// Package settings reads what a conversation is started with: config files, the defaults where there is none, and what the
// command line says beside them.
package settings

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Place is where a setting stands.
type Place struct {
	File         string // "": on the command line, or in the defaults
	Line, Column int    // from 1, in characters; 0: of the whole file
	Path         string // such as "agents[1].model", or "--rounds"; "": of the whole file
}

// String writes a place as compilers do: "debate-config.json:3:7".
func (p Place) String() string {
	if p.File == "" || p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Error is a mistake in a config file, or in a flag that replaces a part of it.
type Error struct {
	Place

	Err error // what is wrong, such as "is not a known key"
}

func (m *Error) Error() string {
	parts := make([]string, 0, 3)
	for _, part := range []string{m.Place.String(), m.Path, m.Err.Error()} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ": ")
}

func (m *Error) Unwrap() error { return m.Err }

// argument is the path of what the command line says the conversation is about.
const argument = "[problem]"

// OfFlags reports whether an error is about the command line alone: each mistake in it is one of a flag.
func OfFlags(err error) bool {
	found := false
	for _, one := range each(err) {
		m, ok := errors.AsType[*Error](one)
		if ok && (m.File != "" || lacks(m) || !strings.HasPrefix(m.Path, "--") && m.Path != argument) {
			return false
		}
		found = found || ok
	}
	return found
}

// each returns the errors that an error joins.
func each(err error) (all []error) {
	if err == nil {
		return nil
	}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, one := range joined.Unwrap() {
			all = append(all, each(one)...)
		}
		return all
	}
	return []error{err}
}

// lackError is a mistake that is none of the file or the command line: the environment lacks what a vendor needs.
type lackError string

func (e lackError) Error() string { return string(e) }

func lacks(err error) bool {
	_, ok := errors.AsType[lackError](err)
	return ok
}

// Sorted returns an error with the mistakes that it joins, each once, in the order of their places: those of the command
// line first. Other errors come last.
func Sorted(err error) error {
	var all []error
	said := make(map[string]bool)
	for _, one := range each(err) {
		if text := one.Error(); !said[text] {
			said[text] = true
			all = append(all, one)
		}
	}
	slices.SortStableFunc(all, func(a, b error) int {
		x, y := placeIn(a), placeIn(b)
		return cmp.Or(cmp.Compare(x.File, y.File), cmp.Compare(x.Line, y.Line), cmp.Compare(x.Column, y.Column))
	})
	return errors.Join(all...)
}

func placeIn(err error) Place {
	if m, ok := errors.AsType[*Error](err); ok {
		return m.Place
	}
	return Place{File: "\U0010ffff"} // behind every file
}

// mistakes collects what is wrong with a file, so that a person reads all of it at once.
type mistakes []error

// mostMistakes bounds how many a person is shown.
const mostMistakes = 100

func (m *mistakes) addf(at Place, format string, args ...any) {
	if len(*m) >= mostMistakes {
		return
	}
	*m = append(*m, &Error{Place: at, Err: fmt.Errorf(format, args...)})
}

func (m *mistakes) err() error { return errors.Join(*m...) }
