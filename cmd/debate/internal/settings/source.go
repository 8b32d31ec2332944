package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Bounds of a config file. What a conversation reads besides has bounds of its own.
const (
	mostBytes = 4 << 20
	mostNodes = 100_000
	mostDepth = 64
)

// defaultFiles are looked for if no file is named, in this order.
func defaultFiles() []string {
	return []string{"debate-config.json", "debate-config.yaml", "debate-config.yml"}
}

// Source is a config file that was read, or the absence of one.
type Source struct {
	File  string // as it was named; "": there is no file
	root  *node
	wrong mistakes // what was seen in it already
}

// Open reads a config file. If path is empty, it looks for a default file in the working directory. That one may be absent.
// Mistakes in single fields are reported by [Source.Load], with those that it finds.
func Open(path string) (*Source, error) {
	if path == "" {
		found, err := findDefault()
		if err != nil {
			return nil, err
		}
		if found == "" {
			return Empty(), nil
		}
		path = found
	}
	data, err := ReadFile(path, mostBytes)
	if err != nil {
		return nil, &Error{Place: Place{File: path}, Err: err}
	}
	root, wrong := parse(path, data)
	if root == nil {
		return nil, wrong.err()
	}
	return &Source{File: path, root: root, wrong: wrong}, nil
}

// Empty returns a source that says nothing.
func Empty() *Source { return &Source{root: objectNode(Place{})} }

// findDefault returns the default file that exists; "": there is none.
func findDefault() (string, error) {
	var found []string
	for _, name := range defaultFiles() {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			found = append(found, name)
		}
	}
	switch len(found) {
	case 0:
		return "", nil
	case 1:
		return found[0], nil
	default:
		return "", &Error{Place: Place{File: found[0]}, Err: fmt.Errorf("%s exists too: name one with --config", found[1])}
	}
}

// LargeError is how many bytes a file may have that has more.
type LargeError int64

func (e LargeError) Error() string { return fmt.Sprintf("is larger than %d MiB", int64(e)>>20) }

// ReadFile reads a file of at most so many bytes, in whole MiB. It may be a pipe, such as that of a process substitution. The error says
// what is wrong with the file, and not which one it is. Beside a [LargeError] is what was read until then.
func ReadFile(path string, most int64) ([]byte, error) {
	if info, err := os.Stat(path); err != nil {
		return nil, cause(err)
	} else if info.IsDir() {
		return nil, errors.New("is a folder")
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, cause(err)
	}
	defer func() { _ = file.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, cause(err)
	}
	if int64(len(data)) > most {
		return data, LargeError(most)
	}
	return data, nil
}

// cause returns what is behind an error of package os: the path is said already.
func cause(err error) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		err = failure.Err
	}
	return fmt.Errorf("cannot be read: %w", err)
}

// parse reads a file of either syntax into nodes. The extension decides, and without one the first character.
func parse(name string, data []byte) (root *node, wrong mistakes) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := string(data)
	if at := hostile(text); at >= 0 {
		line, column := lineOf(text, at)
		r, size := utf8.DecodeRuneInString(text[at:])
		if r == utf8.RuneError && size <= 1 {
			wrong.addf(Place{name, line, column, ""}, "is no text in UTF-8")
		} else {
			wrong.addf(Place{name, line, column, ""}, "there is a control character, %U: is it a text file?", r)
		}
		return nil, wrong
	}
	switch extension := strings.ToLower(filepath.Ext(name)); {
	case extension == ".json", extension != ".yaml" && extension != ".yml" && strings.HasPrefix(strings.TrimSpace(text), "{"):
		root, wrong = parseJSON(name, text)
	default:
		root, wrong = parseYAML(name, data)
	}
	if root != nil && root.form != formObject {
		wrong.addf(root.Place, "the config is %s, not an object", root.form)
		return nil, wrong
	}
	return root, wrong
}

// hostile returns where a text has its first byte that is no UTF-8, or control character; -1: it has none.
func hostile(text string) int {
	for at, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[at:]); size == 1 {
				return at
			}
		}
		if r < ' ' && r != '\n' && r != '\r' && r != '\t' || r == 0x7f {
			return at
		}
	}
	return -1
}

// lineOf returns the line and the column of an offset, from 1, in characters.
func lineOf(text string, offset int) (line, column int) {
	before := text[:min(max(offset, 0), len(text))]
	line = 1 + strings.Count(before, "\n")
	return line, 1 + utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:])
}
