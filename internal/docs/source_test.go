package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "github.com/agonist-dev/debate"
)

// source is what the files of a package say of its types and constants.
type source struct {
	name   string
	types  map[string]string             // the comment of each type
	fields map[string][]field            // of each struct, in order
	values map[string]string             // of each constant that is a text, a number or a time, as a page shows it
	alts   map[string][]string           // the texts that a type of texts has names for
	consts map[string]map[string]comment // the comments of typed constants, by type and value
	errors []field                       // the variables that begin with Err
}

// field is a field of a struct, as its file shows it.
type field struct {
	name, key, typ, text string
	line, end            int  // the first and the last line
	own, above           bool // it has a comment of its own, and that stands above it
}

// comment is what is said of a constant, and of the group of constants that it stands in.
type comment struct {
	text, group string
	order       int
}

// sources reads packages of the module, each once.
type sources map[string]*source

func (all sources) of(t *testing.T, path string) *source {
	t.Helper()
	if s := all[path]; s != nil {
		return s
	}
	s := &source{
		types: map[string]string{}, fields: map[string][]field{}, values: map[string]string{}, alts: map[string][]string{},
		consts: map[string]map[string]comment{},
	}
	all[path] = s
	folder := filepath.Join(root, filepath.FromSlash(strings.TrimPrefix(path, module)))
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	require.NoError(t, err)
	set := token.NewFileSet()
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		file, err := parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		s.name = file.Name.Name
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok {
				s.read(set, d)
			}
		}
	}
	return s
}

func (s *source) read(set *token.FileSet, d *ast.GenDecl) {
	kind, group := "", ""
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.types[spec.Name.Name] = spec.Doc.Text()
			if spec.Doc == nil {
				s.types[spec.Name.Name] = d.Doc.Text()
			}
			if made, ok := spec.Type.(*ast.StructType); ok {
				s.fields[spec.Name.Name] = fieldsOf(set, made)
			}
		case *ast.ValueSpec:
			if spec.Doc != nil {
				group = spec.Doc.Text()
			}
			if d.Tok == token.VAR && strings.HasPrefix(spec.Names[0].Name, "Err") {
				s.errors = append(s.errors, field{name: spec.Names[0].Name, text: spec.Doc.Text()})
			}
			if d.Tok != token.CONST || len(spec.Names) != len(spec.Values) {
				continue
			}
			if spec.Type != nil {
				kind = exprName(spec.Type)
			}
			for i, name := range spec.Names {
				if value := valueOf(spec.Values[i]); value != "" {
					s.learn(name.Name, kind, value, spec.Comment.Text(), group)
				}
			}
		}
	}
}

func (s *source) learn(name, kind, value, text, group string) {
	s.values[name] = "`" + value + "`"
	if kind == "" {
		return
	}
	s.alts[kind] = append(s.alts[kind], value)
	if s.consts[kind] == nil {
		s.consts[kind] = map[string]comment{}
	}
	s.consts[kind][value] = comment{oneLine(text), oneLine(group), len(s.consts[kind])}
}

// valueOf returns the value of a constant: a text, a number, or a number of seconds or minutes. "": it is something else.
func valueOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
		return e.Value
	case *ast.BinaryExpr:
		unit := map[string]string{"time.Second": " s", "time.Minute": " min"}[exprName(e.Y)]
		if n := valueOf(e.X); unit != "" && n != "" && e.Op == token.MUL {
			return n + unit
		}
	}
	return ""
}

func exprName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return exprName(e.X) + "." + e.Sel.Name
	case *ast.StarExpr:
		return exprName(e.X)
	default:
		return ""
	}
}

func fieldsOf(set *token.FileSet, made *ast.StructType) []field {
	var all []field
	for _, f := range made.Fields.List {
		doc := f.Doc
		if doc == nil {
			doc = f.Comment
		}
		one := field{
			text: doc.Text(), own: doc != nil, above: f.Doc != nil, typ: exprName(f.Type),
			line: set.Position(f.Pos()).Line, end: set.Position(f.End()).Line,
		}
		if f.Tag != nil {
			tag, _ := strconv.Unquote(f.Tag.Value)
			one.key, _, _ = strings.Cut(reflect.StructTag(tag).Get("json"), ",")
		}
		if len(f.Names) == 0 {
			one.name = one.typ[strings.LastIndex(one.typ, ".")+1:]
			all = append(all, one)
		}
		for _, name := range f.Names {
			one.name = name.Name
			all = append(all, one)
		}
	}
	return all
}

var spaces = regexp.MustCompile(`\s+`)

func oneLine(text string) string { return strings.TrimSpace(spaces.ReplaceAllString(text, " ")) }

var sentenceEnd = regexp.MustCompile(`[.?!] +(?:[A-Z"\[0-9]|nil:)`)

// sentences splits a comment. A list ends it, and so does an empty line.
func sentences(text string) []string {
	text, _, _ = strings.Cut(text, "\n\n")
	text, _, _ = strings.Cut(text, "\n  - ")
	text = oneLine(text)
	var out []string
	for text != "" {
		at := sentenceEnd.FindStringIndex(text)
		if at == nil {
			return append(out, text)
		}
		out = append(out, text[:at[0]+1])
		text = strings.TrimSpace(text[at[0]+1:])
	}
	return out
}
