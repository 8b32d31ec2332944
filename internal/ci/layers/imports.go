package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
)

// checkImports returns the imports that the plan does not allow, the packages without a rule and the rules
// without a package.
func (t *tree) checkImports(p plan) ([]finding, error) {
	var findings []finding
	matched := map[*rule]map[string]bool{}
	for _, r := range p {
		matched[r] = map[string]bool{}
	}
	for _, from := range t.byName {
		r, pattern := p.ruleFor(from.Name)
		if r == nil {
			findings = append(findings, finding{file: planFile, line: 1, text: fmt.Sprintf("package %s is missing in the plan", from.Name)})
			continue
		}
		matched[r][pattern] = true
		for _, file := range from.files() {
			fset := token.NewFileSet()
			parsed, err := parser.ParseFile(fset, filepath.Join(from.Dir, file), nil, parser.ImportsOnly)
			if err != nil {
				return nil, err
			}
			for _, spec := range parsed.Imports {
				if f := t.checkImport(from, r, file, spec); f.text != "" {
					f.line = fset.Position(spec.Pos()).Line
					findings = append(findings, f)
				}
			}
		}
	}
	for _, r := range p {
		for _, pattern := range r.packages {
			if !matched[r][pattern] {
				text := fmt.Sprintf("no package has its rule from %q; remove it", pattern)
				findings = append(findings, finding{file: planFile, line: r.line, text: text})
			}
		}
	}
	return findings, nil
}

// checkImport returns what is wrong with an import, if anything is.
func (t *tree) checkImport(from *pkg, r *rule, file string, spec *ast.ImportSpec) finding {
	path := strings.Trim(spec.Path.Value, "\"`")
	f := finding{file: t.relative(filepath.Join(from.Dir, file))}
	name, to := path, t.byPath[path]
	if to != nil {
		name = to.Name
	}
	if to != nil && !matchesAny(r.imports, name) {
		f.text = fmt.Sprintf("package %s imports %s, which its rule in line %d of the plan does not allow", from.Name, path, r.line)
	}
	for _, m := range r.rooms {
		if m.has(file) && matchesAny(m.forbids, name) {
			f.text = fmt.Sprintf("%s (room %s) imports %s, which the room forbids", f.file, m.name, path)
		}
	}
	return f
}
