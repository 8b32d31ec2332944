package tool

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
)

// found returns the program with the path of its file.
func (p Program) found() (Program, error) {
	const signs = ".+-_"
	if p.Name == "" || len(p.Name) > maxProgramName || strings.ContainsFunc(p.Name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(signs, r)
	}) {
		return Program{}, fmt.Errorf("is no name: it needs 1 to %d letters, digits and %s", maxProgramName, signs)
	}
	looked := p.Path
	switch {
	case looked == "":
		looked = p.Name
	case !filepath.IsAbs(looked):
		return Program{}, errors.New("has a path that is not absolute")
	}
	path, err := exec.LookPath(looked)
	if err != nil {
		return Program{}, fmt.Errorf("cannot be found: %w", reason(err))
	}
	if p.Path, err = filepath.Abs(path); err != nil {
		return Program{}, fmt.Errorf("cannot be found: %w", reason(err))
	}
	switch strings.ToLower(filepath.Ext(p.Path)) {
	case ".bat", ".cmd":
		return Program{}, errors.New("is a batch file: a shell would read its arguments")
	}
	return p, nil
}
