package providertest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agonist-dev/debate/provider"
)

// Faults loads the fixtures *.http of a folder and of the folders in it, sorted by name. The name of a
// fixture in an inner folder begins with that folder's: "groq/429". A fixture has lines of the form
// "name: value", a line of three dashes, and the answer in its wire format:
//
//	source: recorded; https://github.com/newvendor/sdk/blob/main/testdata/429.json; 2026-11-23
//	vendor: newvendor
//	row: rate-limit
//	kind: rate_limit
//	code: rate_limit_exceeded
//	retry-after: 20s
//	note: as seen on a free account
//	---
//	HTTP/1.1 429 Too Many Requests
//	Retry-After: 20
//
//	{"error":{"code":"rate_limit_exceeded","message":"not with {{KEY}}"}}
//
// source is an [Origin], where it is from (of an inferred fixture: why it is believed), and the day on
// which that was read. vendor is the name of the vendor whose answer it is, in lower case. A fixture has both or neither.
//
// The other names are row, kind, code, message (a JSON string), retry-after (a duration), stop, usage (JSON, in
// the form of [provider.Usage]), text (a JSON string), calls (JSON, a list of [provider.ToolCall]; [] is
// none), ended (true: see [Fault]) and note. A fixture without a kind is a reply. The lines of the answer's head may end in LF
// alone. An answer without Content-Length ends with its connection.
func Faults(t testing.TB, folder string) []Fault {
	t.Helper()
	var all []Fault
	for _, path := range fixtures(t, folder) {
		f, err := loadFault(folder, path)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, f)
	}
	return all
}

// Wholes loads the complete answers *.http of a folder, sorted by name. They have the form that [Faults]
// describes. text is the text of the reply; stop, calls and usage are optional.
func Wholes(t testing.TB, folder string) []Whole {
	t.Helper()
	var all []Whole
	for _, path := range fixtures(t, folder) {
		f, err := loadFault(folder, path)
		if err == nil && (f.Row != "" || f.Kind != "") {
			err = fmt.Errorf("a whole answer has neither row nor kind")
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all = append(all, Whole{
			Name: f.Name, Vendor: f.Vendor, Source: f.Source, Answer: f.Answer,
			Text: f.Text, Stop: f.Stop, Calls: f.Calls, Usage: f.Usage,
		})
	}
	return all
}

func fixtures(t testing.TB, folder string) []string {
	t.Helper()
	var paths []string
	for _, pattern := range []string{"*.http", "*/*.http"} {
		found, err := filepath.Glob(filepath.Join(folder, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		t.Fatalf("no fixtures *.http in %s", folder)
	}
	return paths
}

func loadFault(folder, path string) (Fault, error) {
	name, err := filepath.Rel(folder, path)
	if err != nil {
		return Fault{}, err
	}
	f := Fault{Name: filepath.ToSlash(strings.TrimSuffix(name, ".http"))}
	data, err := os.ReadFile(path)
	if err != nil {
		return f, err
	}
	for {
		line, rest, ok := bytes.Cut(data, []byte("\n"))
		if !ok {
			return f, fmt.Errorf("there is no line of three dashes")
		}
		data = rest
		text := strings.TrimSpace(string(line))
		if text == "---" {
			break
		}
		if text == "" {
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return f, fmt.Errorf("the line %q is not of the form name: value", text)
		}
		if err := f.set(name, strings.TrimSpace(value)); err != nil {
			return f, fmt.Errorf("%s: %w", name, err)
		}
	}
	f.Answer = data
	if err := f.sourced(); err != nil {
		return f, err
	}
	return f, parse(data).valid()
}

// set reads one line of a fixture.
func (f *Fault) set(name, value string) (err error) {
	switch name {
	case "source":
		f.Source, err = parseSource(value)
	case "vendor":
		if f.Vendor = value; !vendorName.MatchString(value) {
			err = fmt.Errorf("%q is no name in lower case", value)
		}
	case "row":
		f.Row = value
	case "kind":
		f.Kind = provider.Kind(value)
	case "code":
		f.Code = value
	case "message":
		err = json.Unmarshal([]byte(value), &f.Message)
	case "retry-after":
		if _, number := strconv.ParseFloat(value, 64); number == nil {
			value += "s"
		}
		f.RetryAfter, err = time.ParseDuration(value)
	case "stop":
		f.Stop = provider.StopReason(value)
	case "usage":
		decoder := json.NewDecoder(strings.NewReader(value))
		decoder.DisallowUnknownFields()
		err = decoder.Decode(&f.Usage)
	case "calls":
		err = json.Unmarshal([]byte(value), &f.Calls)
	case "text":
		err = json.Unmarshal([]byte(value), &f.Text)
	case "ended":
		f.Ended, err = strconv.ParseBool(value)
	case "note":
	default:
		err = fmt.Errorf("a fixture has no such line")
	}
	return err
}
