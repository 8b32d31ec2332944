package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// tree is the packages of all modules of the workspace.
type tree struct {
	root   string          // an absolute path
	byName map[string]*pkg // by folder below the root
	byPath map[string]*pkg // by import path
}

// pkg is a package as go list prints it; see go help list.
type pkg struct {
	Name           string `json:"-"` // its folder below the root of the repository
	Dir            string
	ImportPath     string
	Export         string // the file with what it exports
	GoFiles        []string
	IgnoredGoFiles []string
}

func readTree(ctx context.Context, folder string) (*tree, error) {
	root, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	t := &tree{root: root, byName: map[string]*pkg{}, byPath: map[string]*pkg{}}
	packages, err := t.list(ctx, "-json=Dir,ImportPath,GoFiles,IgnoredGoFiles", "work")
	for _, p := range packages {
		p.Name = t.relative(p.Dir)
		t.byName[p.Name], t.byPath[p.ImportPath] = p, p
	}
	return t, err
}

// list runs go list.
func (t *tree) list(ctx context.Context, args ...string) ([]*pkg, error) {
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, "go", append([]string{"list"}, args...)...) //nolint:gosec // the arguments are this program's
	command.Dir, command.Stdout, command.Stderr = t.root, &stdout, &stderr
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.Bytes())
	}
	var packages []*pkg
	for decoder := json.NewDecoder(&stdout); decoder.More(); {
		p := &pkg{}
		if err := decoder.Decode(p); err != nil { //nolint:musttag // the keys are the names of the fields
			return nil, fmt.Errorf("go list: %w", err)
		}
		packages = append(packages, p)
	}
	return packages, nil
}

// relative returns a path below the root, as the plan writes it.
func (t *tree) relative(path string) string {
	if below, err := filepath.Rel(t.root, path); err == nil {
		path = below
	}
	return filepath.ToSlash(path)
}

// files returns the names of the package's files without tests, those for other systems included.
func (p *pkg) files() []string {
	files := slices.Concat(p.GoFiles, p.IgnoredGoFiles)
	return slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
}
