package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/agonist-dev/debate/internal/redact"
	"github.com/agonist-dev/debate/provider"
)

const maxExtraDepth = 16 // objects within objects that Extend looks into

// These headers belong to the exchange or to its connection. No config sets them.
//
//nolint:gochecknoglobals // read only
var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Expect", "Host",
	"Idempotency-Key", "Keep-Alive", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "User-Agent", "X-Client-Request-Id",
}

// Unwritable returns the failure for a part of a request that the vendor's protocol has no words for. code names
// the part: the JSON name of an option, or "parts". It has kind validation and was not sent.
func Unwritable(code, message string) error {
	return unsent(&provider.Error{Kind: provider.KindValidation, Code: code, Message: message})
}

// Extend adds the fields of [provider.Options.Extra] to the JSON object of a request, after its own. An object is
// merged with the object of the same name. Everything else that the request has already is a collision, and so
// are fields whose names differ only in case or underscores, and those in reserved: paths such as
// "generationConfig.candidateCount", which the adapter does not write but relies on. Beside fields of either kind, a name
// that is not ASCII is a collision too: servers that ignore case read "\u017ftream" (a long s) as "stream". A collision
// fails with [Unwritable], and names the field.
func Extend(body []byte, extra map[string]json.RawMessage, reserved ...string) ([]byte, error) {
	if len(extra) == 0 {
		return body, nil
	}
	names := make([]string, 0, len(extra))
	for name := range extra {
		names = append(names, name)
	}
	slices.Sort(names)
	more := make([]field, len(names))
	for i, name := range names {
		more[i] = field{name, extra[name]}
	}
	return extend(body, more, "", reserved, 0)
}

// field is a member of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// extend adds fields to the object at a path.
func extend(object []byte, more []field, path string, reserved []string, depth int) ([]byte, error) {
	fields, ok := fieldsOf(object)
	if !ok {
		return nil, Unwritable("extra", "the request is no JSON object")
	}
	for _, f := range more {
		at := path + f.name
		if !json.Valid(f.value) {
			return nil, Unwritable("extra", "the field "+Clip(at)+" is not JSON")
		}
		if foreign(f.name) {
			return nil, disguise(at)
		}
		if slices.ContainsFunc(reserved, func(r string) bool { return alike(r) == alike(at) }) {
			return nil, collision(at)
		}
		i := slices.IndexFunc(fields, func(own field) bool { return alike(own.name) == alike(f.name) })
		if i < 0 {
			if err := unreserved(f.value, at, reserved, depth+1); err != nil {
				return nil, err
			}
			fields = append(fields, f)
			continue
		}
		inner, object := fieldsOf(f.value)
		if _, also := fieldsOf(fields[i].value); !object || !also || fields[i].name != f.name || depth == maxExtraDepth {
			return nil, collision(at)
		}
		merged, err := extend(fields[i].value, inner, at+".", reserved, depth+1)
		if err != nil {
			return nil, err
		}
		fields[i].value = merged
	}
	return encode(fields), nil
}

// unreserved looks for reserved fields within a value that is added as a whole.
func unreserved(value json.RawMessage, path string, reserved []string, depth int) error {
	prefix := alike(path) + "."
	if !slices.ContainsFunc(reserved, func(r string) bool { return strings.HasPrefix(alike(r), prefix) }) {
		return nil
	}
	fields, _ := fieldsOf(value)
	for _, f := range fields {
		at := path + "." + f.name
		if foreign(f.name) {
			return disguise(at)
		}
		if slices.ContainsFunc(reserved, func(r string) bool { return alike(r) == alike(at) }) || depth == maxExtraDepth {
			return collision(at)
		}
		if err := unreserved(f.value, at, reserved, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func collision(path string) error {
	return Unwritable("extra", "the field "+Clip(path)+" is written by the adapter")
}

// disguise is the collision of a name that is not ASCII.
func disguise(path string) error {
	return Unwritable("extra", "the field "+Clip(path)+" is not ASCII: a server may take it for one that the adapter writes")
}

// foreign reports whether a name is not ASCII. No vendor's name is, and Unicode has further spellings of letters.
func foreign(name string) bool {
	return strings.ContainsFunc(name, func(c rune) bool { return c < ' ' || c > '~' })
}

// alike returns a name in ASCII as all spellings of it have it: protocol buffers take "topK" and "top_k" for one field.
func alike(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// fieldsOf returns the members of a JSON object, in their order. ok is false if data is none.
func fieldsOf(data []byte) (fields []field, ok bool) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	for d.More() {
		t, err := d.Token()
		f := field{}
		if f.name, ok = t.(string); err != nil || !ok || d.Decode(&f.value) != nil {
			return nil, false
		}
		fields = append(fields, f)
	}
	return fields, true
}

func encode(fields []field) []byte {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range fields {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := Body(f.name) // a string always marshals
		b.Write(bytes.TrimSpace(name))
		b.WriteByte(':')
		b.Write(f.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// VetHeader checks the headers of [provider.Options.Header]. It fails with [Unwritable] if one carries a
// credential, cannot be sent, or is written by this package, by the endpoint's own Header, or by the adapter: own
// are the names of the adapter's.
func (e *Endpoint) VetHeader(header map[string]string, own ...string) error {
	for name, value := range header {
		canonical := http.CanonicalHeaderKey(name)
		is := func(other string) bool { return http.CanonicalHeaderKey(other) == canonical }
		fixed := slices.ContainsFunc(own, is) || slices.ContainsFunc(ownHeaders, is)
		for other := range e.Header {
			fixed = fixed || is(other)
		}
		switch {
		case name == "" || strings.ContainsFunc(name, noToken):
			return Unwritable("header", "a header has the invalid name "+Clip(name))
		case provider.SecretHeader(name):
			return Unwritable("header", "the header "+Clip(name)+" carries credentials, which belong to the provider's value")
		case redact.Carries(value):
			return Unwritable("header", "the value of the header "+Clip(name)+" looks like a credential, which belongs to the provider's value")
		case fixed:
			return Unwritable("header", "the header "+Clip(name)+" is written by the adapter")
		case strings.ContainsFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c > '~' }):
			return Unwritable("header", "the value of the header "+Clip(name)+" cannot be sent")
		}
	}
	return nil
}

// noToken reports whether no name of a header holds c.
func noToken(c rune) bool {
	return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
}

// AddHeader adds the headers of the options, which may be nil, to the request of the exchange. [Endpoint.VetHeader] has checked them.
func (x *Exchange) AddHeader(o *provider.Options) {
	if o != nil {
		x.added = o.Header
	}
}

// DataURL returns the bytes of a part as a URL.
func DataURL(p *provider.Part) string {
	return "data:" + MediaType(p) + ";base64," + base64.StdEncoding.EncodeToString(p.Data)
}

// MediaType returns the media type of a part without parameters, in lower case.
func MediaType(p *provider.Part) string {
	media, _, _ := strings.Cut(strings.ToLower(p.Type), ";")
	return strings.TrimSpace(media)
}

// Untaken returns the failure for a part whose media type a vendor does not take.
func Untaken(p *provider.Part, vendor string) error {
	return Unwritable("parts", vendor+" takes no part of the media type "+Clip(p.Type))
}
