package flow_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestThePackageCommentLeadsToEachName: an exported name is in one of the groups of the package comment. A constant or
// a variable is found beside another of its group, or beside its type.
func TestThePackageCommentLeadsToEachName(t *testing.T) {
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	files := token.NewFileSet()
	var parsed []*ast.File
	for _, entry := range entries {
		if name := entry.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			file, err := parser.ParseFile(files, name, nil, parser.ParseComments)
			require.NoError(t, err)
			parsed = append(parsed, file)
		}
	}
	pkg, err := doc.NewFromFiles(files, parsed, "github.com/agonist-dev/debate/flow")
	require.NoError(t, err)
	leads := func(name string) bool { return strings.Contains(pkg.Doc, "["+name+"]") }
	for _, group := range append(pkg.Consts, pkg.Vars...) {
		found := false
		for _, name := range group.Names {
			found = found || leads(name)
		}
		assert.True(t, found, "none of %v", group.Names)
	}
	for _, f := range pkg.Funcs {
		assert.True(t, leads(f.Name), f.Name)
	}
	for _, typ := range pkg.Types {
		assert.True(t, leads(typ.Name), typ.Name)
		for _, f := range typ.Funcs { // shown below the type that they return
			assert.True(t, leads(f.Name) || leads(typ.Name), f.Name)
		}
	}
}
