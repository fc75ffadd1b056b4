package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheNameIsSpelledOnce looks for texts that call the program by the name it has in the
// source, which is not the name of every build: pkg/plugin knows that. Examples may, since
// what indents them renames them.
func TestTheNameIsSpelledOnce(t *testing.T) {
	err := filepath.WalkDir("../../pkg", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || d.Name() == "plugin.go" {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				name, _ := call.Fun.(*ast.Ident)
				return name == nil || name.Name != "examples"
			}
			if text, is := n.(*ast.BasicLit); is && strings.Contains(text.Value, "kubectl gc") {
				t.Errorf("%s says kubectl gc: take that from pkg/plugin", files.Position(text.Pos()))
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
