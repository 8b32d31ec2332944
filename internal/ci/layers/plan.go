package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// plan says what may use what, as written in .ci/layers.
type plan []*rule

// rule is what holds for some packages. A package's name is its folder below the root of the repository,
// "." for the root itself.
type rule struct {
	line     int
	packages []string // names, or patterns such as "provider/..."
	imports  []string // names or patterns of the packages that they may import
	rooms    []*room  // the parts of the one package
}

// room is some files of a package.
type room struct {
	line    int
	name    string
	files   []string // patterns of path.Match
	uses    []string // the other rooms whose declarations its files may use
	forbids []string // packages that its files may not import, although the package may
}

func readPlan(file string) (plan, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var p plan
	for i, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if p, err = p.with(i+1, words[0], words[1:]); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", planFile, i+1, err)
		}
	}
	for _, r := range p {
		for _, m := range r.rooms {
			for _, name := range m.uses {
				if !r.hasRoom(name) {
					return nil, fmt.Errorf("%s:%d: room %s uses %s, which is no room", planFile, m.line, m.name, name)
				}
			}
		}
	}
	return p, nil
}

// with returns the plan with one line more. The line is about the package, or the room, that was named last.
func (p plan) with(line int, word string, names []string) (plan, error) {
	if len(names) == 0 {
		return nil, fmt.Errorf("nothing follows %q", word)
	}
	if word == "package" {
		return append(p, &rule{line: line, packages: names}), nil
	}
	if len(p) == 0 {
		return nil, fmt.Errorf("%q stands before the first package", word)
	}
	r := p[len(p)-1]
	if word == "room" {
		if len(names) > 1 || len(r.packages) > 1 || strings.HasSuffix(r.packages[0], "/...") {
			return nil, fmt.Errorf("want one name of a room, below one package")
		}
		if r.hasRoom(names[0]) {
			return nil, fmt.Errorf("room %s is there already", names[0])
		}
		r.rooms = append(r.rooms, &room{line: line, name: names[0]})
		return p, nil
	}
	list := map[string]*[]string{"imports": &r.imports}
	if n := len(r.rooms); n > 0 {
		m := r.rooms[n-1]
		list = map[string]*[]string{"files": &m.files, "uses": &m.uses, "forbids": &m.forbids}
	}
	if list[word] == nil {
		return nil, fmt.Errorf("%q is unknown here: a package has imports, then rooms, and a room has files, uses and forbids", word)
	}
	*list[word] = append(*list[word], names...)
	return p, nil
}

func (r *rule) hasRoom(name string) bool {
	return slices.ContainsFunc(r.rooms, func(m *room) bool { return m.name == name })
}

// ruleFor returns the rule of a package, and the name or pattern in it that matches: the package's own name
// if it is there, or else the longest pattern.
func (p plan) ruleFor(name string) (found *rule, pattern string) {
	for _, r := range p {
		for _, candidate := range r.packages {
			better := candidate == name || len(candidate) > len(pattern)
			if pattern != name && better && matches(candidate, name) {
				found, pattern = r, candidate
			}
		}
	}
	return found, pattern
}

// matches reports whether a name is the pattern, or is the folder of a pattern such as "provider/..."
// or below it.
func matches(pattern, name string) bool {
	folder, below := strings.CutSuffix(pattern, "/...")
	return name == folder || below && strings.HasPrefix(name, folder+"/")
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, name) })
}
