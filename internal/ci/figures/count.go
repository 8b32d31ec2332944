package main

import (
	"bytes"
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

const (
	manyFiles   = 20  // of a package: beyond it they are counted
	sourceLines = 700 // that a source may have
	testLines   = 900 // that a file of tests may have
)

// counted is what was found in the tree.
type counted struct {
	folders map[string]*folder // by path below the root, which is "."
	tests   int                // files of tests in the root
	words   map[string]int
	long    []string // what to say of the files that are too long
}

// folder is a package without its tests.
type folder struct {
	files, lines int
	public       bool            // nothing of its path is private, and not all of it is a program
	names        map[string]bool // that are exported: "Type", "Type.Field"
}

// count reads all Go files and pages below a folder, those of all modules and of all systems. Data of tests is left out.
func count(root string) (*counted, error) {
	c := &counted{folders: map[string]*folder{}, words: map[string]int{}}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		base := path.Base(file)
		if entry.IsDir() {
			if file != "." && (base == "testdata" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")) {
				return fs.SkipDir
			}
			return nil
		}
		page := pageOf(file)
		if page == "" && path.Ext(base) != ".go" {
			return nil
		}
		text, err := fs.ReadFile(files, file)
		if err != nil {
			return err
		}
		if page != "" {
			c.words[page] += len(bytes.Fields(text))
			return nil
		}
		return c.source(file, text)
	})
	return c, err
}

// pageOf returns what a file's words count for; nothing if they do not count.
func pageOf(file string) string {
	switch {
	case file == "README.md" || file == "CHANGELOG.md":
		return file
	case path.Ext(file) != ".md":
		return ""
	case strings.HasPrefix(file, "docs/internal/"):
		return "docs/internal"
	case strings.HasPrefix(file, "docs/"):
		return "docs"
	default:
		return ""
	}
}

// source counts a Go file.
func (c *counted) source(file string, text []byte) error {
	lines := bytes.Count(text, []byte("\n"))
	place, isTest := path.Dir(file), strings.HasSuffix(file, "_test.go")
	most := sourceLines
	if isTest {
		most = testLines
	}
	if lines > most {
		c.long = append(c.long, fmt.Sprintf("%s: %d lines; it may have %d", file, lines, most))
	}
	if isTest {
		if place == "." {
			c.tests++
		}
		return nil
	}
	f := c.folders[place]
	if f == nil {
		f = &folder{names: map[string]bool{}}
		c.folders[place] = f
	}
	f.files++
	f.lines += lines
	if !isPublic(place) {
		return nil
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	if parsed.Name.Name == "main" {
		return nil // beside a library, it is a program that no build takes
	}
	f.public = true
	addNames(f.names, parsed)
	return nil
}

// isPublic reports whether other modules may import what is in a folder, and are meant to.
func isPublic(folder string) bool {
	elements := strings.Split(folder, "/")
	return !slices.Contains(elements, "internal") && elements[0] != "examples"
}

// figures returns the numbers.
func (c *counted) figures() figures {
	all := figures{"tests .": float64(c.tests)}
	for name, f := range c.folders {
		all["lines "+name] = float64(f.lines)
		if f.files > manyFiles || name == "." || name == "flow" {
			all["files "+name] = float64(f.files)
		}
		if f.public {
			all["names "+name] = float64(len(f.names))
		}
	}
	for page, words := range c.words {
		all["words "+page] = float64(words)
	}
	return all
}
