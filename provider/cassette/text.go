package cassette

import (
	"fmt"
	"reflect"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/provider/internal/fence"
)

const maxFences = 64 // that one request names

// scribe converts texts into the form of the file: without secrets and what looks like a vendor's key, and with placeholders for
// fence words.
type scribe struct {
	secrets *redact.Set
	fences  []string // by number, counted from 1
}

// write returns a text in the form of the file.
func (s *scribe) write(text string) string {
	form, _ := s.divide(text, nil)
	return form
}

// divide returns a text in the form of the file, and the offsets in that form at which its pieces end: see [fence.Hide].
func (s *scribe) divide(text string, ends []int) (form string, moved []int) {
	secrets := redact.Merge(append(s.secrets.Find(text), redact.Likely(text)...))
	return fence.Hide(text, s.fences, secrets, ends)
}

// leaf is for walk: it writes texts.
func (s *scribe) leaf(_ string, v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return reflect.ValueOf(s.write(v.String())).Convert(v.Type())
	case reflect.Slice:
		return reflect.ValueOf(wrap(s.write(string(v.Bytes())))).Convert(v.Type())
	default:
		return v
	}
}

// reader returns the originals of texts of the file, with the fence words of the present request. It keeps the first error.
type reader struct {
	fences []string
	err    error
}

// read returns the original of a text.
func (r *reader) read(place, form string) string {
	text, err := fence.Show(form, r.fences)
	if err != nil {
		r.fail(place, err)
	}
	return text
}

// leaf is for walk: it reads texts.
func (r *reader) leaf(place string, v reflect.Value) reflect.Value {
	switch v.Kind() {
	case reflect.String:
		return reflect.ValueOf(r.read(place, v.String())).Convert(v.Type())
	case reflect.Slice:
		raw := unwrap(v.Bytes())
		if raw == "" {
			return reflect.Zero(v.Type())
		}
		return reflect.ValueOf([]byte(r.read(place, raw))).Convert(v.Type())
	default:
		return v
	}
}

func (r *reader) fail(place string, err error) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %w", place, err)
	}
}
