// Package archtest checks how the house is built: which room may know which.
package archtest

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubectl-gc/kubectl-gc/"

// pure are modules that any package may import: data types and spelling, no
// client, clock or terminal.
var pure = []string{"k8s.io/apimachinery", "sigs.k8s.io/yaml"}

// table is docs/architecture.md as a test: what a package may import of this
// module, and which other modules beside the pure ones. A trailing /... stands
// for all packages below.
var table = map[string]struct {
	own, other []string
}{
	"cmd/kubectl-gc":            {own: []string{"pkg/cli"}, other: []string{"k8s.io/client-go/plugin"}},
	"pkg/object":                {},
	"pkg/reason":                {own: []string{"pkg/object"}},
	"pkg/plugin":                {},
	"pkg/filename":              {},
	"pkg/input":                 {other: []string{"go.yaml.in/yaml/v3", "golang.org/x/text"}},
	"pkg/snapshot":              {own: []string{"pkg/input", "pkg/object", "pkg/reason"}},
	"pkg/snapshot/snapshottest": {own: []string{"pkg/object", "pkg/snapshot"}, other: []string{"pgregory.net/rapid"}},
	"pkg/graph":                 {own: []string{"pkg/object", "pkg/snapshot"}},
	"pkg/collector":             {own: []string{"pkg/object", "pkg/reason", "pkg/snapshot", "pkg/graph"}},
	"pkg/repair":                {own: []string{"pkg/object", "pkg/reason", "pkg/snapshot", "pkg/graph", "pkg/collector"}},
	"pkg/audit":                 {own: []string{"pkg/object", "pkg/reason", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/repair"}},
	"pkg/explain":               {own: []string{"pkg/object", "pkg/reason", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/repair", "pkg/audit", "pkg/plugin"}},
	"pkg/plan":                  {own: []string{"pkg/input", "pkg/object", "pkg/reason", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/repair", "pkg/audit"}},
	"pkg/event":                 {own: []string{"pkg/object", "pkg/reason"}},
	"pkg/restore":               {own: []string{"pkg/object", "pkg/reason", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/audit", "pkg/plan", "pkg/event"}},
	"pkg/execute":               {own: []string{"pkg/object", "pkg/reason", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/repair", "pkg/plan", "pkg/restore", "pkg/event"}},
	"pkg/backup":                {own: []string{"pkg/filename", "pkg/object", "pkg/reason", "pkg/output/escape"}},
	"pkg/output/planview":       {own: []string{"pkg/object", "pkg/reason", "pkg/snapshot", "pkg/collector", "pkg/plan", "pkg/event", "pkg/output/color", "pkg/output/escape", "pkg/output/wording", "pkg/output/table"}},
	"pkg/metaproto":             {own: []string{"pkg/object"}, other: []string{"google.golang.org/protobuf/encoding/protowire"}},
	"pkg/cluster":               {own: []string{"pkg/object", "pkg/snapshot", "pkg/metaproto"}, other: []string{"k8s.io/client-go", "k8s.io/api/apidiscovery", "golang.org/x/sync"}},
	"pkg/redact":                {},
	"pkg/kubeconfig":            {own: []string{"pkg/redact"}, other: []string{"k8s.io/client-go", "github.com/spf13/pflag"}},
	"pkg/manifest":              {own: []string{"pkg/input", "pkg/object", "pkg/redact"}, other: []string{"sigs.k8s.io/kustomize", "golang.org/x/text"}},
	"pkg/output/escape":         {},
	"pkg/output/wording":        {},
	"pkg/output/color":          {own: []string{"pkg/audit"}, other: []string{"github.com/fatih/color"}},
	"pkg/output/table":          {other: []string{"github.com/olekukonko/tablewriter"}},
	"pkg/output/structured":     {own: []string{"pkg/object", "pkg/output/escape"}, other: []string{"k8s.io/cli-runtime/pkg/printers", "github.com/spf13/pflag"}},
	"pkg/output/diagram":        {own: []string{"pkg/object", "pkg/graph", "pkg/output/escape"}},
	"pkg/output/html":           {own: []string{"pkg/object", "pkg/plugin", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/audit", "pkg/plan", "pkg/explain", "pkg/output/escape", "pkg/output/auditreport", "pkg/output/planview", "pkg/output/tree", "pkg/output/explainview"}},
	"pkg/output/sarif":          {own: []string{"pkg/object", "pkg/snapshot", "pkg/audit", "pkg/output/escape"}},
	"pkg/output/prometheus":     {own: []string{"pkg/snapshot", "pkg/audit", "pkg/output/escape"}},
	"pkg/output/auditreport":    {own: []string{"pkg/object", "pkg/snapshot", "pkg/collector", "pkg/audit", "pkg/output/color", "pkg/output/escape", "pkg/output/wording", "pkg/output/table"}},
	"pkg/output/explainview":    {own: []string{"pkg/object", "pkg/collector", "pkg/explain", "pkg/output/color", "pkg/output/escape", "pkg/output/wording"}},
	"pkg/output/tree":           {own: []string{"pkg/object", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/audit", "pkg/output/color", "pkg/output/escape", "pkg/output/wording", "pkg/output/table"}},
	"pkg/cli": {
		own:   []string{"pkg/filename", "pkg/object", "pkg/reason", "pkg/plugin", "pkg/snapshot", "pkg/graph", "pkg/collector", "pkg/repair", "pkg/audit", "pkg/explain", "pkg/plan", "pkg/restore", "pkg/event", "pkg/execute", "pkg/backup", "pkg/kubeconfig", "pkg/manifest", "pkg/cluster", "pkg/redact", "pkg/output/..."},
		other: []string{"github.com/spf13", "k8s.io/klog", "golang.org/x/term"},
	},
}

// silent are packages of the standard library through which a pure package
// would know the world around it.
var silent = []string{"os", "os/exec", "os/signal", "net", "net/http"}

// worldly are the packages that may know the world: its servers, its files.
var worldly = []string{"pkg/cluster", "pkg/kubeconfig", "pkg/manifest", "pkg/backup", "pkg/cli"}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

func list(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", module+"cmd/...", module+"pkg/...").Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			t.Fatalf("go list: %s", failed.Stderr)
		}
		t.Fatal(err)
	}
	var packages []listed
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages = append(packages, p)
	}
}

func TestEveryImportIsInTheTable(t *testing.T) {
	packages := list(t)
	if len(packages) != len(table) {
		t.Errorf("there are %d packages, the table knows %d", len(packages), len(table))
	}
	for _, p := range packages {
		room := strings.TrimPrefix(p.ImportPath, module)
		may, known := table[room]
		if !known {
			t.Errorf("%s is not in the table: which room would it call home?", room)
			continue
		}
		for _, i := range p.Imports {
			if own, isOurs := strings.CutPrefix(i, module); isOurs {
				if !matches(may.own, own) {
					t.Errorf("%s must not import %s", room, own)
				}
				continue
			}
			first, _, _ := strings.Cut(i, "/")
			if strings.Contains(first, ".") && !under(pure, i) && !under(may.other, i) {
				t.Errorf("%s must not import %s", room, i)
			}
		}
	}
}

func TestPurePackagesKnowNothingOfTheWorld(t *testing.T) {
	for _, p := range list(t) {
		room := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(worldly, room) || strings.HasPrefix(room, "cmd/") {
			continue
		}
		for _, i := range p.Imports {
			if slices.Contains(silent, i) {
				t.Errorf("%s imports %s, but only cluster, kubeconfig, manifest, backup, cli and cmd know the world", room, i)
			}
		}
	}
}

func matches(patterns []string, room string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		tree, all := strings.CutSuffix(p, "/...")
		return p == room || all && strings.HasPrefix(room, tree+"/")
	})
}

func under(modules []string, i string) bool {
	return slices.ContainsFunc(modules, func(m string) bool { return i == m || strings.HasPrefix(i, m+"/") })
}

// What reads without end, or begins what goes on by itself, must end it.
func TestPackagesThatKnowTheWorldLookForLeaks(t *testing.T) {
	look := append([]string{"pkg/execute", "pkg/input", "pkg/metaproto"}, worldly...)
	for _, p := range list(t) {
		room := strings.TrimPrefix(p.ImportPath, module)
		if slices.Contains(look, room) && !slices.Contains(append(p.TestImports, p.XTestImports...), "go.uber.org/goleak") {
			t.Errorf("no test of %s imports goleak", room)
		}
	}
}

// TestPurePackagesReadNoClock looks for what an import does not show.
func TestPurePackagesReadNoClock(t *testing.T) {
	clock := regexp.MustCompile(`time\.(Now|Since|Until|After|Sleep)\(`)
	err := filepath.WalkDir("../../pkg", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "cli" || d.Name() == "cluster") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if found := clock.Find(source); found != nil {
			t.Errorf("%s calls %s: only cli knows the clock", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
