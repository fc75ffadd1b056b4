package e2e

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/docgen"
	"github.com/kubectl-gc/kubectl-gc/test/proxy"
)

// answerChecks are the functions that decide whether a response matches its request, by
// file. Each returns only an error.
var answerChecks = map[string][]string{
	"client/verify.go":      {"verifyResponse", "VerifyKind", "VerifyObject", "VerifySuccess", "verifyPage"},
	"discovery/groups.go":   {"verifyDiscovery", "verifyGroups"},
	"read/access_review.go": {"verifyReview"},
}

const answerCheckDir = "pkg/cluster"

const (
	// mutationVariable enables the test of a program without these checks.
	mutationVariable = "MUTATION"
	// mutationRuns is the default number of runs.
	mutationRuns = "100"
	// mutationSeed is the first seed.
	mutationSeed = "20001"
)

// TestLiesFailAProgramWithoutResponseChecks tells the same lies to the program and to a build of
// it without its checks of responses: the first must pass the runs and the second must fail them.
// This proves that the runs can find violations.
func TestLiesFailAProgramWithoutResponseChecks(t *testing.T) {
	if os.Getenv(mutationVariable) == "" {
		t.Skip(mutationVariable + " is not set: make soak sets it")
	}
	newScene(t)
	checks := slices.Sorted(slices.Values(slices.Concat(slices.Collect(maps.Values(answerChecks))...)))
	mutant := filepath.Join(t.TempDir(), "kubectl-gc")
	if err := buildWithout(t, mutant, filepath.Join("../..", answerCheckDir), answerChecks); err != nil {
		t.Fatal(err)
	}
	asItIs, ok := runTestUnderLies(t, filepath.Join(bin, "kubectl-gc"))
	if !ok || len(asItIs.Failing) > 0 {
		t.Errorf("with the unchanged program, the test fails, so these seeds prove nothing\n%s", asItIs)
	}
	without, ok := runTestUnderLies(t, mutant)
	if ok || without.breaches() == 0 {
		t.Errorf("without %s, the test finds nothing", strings.Join(checks, ", "))
	}
	t.Logf("without the checks of responses:\n%s", without)
	if path := os.Getenv(pageVariable); path != "" {
		figures := struct {
			Checks        []string
			File          string
			Runs, Failing int
			Found         []figure
		}{checks, answerCheckDir, without.Runs, len(without.Failing), slices.Concat(without.Found(), without.FoundUnderLies())}
		if err := docgen.Fill(path, "mutation", mutationSection, figures); err != nil {
			t.Fatal(err)
		}
	}
}

//go:embed lies_mutation.md.tmpl
var mutationSection string

// breaches returns the number of violations.
func (t *statistics) breaches() int {
	return t.WrongDeletes + t.NotBackedUp + t.Panics + t.Hangs + t.Unproven + t.FalseSuccess + t.CreatedTwice
}

// runTestUnderLies runs TestUnderLies with a program, in a separate process. It returns the
// statistics, and whether the test passed.
func runTestUnderLies(t *testing.T, program string) (*statistics, bool) {
	t.Helper()
	counted := filepath.Join(t.TempDir(), "tally.json")
	campaign := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnderLies$", "-test.timeout=1h", "-test.v")
	campaign.Env = append(os.Environ(), programVariable+"="+program, statisticsVariable+"="+counted, seedVariable+"="+mutationSeed,
		runsVariable+"="+cmp.Or(os.Getenv(runsVariable), mutationRuns), mutationVariable+"=", pageVariable+"=")
	out, err := campaign.CombinedOutput()
	content, unread := os.ReadFile(counted)
	counts := statistics{kinds: proxy.Lies(), lies: true}
	if unread == nil {
		unread = json.Unmarshal(content, &counts)
	}
	if unread != nil {
		t.Fatalf("the test did not start: %v\n%s", unread, out)
	}
	return &counts, err == nil
}

// buildWithout builds the program with functions in dir that return at once.
func buildWithout(t *testing.T, program, dir string, functions map[string][]string) error {
	t.Helper()
	temp := t.TempDir()
	replaced := map[string]string{}
	for name, of := range functions {
		file, err := filepath.Abs(filepath.Join(dir, name))
		if err != nil {
			return err
		}
		source, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		changed, err := withoutEffect(source, of...)
		if err != nil {
			return fmt.Errorf("change %s: %w", file, err)
		}
		replaced[file] = filepath.Join(temp, strings.ReplaceAll(name, "/", "_"))
		if err := os.WriteFile(replaced[file], changed, 0o600); err != nil {
			return err
		}
	}
	overlay := filepath.Join(temp, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": replaced})
	if err == nil {
		err = os.WriteFile(overlay, replace, 0o600)
	}
	if err != nil {
		return err
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "-o", program, "github.com/kubectl-gc/kubectl-gc/cmd/kubectl-gc")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build without %v: %w\n%s", functions, err, out)
	}
	return nil
}

// withoutEffect returns the source with functions that return nil at once. The rest of their code
// stays, so that all imports are used.
func withoutEffect(source []byte, functions ...string) ([]byte, error) {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "", source, parser.SkipObjectResolution) // without comments, as they would move
	if err != nil {
		return nil, err
	}
	for _, name := range functions {
		found := false
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Name.Name != name {
				continue
			}
			if !returnsError(f) {
				return nil, fmt.Errorf("%s does not return an error and nothing else", name)
			}
			found = true
			f.Body.List = append([]ast.Stmt{&ast.ReturnStmt{Results: []ast.Expr{ast.NewIdent("nil")}}}, f.Body.List...)
		}
		if !found {
			return nil, fmt.Errorf("there is no function %s", name)
		}
	}
	var out bytes.Buffer
	err = format.Node(&out, files, file)
	return out.Bytes(), err
}

func returnsError(f *ast.FuncDecl) bool {
	results := f.Type.Results
	if results == nil || results.NumFields() != 1 {
		return false
	}
	of, is := results.List[0].Type.(*ast.Ident)
	return is && of.Name == "error"
}

func TestWithoutEffect(t *testing.T) {
	const source = `package p

import "errors"

func one() error {
	return errors.New("one")
}

func (t T) two(n int) (err error) {
	if n > 0 {
		err = errors.New("two")
	}
	return err
}

func three() (int, error) { return 3, nil }

type T struct{}
`
	for name, test := range map[string]struct {
		functions []string
		want      []string
		err       string
	}{
		"one function":                {[]string{"one"}, []string{"return nil\n\treturn errors.New(\"one\")"}, ""},
		"a method":                    {[]string{"two"}, []string{"return nil\n\tif n > 0"}, ""},
		"two":                         {[]string{"one", "two"}, []string{"return nil\n\treturn errors", "return nil\n\tif n"}, ""},
		"a missing function":          {[]string{"one", "none"}, nil, "there is no function none"},
		"a function with two results": {[]string{"three"}, nil, "three does not return an error and nothing else"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := withoutEffect([]byte(source), test.functions...)
			if test.err != "" {
				if err == nil || err.Error() != test.err {
					t.Errorf("got %v, want %s", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(got), want) {
					t.Errorf("it lacks %q:\n%s", want, got)
				}
			}
			if n := strings.Count(string(got), "return nil\n"); n != len(test.functions) {
				t.Errorf("%d functions do nothing:\n%s", n, got)
			}
		})
	}
}
