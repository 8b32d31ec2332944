package main

import (
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
)

// has reports whether a file of the package is in the room.
func (m *room) has(file string) bool {
	return slices.ContainsFunc(m.files, func(pattern string) bool { return matchesFile(pattern, file) })
}

func matchesFile(pattern, file string) bool {
	ok, err := path.Match(pattern, file)
	return ok && err == nil
}

// checkFiles returns the room of each file of a package that has rooms, and as findings the files that are
// not in exactly one, and the patterns without a file.
func checkFiles(p *pkg, r *rule) (map[string]*room, []finding) {
	var findings []finding
	add := func(line int, format string, args ...any) {
		findings = append(findings, finding{file: planFile, line: line, text: fmt.Sprintf(format, args...)})
	}
	homes := map[string]*room{}
	files := p.files()
	for _, file := range files {
		for _, m := range r.rooms {
			switch home := homes[file]; {
			case !m.has(file):
			case home == nil:
				homes[file] = m
			default:
				add(m.line, "%s of package %s is in the rooms %s and %s", file, p.Name, home.name, m.name)
			}
		}
		if homes[file] == nil {
			add(r.line, "%s of package %s is in no room", file, p.Name)
		}
	}
	for _, m := range r.rooms {
		for _, pattern := range m.files {
			if !slices.ContainsFunc(files, func(file string) bool { return matchesFile(pattern, file) }) {
				add(m.line, "room %s: no file is called %s; remove it", m.name, pattern)
			}
		}
	}
	return homes, findings
}

// checkRooms returns the references between rooms of a package that its rule does not allow, and what is
// wrong with the rooms themselves.
func (t *tree) checkRooms(ctx context.Context, r *rule) ([]finding, error) {
	p := t.byName[r.packages[0]]
	homes, findings := checkFiles(p, r)
	s, err := t.source(ctx, p)
	if err != nil {
		return nil, err
	}
	for id, object := range s.info.Uses {
		if object.Pkg() != s.types {
			continue
		}
		at, to := s.fset.Position(id.Pos()), s.fset.Position(object.Pos())
		here, there := homes[filepath.Base(at.Filename)], homes[filepath.Base(to.Filename)]
		if here == nil || there == nil || here == there || slices.Contains(here.uses, there.name) {
			continue
		}
		text := fmt.Sprintf("%s (room %s) refers to %s in %s:%d (room %s)",
			s.declarationAt(id.Pos()).name, here.name, s.nameOf(object), t.relative(to.Filename), to.Line, there.name)
		findings = append(findings, finding{file: t.relative(at.Filename), line: at.Line, text: text})
	}
	return findings, nil
}
