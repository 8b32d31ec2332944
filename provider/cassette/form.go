package cassette

import (
	"bytes"
	"encoding/json"
	"strings"
)

// lines is a text. In the file it is one string or, if it has several lines, a list of them.
type lines string

// MarshalJSON writes the string or the list.
func (l lines) MarshalJSON() ([]byte, error) {
	if !strings.Contains(string(l), "\n") {
		return plainJSON(string(l)), nil
	}
	return plainJSON(strings.Split(string(l), "\n")), nil
}

// UnmarshalJSON reads what MarshalJSON writes. It accepts other forms too; [parse] then reports where
// they are, because MarshalJSON would write them differently.
func (l *lines) UnmarshalJSON(data []byte) error {
	*l = ""
	var all []string
	if json.Unmarshal(data, &all) == nil {
		*l = lines(strings.Join(all, "\n"))
		return nil
	}
	var one string
	if json.Unmarshal(data, &one) == nil {
		*l = lines(one)
	}
	return nil
}

// raw is JSON of another author, which may be invalid. In the file, an object in its shortest form is an
// object. Everything else is a text with the exact bytes.
type raw string

// maxNested bounds the brackets of an object that is written as such, because indentation makes it
// longer.
const maxNested = 200

// MarshalJSON writes the object or the text.
func (r raw) MarshalJSON() ([]byte, error) {
	if r.object() {
		return []byte(r), nil
	}
	return lines(r).MarshalJSON()
}

func (r raw) object() bool {
	if !strings.HasPrefix(string(r), "{") || strings.Count(string(r), "{")+strings.Count(string(r), "[") > maxNested {
		return false
	}
	short, ok := compacted([]byte(r))
	return ok && short == string(r)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *raw) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte("{")) {
		short, _ := compacted(data)
		*r = raw(short)
		return nil
	}
	return (*lines)(r).UnmarshalJSON(data)
}

func compacted(data []byte) (string, bool) {
	var b bytes.Buffer
	err := json.Compact(&b, data)
	return b.String(), err == nil
}

// plainJSON encodes JSON without escaping <, > and &: the markers of fences are full of them.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) //nolint:errchkjson // texts, and values that were read from JSON, can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
