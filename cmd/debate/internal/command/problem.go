package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// problem returns what a conversation is about: the argument without the space around it, or the file or the standard
// input as they are. "-" as the argument or the file means the standard input. So does neither of them, if the standard input is no
// terminal.
func (p *program) problem(argument *string, path string) (string, error) {
	switch {
	case argument != nil && path != "":
		return "", exit(exitArguments, errors.New("a problem was given and --problemDescription too: give one of them"))
	case argument != nil && *argument != "-":
		text := strings.TrimSpace(*argument)
		if text == "" {
			return "", exit(exitArguments, errors.New("the problem is blank"))
		}
		if !utf8.ValidString(text) {
			return "", exit(exitArguments, errors.New("the problem is not valid UTF-8: set the terminal to UTF-8, or give the problem as a file"))
		}
		return text, nil
	case path != "" && path != "-":
		return readProblem(path)
	case argument == nil && path == "" && (p.In == nil || terminal(p.In)):
		return "", exit(exitArguments, errors.New("there is no problem: give it as an argument, with --problemDescription, or as input"))
	}
	p.viewing.inputRead = true
	return readText(p.In, fromInput, "problem")
}

// readProblem reads the problem from a file.
func readProblem(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", exit(exitArguments, fmt.Errorf("there is no file %s", path))
	case err == nil && info.IsDir():
		return "", exit(exitArguments, fmt.Errorf("%s is a folder: --file reads those, and the problem is read from a file", path))
	}
	file, err := os.Open(path)
	if err != nil {
		return "", exit(exitGeneral, fmt.Errorf("read the problem: %w", err))
	}
	defer func() { _ = file.Close() }() // it was only read
	return readText(file, path, "problem")
}

// readText reads a text of bounded size, such as a problem. Text in UTF-16 becomes UTF-8.
func readText(in io.Reader, from, what string) (string, error) {
	data, err := readBounded(in)
	if err != nil {
		return "", exit(exitGeneral, fmt.Errorf("read the %s from %s: %w", what, from, err))
	}
	switch text, ok := decoded(data); {
	case len(data) > 2*mostText, ok && len(text) > mostText:
		return "", exit(exitArguments, fmt.Errorf("%s is larger than 1 MiB, the most that a text may be", from))
	case !ok:
		return "", exit(exitArguments,
			fmt.Errorf("%s is no text in UTF-8 or UTF-16: convert it first, for example with iconv -f latin1 -t utf-8", from))
	case strings.TrimSpace(text) == "":
		return "", exit(exitArguments, fmt.Errorf("there is no %s: %s is empty", what, from))
	default:
		return text, nil
	}
}
