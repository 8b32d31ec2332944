package cassette

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/agonist-dev/debate/provider/internal/fence"
)

// A text of several lines is a list in the file, which begins with linesMark. No list of other texts does: a text that comes
// from outside never holds such a bracket (see scribe).
const linesMark = fence.Opening + "lines" + fence.Closing

// These find parts of JSON without white space.
var (
	literal = regexp.MustCompile(`"(?:[^"\\]|\\.)*":?`) // with the colon behind a name
	listing = regexp.MustCompile(`\["` + linesMark + `"(?:,"(?:[^"\\]|\\.)*")*\]`)
)

// form returns a value in the form of the file, but without white space; nothing if JSON does not know a number of the value.
func form(v any) []byte {
	data := plainJSON(v)
	if !bytes.Contains(data, []byte(`\`)) { // no text has lines
		return data
	}
	return literal.ReplaceAllFunc(data, func(one []byte) []byte {
		var s string
		if json.Unmarshal(one, &s) != nil || !strings.Contains(s, "\n") { // the name of a value is no JSON: it has a colon
			return one
		}
		return plainJSON(append([]string{linesMark}, strings.Split(s, "\n")...))
	})
}

// unform reads valid JSON in the form of the file. It passes over what v has no place for: the form of v is then another one,
// and parse finds the place.
func unform(data []byte, v any) {
	var compact bytes.Buffer
	_ = json.Compact(&compact, data)
	_ = json.Unmarshal(listing.ReplaceAllFunc(compact.Bytes(), func(list []byte) []byte {
		var all []string
		_ = json.Unmarshal(list, &all)
		return plainJSON(strings.Join(all[1:], "\n"))
	}), v)
}

// plainJSON encodes JSON without escaping <, > and &: the markers of fences are full of them.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) //nolint:errchkjson // see form
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// maxNested bounds the brackets of an object that is written as such, because indentation makes it longer.
const maxNested = 200

// wrap returns JSON of another author, which may be invalid, as valid JSON. An object stays one if the file can keep its exact
// bytes. Everything else becomes a text.
func wrap(raw string) []byte {
	if strings.HasPrefix(raw, "{") && strings.Count(raw, "{")+strings.Count(raw, "[") <= maxNested {
		var again json.RawMessage
		unform(form(json.RawMessage(raw)), &again)
		if string(again) == raw {
			return again
		}
	}
	return plainJSON(raw)
}

// unwrap returns what was wrapped.
func unwrap(data []byte) string {
	var raw string
	if json.Unmarshal(data, &raw) != nil {
		return string(data) // an object
	}
	return raw
}
