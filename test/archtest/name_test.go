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

// TestNameIsSpelledOnce looks for string literals that contain the name of the program. A build
// may have another name, which pkg/plugin returns. Examples may contain the name, since
// cli.Examples replaces it.
func TestNameIsSpelledOnce(t *testing.T) {
	eachFile(t, func(path string, file *ast.File, files *token.FileSet) {
		if filepath.Base(path) == "plugin.go" {
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if call, is := n.(*ast.CallExpr); is {
				fun := call.Fun
				if qualified, is := fun.(*ast.SelectorExpr); is {
					fun = qualified.Sel
				}
				name, _ := fun.(*ast.Ident)
				return name == nil || name.Name != "Examples"
			}
			if text, is := n.(*ast.BasicLit); is && strings.Contains(text.Value, "kubectl gc") {
				t.Errorf("%s says kubectl gc: take that from pkg/plugin", files.Position(text.Pos()))
			}
			return true
		})
	})
}

// eachFile parses each file of the packages below pkg, without tests.
func eachFile(t *testing.T, do func(path string, file *ast.File, files *token.FileSet)) {
	t.Helper()
	err := filepath.WalkDir("../../pkg", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, 0)
		if err == nil {
			do(path, file, files)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
