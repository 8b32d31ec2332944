package cassette

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// These are the codes of this package's own failures, all of kind validation.
const (
	CodeUnseen = "unseen"          // the cassette does not hold the request, and calls no provider
	CodeClosed = "cassette_closed" // the cassette was closed before the call
)

// unseen returns the error for a request that is not recorded. It names the nearest recorded request and where the two differ.
// It shows no text of either, because it will stand in a log.
func (c *Cassette) unseen(asked *entry) error {
	message := "is not recorded: the cassette has none of this provider"
	values, most := asked.values(), -1
	for _, e := range c.entries {
		if e.Provider != asked.Provider {
			continue
		}
		alike, first := compare(values, e.values())
		if alike *= 2; e.Request.ID == asked.Request.ID {
			alike++
		}
		if alike > most {
			most, message = alike, fmt.Sprintf("is not recorded: the nearest, %q, differs first in %s", clip(e.Request.ID), first)
		}
	}
	if n := len(c.known[asked.key]); n > 0 {
		message = fmt.Sprintf("was recorded %d times, and is asked once more", n)
	}
	return refused(CodeUnseen, "request %q of provider %q %s", clip(asked.Request.ID), clip(asked.Provider), message)
}

// value is one of those that make a request.
type value struct {
	place, text string
	shown       bool // a message may show it
}

// values returns the values of a request in the order of its fields.
func (e *entry) values() []value {
	var all []value
	walk("", reflect.ValueOf(e.asked()), func(place string, v reflect.Value) reflect.Value {
		one := value{place: strings.TrimPrefix(place, "."), text: fmt.Sprint(v), shown: true}
		switch v.Kind() {
		case reflect.String:
			name := place[strings.LastIndexByte(place, '.')+1:]
			one.shown = slices.Contains([]string{"model", "self", "speaker", "label", "fence"}, name)
		case reflect.Slice:
			one.text, one.shown = unwrap(v.Bytes()), false
		}
		all = append(all, one)
		return v
	})
	return all
}

// compare counts the values that two requests share, and says where they differ first.
func compare(asked, recorded []value) (alike int, first string) {
	rest := make(map[string]string, len(recorded))
	for _, v := range recorded {
		rest[v.place] = v.text
	}
	for _, v := range asked {
		text, known := rest[v.place]
		delete(rest, v.place)
		switch {
		case known && text == v.text:
			alike++
		case first != "":
		case !known:
			first = v.place + ", which is not recorded"
		case v.shown:
			first = fmt.Sprintf("%s: recorded %q, asked %q", v.place, clip(text), clip(v.text))
		default:
			first = fmt.Sprintf("%s, line %d", v.place, line(text, v.text))
		}
	}
	for _, v := range recorded {
		if _, left := rest[v.place]; left && first == "" {
			first = v.place + ", which is not asked"
		}
	}
	return alike, first
}

// line returns the first line in which two texts differ, counted from 1.
func line(a, b string) int {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return 1 + strings.Count(a[:i], "\n")
}
