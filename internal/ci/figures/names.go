package main

import "go/ast"

// addNames adds what a file exports: its types with their fields and methods, functions, constants and variables. A method
// is exported if its type is.
func addNames(names map[string]bool, file *ast.File) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			addFunction(names, d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				addSpec(names, spec)
			}
		}
	}
}

func addSpec(names map[string]bool, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		if spec.Name.IsExported() {
			names[spec.Name.Name] = true
			addMembers(names, spec.Name.Name, spec.Type)
		}
	case *ast.ValueSpec:
		for _, name := range spec.Names {
			if name.IsExported() {
				names[name.Name] = true
			}
		}
	}
}

func addFunction(names map[string]bool, f *ast.FuncDecl) {
	if !f.Name.IsExported() {
		return
	}
	if f.Recv == nil {
		names[f.Name.Name] = true
		return
	}
	if of := typeName(f.Recv.List[0].Type); ast.IsExported(of) {
		names[of+"."+f.Name.Name] = true
	}
}

// addMembers adds the fields of a struct, those of structs within it, and the methods of an interface.
func addMembers(names map[string]bool, of string, expr ast.Expr) {
	var list *ast.FieldList
	switch t := expr.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return
	}
	_, isStruct := expr.(*ast.StructType)
	for _, field := range list.List {
		for _, name := range field.Names {
			if name.IsExported() {
				names[of+"."+name.Name] = true
				addMembers(names, of+"."+name.Name, field.Type)
			}
		}
		if embedded := typeName(field.Type); isStruct && field.Names == nil && ast.IsExported(embedded) {
			names[of+"."+embedded] = true
		}
	}
}

// typeName returns the name of a type without its package, its star and its parameters.
func typeName(expr ast.Expr) string {
	switch t := expr.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return t.Sel.Name
	case *ast.StarExpr:
		return typeName(t.X)
	case *ast.ParenExpr:
		return typeName(t.X)
	case *ast.IndexExpr:
		return typeName(t.X)
	case *ast.IndexListExpr:
		return typeName(t.X)
	default:
		return ""
	}
}
