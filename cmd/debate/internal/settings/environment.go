package settings

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// variable is the name of one.
var variable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// ReadVariables reads a file with a line KEY=VALUE for each variable. "export" before a key, quotes around a value and comments are those
// of a shell; nothing is put in the place of "$". The error joins an [Error] for each mistake, and shows no value.
func ReadVariables(path string) (map[string]string, error) {
	data, err := ReadFile(path, mostBytes)
	if err != nil {
		return nil, &Error{Place: Place{File: path}, Err: err}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	out, number := make(map[string]string), 0
	var wrong mistakes
	if hostile(string(data)) >= 0 {
		wrong.addf(Place{File: path}, "is no text in UTF-8")
		return nil, wrong.err()
	}
	for line := range strings.Lines(string(data)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		at := Place{path, number, 1, ""}
		name, value, ok := strings.Cut(line, "=")
		if rest, exported := strings.CutPrefix(name, "export "); exported {
			name = strings.TrimSpace(rest)
		}
		if !ok || !variable.MatchString(name) {
			wrong.addf(at, "is not KEY=VALUE")
			continue
		}
		if value, err = unquoted(strings.TrimSpace(value)); err != nil {
			wrong.addf(at, "%s: %w", name, err)
			continue
		}
		out[name] = value
	}
	return out, wrong.err()
}

// unquoted returns a value without the quotes around it, and without a comment behind it.
func unquoted(value string) (string, error) {
	if value == "" || value[0] != '\'' && value[0] != '"' {
		if at := strings.Index(value, " #"); at >= 0 {
			value = value[:at]
		}
		return strings.TrimSpace(value), nil
	}
	quote, out := value[0], strings.Builder{}
	for i := 1; i < len(value); i++ {
		switch c := value[i]; {
		case c == quote:
			if rest := strings.TrimSpace(value[i+1:]); rest != "" && rest[0] != '#' {
				return "", errors.New("has something behind its quotes")
			}
			return out.String(), nil
		case c == '\\' && quote == '"' && i+1 < len(value):
			i++
			if value[i] == 'n' {
				out.WriteByte('\n')
			} else {
				out.WriteByte(value[i])
			}
		default:
			out.WriteByte(c)
		}
	}
	return "", fmt.Errorf("the quote %c is not closed", quote)
}
