package reason_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

// declared returns the names of the types in this package that have a Message, and those of
// the reasons without parameters.
func declared(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Name.Name == "Message" && d.Recv != nil {
					out = append(out, d.Recv.List[0].Type.(*ast.Ident).Name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, ok := s.(*ast.ValueSpec); ok && len(v.Values) == 1 {
						if call, ok := v.Values[0].(*ast.CallExpr); ok && types.ExprString(call.Fun) == "fixed" {
							out = append(out, v.Names[0].Name)
						}
					}
				}
			}
		}
	}
	out = slices.DeleteFunc(out, func(name string) bool { return name == "Fixed" }) // the type of those without
	slices.Sort(out)
	return out
}

func TestEveryReasonIsRegistered(t *testing.T) {
	var codes []string
	for _, r := range reason.Registered() {
		codes = append(codes, string(reason.CodeOf(r)))
	}
	if diff := cmp.Diff(declared(t), codes); diff != "" {
		t.Errorf("declared reasons (-), registered codes (+)\n%s", diff)
	}
}

func TestMessageWithoutParameters(t *testing.T) {
	for _, r := range reason.Registered() {
		_ = r.Message() // a plan written by hand may lack them
		if brief, ok := r.(reason.Brief); ok {
			_ = brief.Brief()
		}
	}
	for _, state := range []reason.OwnerState{reason.StateMismatched, reason.StateInOtherNamespace, reason.StateReplaced, "Invented"} {
		lost := reason.ReferencesLost{Owner: reason.Owner{Kind: "Pod", Name: "web", Found: reason.Found{State: state}}}
		if lost.Message() == "references to Pod/web, which " {
			t.Errorf("no sentence for state %s", state)
		}
	}
}
