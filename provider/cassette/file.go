package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Version is the version of the files that this release writes. It reads no other version.
const Version = 1

// MaxFile caps the size of a file, in bytes: 64 MiB.
const MaxFile = 64 << 20

var errTooLong = fmt.Errorf("the file would be longer than %d bytes", MaxFile)

// Problem classifies what is wrong with a file.
type Problem string

// These are the problems of files.
const (
	ProblemSize      Problem = "size"      // longer than MaxFile
	ProblemSyntax    Problem = "syntax"    // not JSON, or not UTF-8
	ProblemTruncated Problem = "truncated" // the end is missing
	ProblemTrailing  Problem = "trailing"  // something follows the end
	ProblemVersion   Problem = "version"   // of another release, or missing
	ProblemField     Problem = "field"     // a name that is unknown, repeated, missing or out of order
	ProblemValue     Problem = "value"     // a value that is invalid, or not in the form that this package writes
)

// FileError reports that a file is not a cassette, and where. It holds no text of an exchange.
type FileError struct {
	File    string // "" if it was not read from one
	Line    int    // from 1
	Problem Problem
	Detail  string
}

// Error returns one line: file, line, problem and detail.
func (e *FileError) Error() string {
	place := "line " + strconv.Itoa(e.Line)
	if e.File != "" {
		place = e.File + ":" + strconv.Itoa(e.Line)
	}
	return "cassette: " + place + ": " + string(e.Problem) + ": " + e.Detail
}

// contents is the JSON of a file.
type contents struct {
	Version   int                 `json:"version"`
	Providers map[string]*wrapped `json:"providers,omitempty"`
	Entries   []*entry            `json:"entries"`
}

// wrapped holds what is known of a provider besides its exchanges.
type wrapped struct {
	Vendor string   `json:"vendor,omitempty"`
	Models []string `json:"models,omitempty"` // those that passed a check or were used, sorted
}

// encode writes a file. Entries that were written before keep their body.
func (c *contents) encode() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("{\n  \"version\": " + strconv.Itoa(c.Version) + ",\n")
	if len(c.Providers) > 0 {
		providers, err := indented(c.Providers, "  ")
		if err != nil {
			return nil, err
		}
		b.WriteString("  \"providers\": " + string(providers) + ",\n")
	}
	b.WriteString("  \"entries\": [")
	for i, e := range c.Entries {
		if e.body == nil {
			var err error
			if e.body, err = indented(e, "    "); err != nil {
				return nil, err
			}
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n    ")
		b.Write(e.body)
		if b.Len() > MaxFile {
			break
		}
	}
	if len(c.Entries) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("]\n}\n")
	if b.Len() > MaxFile {
		return nil, errTooLong
	}
	return b.Bytes(), nil
}

func indented(v any, prefix string) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent(prefix, "  ")
	err := encoder.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// write replaces the file of that name, if there is one: completely or not at all.
func write(name string, data []byte) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temp.Name())
		}
	}()
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err != nil {
		return err
	}
	return os.Rename(temp.Name(), name)
}

// read returns the bytes of a file, at most one more than a cassette may have.
func read(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return io.ReadAll(io.LimitReader(f, MaxFile+1))
}

// parse reads a file strictly. Apart from white space, it must equal what encode writes for the parsed
// contents. That finds, with its position, everything that encoding/json ignores.
func parse(name string, data []byte) (*contents, error) {
	fault := func(offset int64, problem Problem, format string, args ...any) error {
		line := 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
		return &FileError{File: name, Line: line, Problem: problem, Detail: fmt.Sprintf(format, args...)}
	}
	if len(data) > MaxFile {
		return nil, fault(0, ProblemSize, "the file is longer than %d bytes", MaxFile)
	}
	if !utf8.Valid(data) {
		return nil, fault(int64(len(data)-len(validEnd(data))), ProblemSyntax, "the file is not UTF-8")
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var whole json.RawMessage
	if err := decoder.Decode(&whole); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, fault(syntax.Offset, ProblemSyntax, "%s", syntax.Error())
		}
		return nil, fault(int64(len(data)), ProblemTruncated, "the end of the file is missing")
	}
	if end := decoder.InputOffset(); len(bytes.TrimSpace(data[end:])) > 0 {
		begin := end + int64(bytes.Index(data[end:], bytes.TrimSpace(data[end:])))
		return nil, fault(begin, ProblemTrailing, "something follows the end of the cassette")
	}
	var head struct {
		Version json.RawMessage `json:"version"`
	}
	_ = json.Unmarshal(whole, &head) // without an object there is no version
	if string(head.Version) != strconv.Itoa(Version) {
		at := max(0, bytes.Index(data, []byte(`"version"`)))
		return nil, fault(int64(at), ProblemVersion, "this release reads version %d, the file has %q", Version, clip(string(head.Version)))
	}
	out := &contents{}
	if err := json.Unmarshal(whole, out); err != nil {
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok { // these errors are found below, with their position
			return nil, fault(0, ProblemValue, "%v", err)
		}
	}
	entries, err := out.same(data, fault)
	if err != nil {
		return nil, err
	}
	for i, e := range out.Entries {
		if err := e.settle(); err != nil {
			return nil, fault(entries[i], ProblemValue, "entry %d: %v", i+1, err)
		}
	}
	return out, nil
}

// validEnd returns the rest from the first byte that is not valid UTF-8.
func validEnd(data []byte) []byte {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		if r == utf8.RuneError && n == 1 {
			break
		}
		data = data[n:]
	}
	return data
}

// same compares a file with what encode would write for it, and returns the offsets of its entries.
func (c *contents) same(data []byte, fault func(int64, Problem, string, ...any) error) (entries []int64, err error) {
	for i, e := range c.Entries {
		if e == nil {
			return nil, fault(0, ProblemValue, "entry %d is null", i+1)
		}
	}
	for name, w := range c.Providers {
		if w == nil {
			return nil, fault(0, ProblemValue, "provider %q is null", clip(name))
		}
	}
	if c.Entries == nil {
		c.Entries = []*entry{} // null is not what encode writes
	}
	is, want := newTokens(data), newTokens(plainJSON(c))
	for {
		got, more := is.next()
		other, _ := want.next()
		if !equal(got, other) {
			switch {
			case is.name:
				return nil, fault(is.offset(), ProblemField, "%q is unknown, doubled or out of order", clip(fmt.Sprint(got)))
			case want.name:
				return nil, fault(is.offset(), ProblemField, "%q is missing", clip(fmt.Sprint(other)))
			default:
				return nil, fault(is.offset(), ProblemValue, "the value of %q cannot be this one", clip(is.last()))
			}
		}
		if !more {
			return entries, nil
		}
		if got == json.Delim('{') && is.depth() == 3 && is.within("entries") {
			entries = append(entries, is.offset())
		}
	}
}

// equal compares tokens; numbers by their value.
func equal(a, b json.Token) bool {
	x, isX := a.(json.Number)
	y, isY := b.(json.Number)
	if !isX || !isY || x == y {
		return a == b
	}
	u, errU := x.Float64()
	v, errV := y.Float64()
	return errU == nil && errV == nil && u == v
}

// tokens reads the tokens of valid JSON.
type tokens struct {
	decoder *json.Decoder
	name    bool // the last token is a name
	open    []level
}

// level is an object or an array that has begun.
type level struct {
	object bool
	named  bool   // a name was read, its value was not
	name   string // the last one
}

func newTokens(data []byte) *tokens {
	t := &tokens{decoder: json.NewDecoder(bytes.NewReader(data))}
	t.decoder.UseNumber()
	return t
}

func (t *tokens) offset() int64 { return t.decoder.InputOffset() }
func (t *tokens) depth() int    { return len(t.open) }

// within reports whether the value of this name in the outermost object is being read.
func (t *tokens) within(name string) bool { return len(t.open) > 0 && t.open[0].name == name }

// last returns the name of the value that is being read.
func (t *tokens) last() string {
	names := make([]string, 0, len(t.open))
	for _, l := range t.open {
		if l.name != "" {
			names = append(names, l.name)
		}
	}
	return strings.Join(names, ".")
}

func (t *tokens) next() (token json.Token, more bool) {
	token, err := t.decoder.Token()
	t.name = false
	if err != nil {
		return nil, false
	}
	var top *level
	if n := len(t.open); n > 0 {
		top = &t.open[n-1]
	}
	if text, ok := token.(string); ok && top != nil && top.object && !top.named {
		t.name, top.named, top.name = true, true, text
		return token, true
	}
	if top != nil {
		top.named = false
	}
	switch token {
	case json.Delim('{'), json.Delim('['):
		t.open = append(t.open, level{object: token == json.Delim('{')})
	case json.Delim('}'), json.Delim(']'):
		t.open = t.open[:len(t.open)-1]
	}
	return token, true
}
