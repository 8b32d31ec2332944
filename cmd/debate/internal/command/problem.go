package command

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// problem returns what a solution is wanted for: the argument without the space around it, or the file or the standard
// input as they are. Exactly one of them is given. "-" as the argument, or no argument where the standard input is no
// terminal, means the standard input.
func (p *program) problem(argument *string, path string) (string, error) {
	switch {
	case argument != nil && path != "":
		return "", exit(exitArguments, errors.New("a problem was given and --problemDescription too: give one of them"))
	case argument != nil && *argument != "-":
		text := strings.TrimSpace(*argument)
		if text == "" {
			return "", exit(exitArguments, errors.New("the problem is blank"))
		}
		return text, nil
	case path != "":
		return readProblem(path)
	case argument == nil && terminal(p.In):
		return "", exit(exitArguments, errors.New("there is no problem: give it as an argument, with --problemDescription, or as input"))
	}
	p.viewing.inputRead = true
	data, err := io.ReadAll(p.In)
	if err != nil {
		return "", fmt.Errorf("read the problem from the standard input: %w", err)
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", exit(exitArguments, errors.New("there is no problem: the standard input is empty"))
	}
	return string(data), nil
}

// readProblem reads the problem from a file.
func readProblem(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", exit(exitArguments, fmt.Errorf("there is no file %s", path))
	case err == nil && info.IsDir():
		return "", exit(exitArguments, fmt.Errorf("%s is a folder; the problem is read from a file", path))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", exit(exitGeneral, fmt.Errorf("read the problem: %w", err))
	}
	if strings.TrimSpace(string(data)) == "" {
		return "", exit(exitArguments, fmt.Errorf("%s is empty", path))
	}
	return string(data), nil
}
