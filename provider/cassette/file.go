package cassette

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"unicode/utf8"
)

// Version is the version of the files that this release writes. It reads no other version.
const Version = 2

// MaxFile caps the size of a file, in bytes: 64 MiB.
const MaxFile = 64 << 20

var errTooLong = fmt.Errorf("the file would be longer than %d bytes", MaxFile)

// FileError reports that a file is not a cassette, and where. It holds no text of an exchange.
type FileError struct {
	File   string // "" if it was not read from one
	Line   int    // from 1
	Detail string
}

// Error returns one line: file, line and detail.
func (e *FileError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("cassette: line %d: %s", e.Line, e.Detail)
	}
	return fmt.Sprintf("cassette: %s:%d: %s", e.File, e.Line, e.Detail)
}

// wrapped holds what is known of a provider besides its exchanges.
type wrapped struct {
	Vendor string   `json:"vendor,omitempty"`
	Models []string `json:"models,omitempty"` // those that passed a check, sorted
}

// encode returns the file of these exchanges.
func encode(providers map[string]wrapped, entries []*entry) []byte {
	data := form(struct {
		Version   int                `json:"version"`
		Providers map[string]wrapped `json:"providers,omitempty"`
		Entries   []*entry           `json:"entries"`
	}{Version, providers, append([]*entry{}, entries...)}) // a list without elements is [], not null
	var b bytes.Buffer
	_ = json.Indent(&b, data, "", "  ") // which is JSON
	b.WriteByte('\n')
	return b.Bytes()
}

// write replaces the file of that name, if there is one: completely or not at all.
func write(name string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*.tmp")
	if err != nil {
		return err
	}
	_, err = temp.Write(data)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), name)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// parse reads a file strictly: apart from white space, it must equal what encode writes for all that was read.
func parse(name string, data []byte) (providers map[string]wrapped, entries []*entry, err error) {
	fault := func(offset int, format string, args ...any) error {
		line := 1 + bytes.Count(data[:min(offset, len(data))], []byte("\n"))
		return &FileError{File: name, Line: line, Detail: fmt.Sprintf(format, args...)}
	}
	if len(data) > MaxFile {
		return nil, nil, fault(0, "the file is longer than %d bytes", MaxFile)
	}
	at := 0
	for line := range bytes.Lines(data) {
		if !utf8.Valid(line) {
			return nil, nil, fault(at, "the file is not UTF-8")
		}
		at += len(line)
	}
	var file struct {
		Version   json.RawMessage   `json:"version"`
		Providers json.RawMessage   `json:"providers"`
		Entries   []json.RawMessage `json:"entries"`
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	if err := decoder.Decode(&file); err != nil {
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
			return nil, nil, fault(int(syntax.Offset), "%s", syntax.Error())
		}
		if _, ok := errors.AsType[*json.UnmarshalTypeError](err); !ok { // of which differs finds the place
			return nil, nil, fault(len(data), "the end of the file is missing")
		}
	}
	if rest := bytes.TrimSpace(data[decoder.InputOffset():]); len(rest) > 0 {
		return nil, nil, fault(bytes.LastIndex(data, rest), "something follows the end of the cassette")
	}
	if string(file.Version) != strconv.Itoa(Version) {
		const mend = "this release reads version %d, the file has %q: remove it and record it again"
		return nil, nil, fault(max(0, bytes.Index(data, []byte(`"version"`))), mend, Version, clip(string(file.Version)))
	}
	unform(file.Providers, &providers)
	for i, body := range file.Entries {
		e := &entry{}
		unform(body, e)
		if wrong := e.settle(); wrong != nil && err == nil {
			err = fault(max(0, bytes.Index(data, body)), "entry %d: %v", i+1, wrong)
		}
		entries = append(entries, e)
	}
	if offset, detail := differs(data, encode(providers, entries)); detail != "" {
		return nil, nil, fault(offset, "%s", detail)
	}
	return providers, entries, err
}

// differs returns where a file differs from what encode would write for it, and how.
func differs(data, written []byte) (offset int, detail string) {
	is, should := json.NewDecoder(bytes.NewReader(data)), json.NewDecoder(bytes.NewReader(written))
	is.UseNumber()
	should.UseNumber()
	beforeColon := func(rest []byte) bool { return bytes.HasPrefix(bytes.TrimLeft(rest, " \t\r\n"), []byte(":")) }
	for field := ""; ; {
		got, err := is.Token()
		other, _ := should.Token()
		offset = int(is.InputOffset())
		unknown, missing := beforeColon(data[offset:]), beforeColon(written[should.InputOffset():])
		switch {
		case got == other && err != nil:
			return 0, ""
		case got == other && unknown:
			field = fmt.Sprint(got)
		case got == other:
		case unknown:
			return offset, fmt.Sprintf("%q is unknown, doubled or out of order", clip(fmt.Sprint(got)))
		case missing:
			return offset, fmt.Sprintf("%q is missing", clip(fmt.Sprint(other)))
		default:
			return offset, fmt.Sprintf("the value of %q cannot be this one", clip(field))
		}
	}
}
