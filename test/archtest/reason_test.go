package archtest

import (
	"go/ast"
	"go/token"
	"path/filepath"
	"testing"
)

// TestNothingDecidesByAReason looks for code that tells reasons apart by their types or codes. What
// decides has to be a field of the finding, the step or the object that the reason is about.
func TestNothingDecidesByAReason(t *testing.T) {
	eachFile(t, func(path string, file *ast.File, files *token.FileSet) {
		if filepath.Base(filepath.Dir(path)) == "reason" {
			return
		}
		check := func(types ...ast.Expr) {
			for _, e := range types {
				if of, is := e.(*ast.SelectorExpr); is {
					if from, is := of.X.(*ast.Ident); is && from.Name == "reason" {
						t.Errorf("%s decides by the reason %s", files.Position(e.Pos()), of.Sel.Name)
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				for _, side := range []ast.Expr{n.X, n.Y} {
					if field, is := side.(*ast.SelectorExpr); is && field.Sel.Name == "Code" && nameOf(field.X) == "Reason" {
						t.Errorf("%s decides by the code of a reason", files.Position(n.Pos()))
					}
				}
			case *ast.TypeAssertExpr:
				check(n.Type)
			case *ast.TypeSwitchStmt:
				for _, c := range n.Body.List {
					check(c.(*ast.CaseClause).List...)
				}
			}
			return true
		})
	})
}

// nameOf returns the last name of an expression that names something, and otherwise "".
func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
