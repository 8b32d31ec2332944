package command

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/agonist-dev/debate/cmd/debate/internal/settings"
	"github.com/agonist-dev/debate/flow"
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
		data, err := readNamed(path, flow.MaxFile)
		if err != nil {
			return "", err
		}
		return textIn(data, path, "problem")
	case argument == nil && path == "" && (p.In == nil || terminal(p.In)):
		return "", exit(exitArguments, errors.New("there is no problem: give it as an argument, with --problemDescription, or as input"))
	}
	p.viewing.inputRead = true
	return p.readInput("problem")
}

// readNamed reads a file that the command line names, of at most so many bytes.
func readNamed(path string, most int64) ([]byte, error) {
	data, err := settings.ReadFile(path, most)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit(exitArguments, fmt.Errorf("there is no file %s", path))
	case errors.As(err, new(syscall.Errno)):
		return nil, exit(exitGeneral, fmt.Errorf("%s %w", path, err))
	case err != nil:
		return nil, exit(exitArguments, fmt.Errorf("%s %w", path, err))
	}
	return data, nil
}

// readInput reads a text from the standard input.
func (p *program) readInput(what string) (string, error) {
	data, err := readBounded(p.In)
	if err != nil {
		return "", exit(exitGeneral, fmt.Errorf("read the %s from %s: %w", what, fromInput, err))
	}
	return textIn(data, fromInput, what)
}

// textIn returns a text of bounded size, such as a problem. Text in UTF-16 becomes UTF-8.
func textIn(data []byte, from, what string) (string, error) {
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
