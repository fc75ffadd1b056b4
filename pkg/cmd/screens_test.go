package cmd_test

import (
	"bytes"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// go test ./pkg/cmd -run Screen -update rewrites the screens in testdata.
var update = flag.Bool("update", false, "rewrite the expected screens")

// onScreen runs a command line at terminals of so many columns, and returns what stands on them.
func onScreen(t *testing.T, columns int, args ...string) string {
	t.Helper()
	var screen bytes.Buffer
	width := func() int { return columns }
	cmd.Main(t.Context(), args, cli.Streams{
		In: strings.NewReader(""), Out: &screen, Err: &screen, OutWidth: width, ErrWidth: width, Height: func() int { return 0 },
		Getenv: func(string) string { return "" }, Now: func() time.Time { return time.Date(2026, 11, 20, 10, 51, 0, 0, time.UTC) },
	})
	return screen.String()
}

// ofDemo are command lines about the cluster of docs/demo, by the name of their screen.
var ofDemo = map[string][]string{
	"overview":  {},
	"audit":     {"audit"},
	"each":      {"audit", "--group-by", "none"},
	"stuck":     {"stuck"},
	"why":       {"why", "statefulset/redis-exporter", "-n", "monitoring"},
	"held":      {"why", "job/import", "configmap/shared", "-n", "shop"},
	"tree":      {"tree", "-A"},
	"delete":    {"delete", "deployment/web", "-n", "shop", "--dry-run=client"},
	"namespace": {"delete", "namespace/monitoring", "--dry-run=client"},
	"finalizer": {"finalizer", "remove", "persistentvolumeclaim/import-scratch", "example.com/hold", "-n", "shop", "--dry-run=client"},
	"collect":   {"collect", "--dry-run=client"},
	"repair":    {"repair", "-A", "--dry-run=client"},
	"error":     {"delete", "deployment/wbe", "-n", "shop", "--dry-run=client"},
}

// demo returns the screen of a command line about the cluster of docs/demo, which is the working
// directory.
func demo(t *testing.T, columns int, args ...string) string {
	t.Helper()
	return onScreen(t, columns, append(args, "--from", "cluster.json")...)
}

func TestEveryViewFitsTheTerminal(t *testing.T) {
	newHome(t)
	t.Chdir(filepath.FromSlash("../../docs/demo"))
	for name, args := range ofDemo {
		t.Run(name, func(t *testing.T) {
			requireFits(t, func(columns int) string { return demo(t, columns, slices.Clone(args)...) })
			colored := demo(t, 80, append(slices.Clone(args), "--color", "always")...)
			plain := regexp.MustCompile(`\x1b\[[0-9;]*m`).ReplaceAllString(colored, "")
			plain = strings.ReplaceAll(plain, " --color always", "")
			if diff := cmp.Diff(demo(t, 80, slices.Clone(args)...), plain); diff != "" {
				t.Errorf("in colors the layout is another (-without +with)\n%s", diff)
			}
		})
	}
	for _, args := range [][]string{{"trace"}, {"trace", "statefulset/redis-exporter", "-n", "monitoring"}, {"trace", "pod/web-77bbc49f4c-8lhm2"}, {"trace", "pod/nope"}} {
		args = append(args, "--audit-log", "audit.log", "--controller-log", "kube-controller-manager.log", "--before", "cluster.json")
		t.Run(strings.Join(args[:2], " "), func(t *testing.T) {
			requireFits(t, func(columns int) string { return onScreen(t, columns, slices.Clone(args)...) })
		})
	}
	for name, commands := range map[string][][]string{
		"the overview": {{}},
		"doctor":       {{"doctor", "--settle", "1ms"}},
		"a run":        {{"collect", "--yes"}},
		"the backups":  {{"collect", "--yes"}, {"restore"}},
		"no objection": {{"delete", "configmap/settings", "-n", "shop", "--client-side", "--yes"}},
	} {
		t.Run(name, func(t *testing.T) { requireFits(t, func(columns int) string { return live(t, columns, commands...) }) })
	}
}

// live runs command lines one after the other on the same small cluster, and returns the screen of
// the last one.
func live(t *testing.T, columns int, commands ...[]string) (screen string) {
	held := configMap("held-by-the-controller-of-another-team", "absent")
	held.Finalizers = []string{"orders.example.com/wait-for-the-archive"}
	refused := configMap("settings-of-an-installation-with-a-long-name", "absent")
	s := newAPI(held, refused, configMap("settings", "absent"))
	s.Lie(func(r *http.Request) bool {
		return r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, refused.Name)
	}, func(w http.ResponseWriter, r *http.Request) {
		apiserver.RespondError(w, r, apierrors.NewForbidden(apiserver.ConfigMaps.GroupResource(), refused.Name, fmt.Errorf("an admission webhook of the platform team protects it")))
	})
	config := fmt.Sprintf("apiVersion: v1\nkind: Config\ncurrent-context: prod\n"+
		"clusters: [{name: prod, cluster: {server: %q}}]\ncontexts: [{name: prod, context: {cluster: prod}}]\n", s.Listen(t))
	newHome(t)
	if err := os.WriteFile(os.Getenv("KUBECONFIG"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range commands {
		screen = onScreen(t, columns, args...)
	}
	return changing.ReplaceAllString(screen, "…")
}

// changing is what differs from run to run.
var changing = regexp.MustCompile(`127\.0\.0\.1:[0-9]+|\b[0-9a-f]{16}\b|/\S*/.kube/gc-backup|\b[0-9.]+m?s\b`)

// requireFits requires that a screen fits terminals of usual widths, and says the same on each.
func requireFits(t *testing.T, screen func(columns int) string) {
	t.Helper()
	whole := screen(0)
	for _, columns := range []int{60, 80, 90, 100, 120, 200} {
		got := screen(columns)
		for line := range strings.Lines(got) {
			line = strings.TrimSuffix(line, "\n")
			if wrap.Width(line) > columns && !unbreakable.MatchString(line) {
				t.Errorf("at %d columns: line too long: %s", columns, line)
			}
		}
		if diff := cmp.Diff(wordsOf(whole), wordsOf(got)); diff != "" {
			t.Errorf("at %d columns there are other words (-without a limit +got)\n%s", columns, diff)
		}
		for _, command := range commandLine.FindAllString(whole, -1) {
			if !strings.Contains(got, command) {
				t.Errorf("at %d columns the command is broken: %s", columns, command)
			}
		}
		requireBranches(t, got)
		if t.Failed() {
			t.Fatalf("at %d columns:\n%s", columns, got)
		}
	}
}

var (
	unbreakable = regexp.MustCompile(`(^|  |─ )(\S+|kubectl .*)$`) // a word or a command at the end, in its column
	commandLine = regexp.MustCompile(`kubectl gc [^(\n]*[^(\n ]`)
	title       = regexp.MustCompile(`^[A-Z]{2,}$`) // of a column, which may be missing
)

// wordsOf returns the words of a screen, in alphabetical order, without the titles and branches.
func wordsOf(screen string) []string {
	words := strings.Fields(strings.Map(func(r rune) rune {
		if strings.ContainsRune("│├└─", r) {
			return ' '
		}
		return r
	}, screen))
	for i, word := range words {
		words[i] = strings.TrimSuffix(word, ":")
	}
	slices.Sort(words)
	return slices.DeleteFunc(words, title.MatchString)
}

// requireBranches requires that the lines of trees have no gaps.
func requireBranches(t *testing.T, screen string) {
	t.Helper()
	var lines [][]rune
	for line := range strings.Lines(screen) {
		lines = append(lines, []rune(line))
	}
	at := func(line, column int) string {
		if line >= len(lines) || column >= len(lines[line]) {
			return " "
		}
		return string(lines[line][column])
	}
	for i, line := range lines {
		for k, r := range line {
			if strings.ContainsRune("│├└", r) && (i == 0 || strings.Contains(" \n└─", at(i-1, k))) {
				t.Errorf("the branch in column %d comes from nowhere: %s", k, string(line))
			}
			if strings.ContainsRune("│├", r) && !strings.Contains("│├└", at(i+1, k)) {
				t.Errorf("the branch in column %d ends: %s", k, string(line))
			}
		}
	}
}

// The screens that most users see, to read.
func TestScreens(t *testing.T) {
	newHome(t)
	folder, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.FromSlash("../../docs/demo"))
	for _, columns := range []int{80, 120} {
		compare := func(name, got string) {
			t.Helper()
			file := filepath.Join(folder, fmt.Sprintf("%s_%d.txt", name, columns))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", file, diff)
			}
		}
		for _, name := range []string{"overview", "audit", "why", "delete", "collect", "stuck"} {
			compare(name, demo(t, columns, slices.Clone(ofDemo[name])...))
		}
		compare("doctor", live(t, columns, []string{"doctor", "--settle", "1ms"}))
	}
}
