package cassette

import (
	"bytes"
	"encoding/json"
	"strings"
)

// lines is a text that the file has as one string or, if it has several lines, as a list of them.
type lines string

// MarshalJSON writes the string or the list.
func (l lines) MarshalJSON() ([]byte, error) {
	if !strings.Contains(string(l), "\n") {
		return plainJSON(string(l)), nil
	}
	return plainJSON(strings.Split(string(l), "\n")), nil
}

// UnmarshalJSON reads what MarshalJSON writes. Anything else is read as a text that would have been
// written in another way: that is how [parse] finds where it stands.
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

// raw is JSON of somebody else's, which may not be any. The file has an object as what it is, and all
// else, and an object that was not written in the shortest way, as a text, down to the byte.
type raw string

// mostNested bounds the brackets of an object that is written as such: it grows by its indentation.
const mostNested = 200

// MarshalJSON writes the object or the text.
func (r raw) MarshalJSON() ([]byte, error) {
	if r.object() {
		return []byte(r), nil
	}
	return lines(r).MarshalJSON()
}

func (r raw) object() bool {
	if !strings.HasPrefix(string(r), "{") || strings.Count(string(r), "{")+strings.Count(string(r), "[") > mostNested {
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

// plainJSON writes JSON with <, > and & as they are: the markers of fences are full of them.
func plainJSON(v any) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) //nolint:errchkjson // texts, and what was read from JSON, always can be
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
