package tool

import (
	"errors"
	"path"
	"strings"
)

// pattern is a glob, divided into the elements of a path; nil matches everything.
type pattern []string

const (
	anyFolders = "**"
	maxPattern = 256 // bytes
)

// compile parses a pattern that a model wrote. A pattern without a slash is matched with the last element
// only.
func compile(text string) (pattern, error) {
	if text == "" {
		return nil, nil
	}
	if len(text) > maxPattern {
		return nil, errors.New("the pattern is too long")
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "./"), "/")
	if !strings.Contains(text, "/") {
		return compiled([]string{anyFolders, text})
	}
	return compiled(strings.Split(text, "/"))
}

func compiled(elements []string) (pattern, error) {
	for _, element := range elements {
		if _, err := path.Match(element, ""); err != nil {
			return nil, errors.New("the pattern has a bracket that is not closed, or the like")
		}
	}
	return elements, nil
}

// matches reports whether the pattern matches a path. It only retries from the last ** that it passed, so
// the work is bounded by the product of both lengths.
func (p pattern) matches(name string) bool {
	if p == nil {
		return true
	}
	elements := strings.Split(name, "/")
	i, retry, from := 0, -1, 0
	for k := 0; k < len(elements); {
		switch {
		case i < len(p) && p[i] == anyFolders:
			retry, from = i, k
			i++
		case i < len(p) && match(p[i], elements[k]):
			i++
			k++
		case retry >= 0:
			from++
			i, k = retry+1, from
		default:
			return false
		}
	}
	for i < len(p) && p[i] == anyFolders {
		i++
	}
	return i == len(p)
}

func match(element, name string) bool {
	ok, err := path.Match(element, name)
	return ok && err == nil
}
