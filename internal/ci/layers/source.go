package main

import (
	"cmp"
	"context"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// source is a package with the types of all that it says, as it is built on this system.
type source struct {
	fset         *token.FileSet
	types        *types.Package
	info         types.Info
	declarations []declaration // in the order of their positions
}

// declaration is a function, a method, or one type, constant or variable with all that belongs to it.
type declaration struct {
	node   ast.Node
	name   string // "Open", "Session.Close"
	isFunc bool
}

// source reads a package and checks its types. What it imports comes compiled from the go command.
func (t *tree) source(ctx context.Context, p *pkg) (*source, error) {
	compiled, err := t.list(ctx, "-export", "-deps", "-json=ImportPath,Export", p.ImportPath)
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	for _, c := range compiled {
		exports[c.ImportPath] = c.Export
	}
	s := &source{fset: token.NewFileSet(), info: types.Info{Uses: map[*ast.Ident]types.Object{}}}
	var files []*ast.File
	for _, name := range p.GoFiles {
		file, err := parser.ParseFile(s.fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
		s.index(file)
	}
	slices.SortFunc(s.declarations, func(a, b declaration) int { return cmp.Compare(a.node.Pos(), b.node.Pos()) })
	config := types.Config{Importer: importer.ForCompiler(s.fset, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})}
	s.types, err = config.Check(p.ImportPath, s.fset, files, &s.info)
	return s, err
}

// index lists the declarations of a file.
func (s *source) index(file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			s.declarations = append(s.declarations, declaration{node: d, name: receiver(d) + d.Name.Name, isFunc: true})
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					s.declarations = append(s.declarations, declaration{node: spec, name: spec.Name.Name})
				case *ast.ValueSpec:
					s.declarations = append(s.declarations, declaration{node: spec, name: spec.Names[0].Name})
				}
			}
		}
	}
}

// receiver returns the type of a method and a dot, or nothing for a function.
func receiver(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	name, _, _ := strings.Cut(types.ExprString(f.Recv.List[0].Type), "[") // its type parameters
	return strings.TrimLeft(name, "*") + "."
}

// declarationAt returns the declaration around a position.
func (s *source) declarationAt(pos token.Pos) declaration {
	i, found := slices.BinarySearchFunc(s.declarations, pos, func(d declaration, pos token.Pos) int {
		return cmp.Compare(d.node.Pos(), pos)
	})
	if !found {
		i--
	}
	return s.declarations[i]
}

// nameOf returns an object's name: a field's and an interface's method's stands behind that of its type.
func (s *source) nameOf(object types.Object) string {
	if object.Parent() == s.types.Scope() {
		return object.Name()
	}
	d := s.declarationAt(object.Pos())
	if d.isFunc {
		return d.name
	}
	return d.name + "." + object.Name()
}
