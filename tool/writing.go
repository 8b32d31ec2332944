package tool

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// Writing says which files tools may write, and whether a person is asked. The zero value asks a person about each
// use, and allows all files but hidden ones.
type Writing struct {
	// Unasked lets models write without the approval of a person.
	Unasked bool
	// Only are globs, as in a list: if there are any, a file may be written if one of them matches its path or a
	// folder that it is in. "docs" allows what is in any folder of this name, "docs/*.md" what matches below the top.
	Only []string
	// Except are globs of what may not be written, although Only allows it. They ignore the case and the Unicode form of
	// letters, because some file systems do too.
	Except []string
	// Hidden allows names that begin with a dot. Programs run or obey many such files, as those in .git/hooks.
	Hidden bool
	// Size is how many bytes a file may have, before and after: 1 MiB if 0, at most 4 MiB. How many files there
	// are is not bounded.
	Size int
}

const (
	defaultSize = 1 << 20
	maxDepth    = 32 // elements of the path of a file that is written
)

// permit is Writing in the form in which it is applied.
type permit struct {
	only, except []pattern
	hidden       bool
	size         int
}

func (w Writing) permit() (permit, error) {
	out := permit{hidden: w.Hidden, size: w.Size}
	switch {
	case w.Size < 0:
		return permit{}, invalid("writing.size", fmt.Errorf("%d is negative", w.Size))
	case w.Size > highestFile:
		return permit{}, invalid("writing.size", fmt.Errorf("%d is more than %d", w.Size, highestFile))
	case w.Size == 0:
		out.size = defaultSize
	}
	for _, list := range []struct {
		field string
		texts []string
		fold  func(string) string
		into  *[]pattern
	}{{"only", w.Only, strings.Clone, &out.only}, {"except", w.Except, fold, &out.except}} {
		for i, text := range list.texts {
			glob, err := compile(list.fold(text))
			if err == nil && glob == nil {
				err = errors.New("is empty")
			}
			if err != nil {
				return permit{}, invalid(fmt.Sprintf("writing.%s[%d]", list.field, i), err)
			}
			*list.into = append(*list.into, glob)
		}
	}
	return out, nil
}

// fold returns the same text for all names that a file system may take for the same one.
func fold(name string) string { return norm.NFKC.String(cases.Fold().String(norm.NFKC.String(name))) }

// find checks the path of a file that a model wants to write.
func (w *permit) find(given string) (place, error) {
	p, err := find(given)
	if err != nil {
		return place{}, err
	}
	if p.clean == "." || strings.HasSuffix(given, "/") {
		return place{}, p.fault(errors.New("is a folder, no file"))
	}
	elements := strings.Split(p.clean, "/")
	if len(elements) > maxDepth {
		return place{}, p.fault(fmt.Errorf("has more than %d folders", maxDepth-1))
	}
	for _, name := range elements {
		switch {
		case strings.HasPrefix(name, ".") && !w.hidden:
			return place{}, p.fault(errors.New("has a name that begins with a dot, which may not be written"))
		case strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsPrint(r) }):
			return place{}, p.fault(errors.New("has characters that do not print, which may not be written"))
		case runtime.GOOS == "windows" && strings.Contains(name, "~"): // it may be another name of something else
			return place{}, p.fault(errors.New("has a ~, which may not be written"))
		}
	}
	if len(w.only) > 0 && !covers(w.only, p.clean) || covers(w.except, fold(p.clean)) {
		return place{}, p.fault(errors.New("may not be written: the host program excludes it"))
	}
	return p, nil
}

// covers reports whether a pattern matches a path or a folder that it is in.
func covers(patterns []pattern, path string) bool {
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '/' {
			continue
		}
		for _, glob := range patterns {
			if glob.matches(path[:end]) {
				return true
			}
		}
	}
	return false
}

// fits checks what a file is to hold.
func (w *permit) fits(p place, text string) error {
	switch {
	case len(text) > w.size:
		return p.fault(fmt.Errorf("would have %d bytes, of which at most %d can be written", len(text), w.size))
	case strings.ContainsRune(text, 0) || !utf8.ValidString(text):
		return p.fault(errors.New("would be no text in UTF-8"))
	}
	return nil
}
