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
				if call, is := n.X.(*ast.CallExpr); is {
					check(call.Fun)
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
