// Package archtest checks the architecture: which package may import which, what is linked, and
// that pages and code agree.
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

// pure are modules that every package may import: data types and YAML, with no access to a
// client, a clock or a terminal.
var pure = []string{"k8s.io/apimachinery", "sigs.k8s.io/yaml"}

// allowed are the imports that a package may have: packages below pkg, and modules or packages of
// others in addition to the pure ones.
type allowed struct{ own, other string }

// table has every package of the program.
var table = map[string]allowed{
	"cmd/kubectl-gc":              {own: "cli cmd", other: "k8s.io/client-go"},
	"pkg/audit":                   {own: "collector graph object reason repair simulate snapshot terminating"},
	"pkg/backup":                  {own: "event object output/escape"},
	"pkg/cli":                     {own: "audit backup cluster/client cluster/discovery cluster/health cluster/read cluster/scan cluster/write collector docs/demo event execute execute/planrun graph input kubeconfig object output/auditreport output/color output/escape output/planview output/structured output/wording output/wrap plan plugin reason redact simulate snapshot terminating usage", other: "github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term golang.org/x/text golang.org/x/time k8s.io/klog"},
	"pkg/cli/clitest":             {own: "cli plugin", other: "github.com/spf13/cobra"},
	"pkg/cluster/canary":          {own: "cluster/client cluster/write object reason snapshot"},
	"pkg/cluster/client":          {own: "metaproto object reason snapshot", other: "golang.org/x/sync k8s.io/client-go"},
	"pkg/cluster/clustertest":     {own: "cluster/client snapshot test/apiserver", other: "k8s.io/client-go"},
	"pkg/cluster/discovery":       {own: "cluster/client object snapshot", other: "k8s.io/api/apidiscovery"},
	"pkg/cluster/health":          {own: "cluster/client cluster/discovery cluster/lease cluster/write object reason redact snapshot", other: "k8s.io/client-go"},
	"pkg/cluster/lease":           {own: "cluster/client object snapshot", other: "k8s.io/client-go"},
	"pkg/cluster/monitor":         {own: "cluster/client cluster/discovery cluster/scan object snapshot", other: "golang.org/x/sync k8s.io/client-go k8s.io/klog"},
	"pkg/cluster/read":            {own: "cluster/client cluster/lease cluster/scan object reason snapshot"},
	"pkg/cluster/scan":            {own: "cluster/client cluster/discovery object snapshot"},
	"pkg/cluster/write":           {own: "cluster/client cluster/discovery cluster/scan object snapshot", other: "k8s.io/client-go"},
	"pkg/cmd":                     {own: "cli cmd/audit cmd/collect cmd/completion cmd/controller cmd/delete cmd/doctor cmd/explain cmd/finalizer cmd/overview cmd/repair cmd/restore cmd/snapshot cmd/stuck cmd/trace cmd/tree cmd/version cmd/why output/wrap plugin", other: "github.com/spf13/cobra"},
	"pkg/cmd/audit":               {own: "audit cli cluster/client cluster/scan collector graph input object output/auditreport output/escape output/prometheus output/sarif output/structured snapshot terminating", other: "github.com/spf13/cobra"},
	"pkg/cmd/collect":             {own: "audit cli cluster/scan collector graph plan simulate snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/completion":          {own: "cli plugin", other: "github.com/spf13/cobra"},
	"pkg/cmd/controller":          {own: "backup cli cluster/client cluster/health cluster/lease cluster/monitor cluster/scan controller event graph object output/escape output/planview output/wording plan reason snapshot", other: "github.com/prometheus/client_golang github.com/spf13/cobra"},
	"pkg/cmd/delete":              {own: "cli cluster/client cluster/read cluster/scan collector graph manifest object output/escape output/wording plan simulate snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/doctor":              {own: "audit cli cluster/canary cluster/client cluster/health cluster/scan collector doctor graph object output/doctorview output/escape reason redact snapshot terminating", other: "github.com/spf13/cobra"},
	"pkg/cmd/explain":             {own: "audit cli docs output/markdown plugin", other: "github.com/spf13/cobra"},
	"pkg/cmd/finalizer":           {own: "cli collector graph object output/escape output/wording plan simulate snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/overview":            {own: "audit cli cluster/client cluster/health cluster/scan collector graph output/overviewview overview plugin reason terminating", other: "github.com/spf13/cobra"},
	"pkg/cmd/repair":              {own: "audit cli cluster/scan collector graph object output/escape output/wording plan reason repair snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/restore":             {own: "backup cli cluster/client cluster/read cluster/scan cluster/write collector event execute execute/recreate object output/escape output/table output/wording plan reason restore snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/snapshot":            {own: "cli cluster/scan output/structured snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/stuck":               {own: "audit cli cluster/client cluster/health cluster/read cluster/scan cmd/why collector graph object output/auditreport snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/trace":               {own: "backup cli cluster/read cluster/scan object output/escape output/traceview output/wording snapshot trace trace/logs", other: "github.com/spf13/cobra"},
	"pkg/cmd/tree":                {own: "cli cluster/client cluster/read cluster/scan collector graph object output/escape output/tree reason snapshot", other: "github.com/spf13/cobra"},
	"pkg/cmd/version":             {own: "cli collector", other: "github.com/spf13/cobra"},
	"pkg/cmd/why":                 {own: "cli cluster/client cluster/health cluster/read cluster/scan collector explain graph object output/explainview snapshot terminating", other: "github.com/spf13/cobra"},
	"pkg/collector":               {own: "graph object reason snapshot"},
	"pkg/collector/collectortest": {own: "collector graph object snapshot snapshot/snapshottest"},
	"pkg/controller":              {own: "cluster/client cluster/monitor cluster/write collector event execute execute/planrun graph object plan simulate snapshot", other: "k8s.io/client-go"},
	"pkg/doctor":                  {own: "audit collector graph object plugin reason snapshot"},
	"pkg/event":                   {own: "object reason"},
	"pkg/execute":                 {own: "event object snapshot"},
	"pkg/execute/internal/runner": {own: "event execute object plan reason snapshot"},
	"pkg/execute/planrun":         {own: "collector event execute execute/internal/runner graph object plan reason repair simulate snapshot", other: "golang.org/x/sync"},
	"pkg/execute/recreate":        {own: "collector event execute execute/internal/runner object plan reason restore snapshot"},
	"pkg/explain":                 {own: "collector graph object plugin reason repair simulate snapshot terminating"},
	"pkg/gctest":                  {own: "cluster/client cluster/discovery cluster/health cluster/monitor cluster/scan collector controller event execute graph plan reason", other: "k8s.io/client-go"},
	"pkg/graph":                   {own: "object snapshot"},
	"pkg/input":                   {other: "go.yaml.in/yaml/v3 golang.org/x/text"},
	"pkg/kubeconfig":              {own: "redact", other: "github.com/spf13/pflag k8s.io/client-go"},
	"pkg/manifest":                {own: "input object redact"},
	"pkg/metaproto":               {own: "object", other: "google.golang.org/protobuf/encoding"},
	"pkg/object":                  {},
	"pkg/output/auditreport":      {own: "audit collector object output/color output/escape output/table output/wording output/wrap reason snapshot terminating"},
	"pkg/output/color":            {own: "audit collector", other: "github.com/fatih/color"},
	"pkg/output/doctorview":       {own: "doctor output/color output/escape output/table"},
	"pkg/output/escape":           {},
	"pkg/output/explainview":      {own: "collector explain object output/color output/escape output/wording output/wrap"},
	"pkg/output/markdown":         {own: "output/table output/wrap"},
	"pkg/output/overviewview":     {own: "audit collector object output/auditreport output/color output/escape output/wording overview terminating"},
	"pkg/output/planview":         {own: "collector event object output/color output/escape output/table output/wording output/wrap plan reason simulate"},
	"pkg/output/prometheus":       {own: "audit output/escape snapshot terminating"},
	"pkg/output/sarif":            {own: "audit object output/escape snapshot"},
	"pkg/output/structured":       {own: "object output/escape", other: "github.com/spf13/pflag k8s.io/cli-runtime"},
	"pkg/output/table":            {own: "output/wrap", other: "github.com/olekukonko/tablewriter"},
	"pkg/output/traceview":        {own: "output/color output/escape output/table output/wording reason trace"},
	"pkg/output/tree":             {own: "collector graph object output/color output/escape output/table output/wording reason snapshot"},
	"pkg/output/wording":          {own: "collector object output/escape simulate"},
	"pkg/output/wrap":             {other: "github.com/olekukonko/tablewriter"},
	"pkg/overview":                {own: "audit collector explain graph object reason snapshot terminating"},
	"pkg/plan":                    {own: "collector graph input object reason repair simulate snapshot terminating"},
	"pkg/plugin":                  {},
	"pkg/reason":                  {own: "object plugin"},
	"pkg/redact":                  {},
	"pkg/repair":                  {own: "collector graph object reason snapshot"},
	"pkg/restore":                 {own: "collector event graph object plan reason snapshot"},
	"pkg/simulate":                {own: "collector graph object reason snapshot"},
	"pkg/snapshot":                {own: "input object reason"},
	"pkg/snapshot/snapshottest":   {own: "graph object snapshot", other: "pgregory.net/rapid"},
	"pkg/terminating":             {own: "collector graph object reason simulate snapshot"},
	"pkg/trace":                   {own: "collector graph object reason snapshot"},
	"pkg/trace/logs":              {own: "input object snapshot trace", other: "github.com/go-json-experiment/json"},
	"pkg/usage":                   {own: "graph object reason"},
}

// outsideWorld are the packages of the standard library that a pure package must not import.
var outsideWorld = []string{"os", "os/exec", "os/signal", "net", "net/http"}

// impure are the packages that may use files, processes or the network, with all packages below
// them.
var impure = []string{"pkg/cluster", "pkg/controller", "pkg/gctest", "pkg/kubeconfig", "pkg/manifest", "pkg/backup", "pkg/cli", "pkg/cmd", "cmd"}

type listed struct {
	ImportPath                         string
	Imports, TestImports, XTestImports []string
}

// path returns the import path within this module.
func (l listed) path() string { return strings.TrimPrefix(l.ImportPath, module) }

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
		t.Errorf("there are %d packages, and %d in the table", len(packages), len(table))
	}
	for _, p := range packages {
		may, known := table[p.path()]
		if !known {
			t.Errorf("%s is not in the table", p.path())
			continue
		}
		for _, i := range p.Imports {
			if own, isOurs := strings.CutPrefix(i, module); isOurs {
				if !slices.Contains(strings.Fields(may.own), strings.TrimPrefix(own, "pkg/")) {
					t.Errorf("%s must not import %s", p.path(), own)
				}
				continue
			}
			first, _, _ := strings.Cut(i, "/")
			if strings.Contains(first, ".") && !under(pure, i) && !under(strings.Fields(may.other), i) {
				t.Errorf("%s must not import %s", p.path(), i)
			}
		}
	}
}

func TestPurePackagesImportNoFilesProcessesOrNetwork(t *testing.T) {
	for _, p := range list(t) {
		if under(impure, p.path()) {
			continue
		}
		for _, i := range p.Imports {
			if slices.Contains(outsideWorld, i) {
				t.Errorf("%s imports %s; only these packages may: %s", p.path(), i, strings.Join(impure, ", "))
			}
		}
	}
}

// under reports whether a path is one of these roots, or below one.
func under(roots []string, path string) bool {
	return slices.ContainsFunc(roots, func(root string) bool { return path == root || strings.HasPrefix(path, root+"/") })
}

// TestPackagesThatStartGoroutinesCheckForLeaks requires goleak in the tests of packages that read
// streams or start goroutines.
func TestPackagesThatStartGoroutinesCheckForLeaks(t *testing.T) {
	start := []string{"pkg/execute/planrun", "pkg/execute/recreate", "pkg/input", "pkg/metaproto", "pkg/cluster/client", "pkg/cluster/discovery", "pkg/cluster/scan", "pkg/cluster/monitor", "pkg/cluster/read", "pkg/cluster/write", "pkg/controller", "pkg/gctest", "pkg/kubeconfig", "pkg/manifest", "pkg/backup", "pkg/cli", "pkg/cmd"}
	for _, p := range list(t) {
		tests := slices.Concat(p.TestImports, p.XTestImports)
		if slices.Contains(start, p.path()) && !slices.Contains(tests, "go.uber.org/goleak") {
			t.Errorf("no test of %s imports goleak", p.path())
		}
	}
}

// TestPurePackagesReadNoClock checks calls, because imports do not show them.
func TestPurePackagesReadNoClock(t *testing.T) {
	clock := regexp.MustCompile(`time\.(Now|Since|Until|After|Sleep)\(`)
	err := filepath.WalkDir("../../pkg", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && slices.Contains([]string{"cli", "cluster", "controller", "gctest"}, d.Name()) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		if found := clock.Find(source); found != nil {
			t.Errorf("%s calls %s: only cli, cluster, controller and gctest read the clock", path, found)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
