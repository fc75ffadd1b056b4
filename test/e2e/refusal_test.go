package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestUsageErrorIsOneLine(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("refused")
	s.create(configMap(ns, "there"))
	snapshot := filepath.Join(t.TempDir(), "snapshot.json")
	s.gc("snapshot", "-n", ns, "-o", snapshot).exits(t, 0)
	whole, err := os.ReadFile(snapshot)
	s.must(err)
	zipped := filepath.Join(t.TempDir(), "snapshot.gz")
	s.gc("snapshot", "-n", ns, "-o", zipped).exits(t, 0)
	zip, err := os.ReadFile(zipped)
	s.must(err)
	closed := fmt.Sprintf("--server=https://127.0.0.1:%d", s.unusedPort())
	for name, c := range map[string]struct {
		args  []string
		words []string
	}{
		"an unknown command":                        {[]string{"collekt"}, []string{`"collekt"`}},
		"an unknown flag":                           {[]string{"audit", "--everything"}, []string{"--everything"}},
		"an additional argument":                    {[]string{"audit", "pods"}, []string{`"pods"`}},
		"an unknown type":                           {[]string{"tree", "nonsense/x", "-n", ns}, []string{`"nonsense"`}},
		"an unknown type in TYPE/NAME":              {[]string{"tree", "deployments.v9.apps", "web", "-n", ns}, []string{`"deployments.v9.apps"`}},
		"an unknown rule":                           {[]string{"audit", "--rule", "lost-owner"}, []string{`"lost-owner"`, "missing-owner"}},
		"an unknown severity":                       {[]string{"audit", "--fail-on=grave"}, []string{`"grave"`, "warning"}},
		"an unknown format":                         {[]string{"audit", "-o", "xml"}, []string{`"xml"`, "sarif"}},
		"an unknown format of a tree":               {[]string{"tree", "-o", "sarif", "-n", ns}, []string{`"sarif"`, "mermaid"}},
		"an invalid template":                       {[]string{"audit", "-o", "jsonpath={.findings[}"}, []string{"jsonpath"}},
		"an invalid selector":                       {[]string{"audit", "-l", "a in b"}, []string{"--selector"}},
		"a selector with a name":                    {[]string{"tree", "cm/there", "-l", "a=b", "-n", ns}, []string{"--selector"}},
		"a namespace and --all-namespaces":          {[]string{"audit", "-n", ns, "-A"}, []string{"-n", "-A"}},
		"a namespace and --all-namespaces for tree": {[]string{"tree", "-A", "-n", ns}, []string{"-n", "-A"}},
		"an invalid timeout":                        {[]string{"audit", "--request-timeout=soon"}, []string{`"soon"`}},
		"a negative depth":                          {[]string{"tree", "--depth=-1", "-n", ns}, []string{"--depth"}},
		"an object that does not exist":             {[]string{"tree", "configmap/missing", "-n", ns}, []string{"configmaps/missing", ns}},
		"an unknown UID":                            {[]string{"tree", "--uid", "none"}, []string{`"none"`}},
		"a name with a path in it":                  {[]string{"tree", "configmap/../secrets", "-n", ns}, []string{"../secrets"}},
		"a missing file":                            {[]string{"audit", "--from", filepath.Join(t.TempDir(), "none")}, []string{"none"}},
		"a folder in place of a file":               {[]string{"audit", "--from", t.TempDir()}, []string{"directory"}},
		"a truncated snapshot":                      {[]string{"audit", "--from", s.writeFile("cut.json", string(whole[:len(whole)/2]))}, []string{"truncated"}},
		"a truncated zip":                           {[]string{"audit", "--from", s.writeFile("cut.gz", string(zip[:len(zip)/2]))}, []string{"truncated"}},
		"an empty file":                             {[]string{"tree", "--from", s.writeFile("empty", "")}, []string{"empty"}},
		"a snapshot of a later version":             {[]string{"audit", "--from", s.writeFile("new.json", strings.Replace(string(whole), "kubectl-gc.dev/v1alpha1", "kubectl-gc.dev/v2", 1))}, []string{"newer", "v2"}},
		"a single manifest in place of a list":      {[]string{"audit", "--from", s.writeFile("m.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: x\n")}, []string{"manifest"}},
		"a picture in place of a snapshot":          {[]string{"audit", "--from", s.writeFile("x.png", "\x89PNG\r\n\x1a\n\x00\x1b[31m")}, nil},
		"no cluster":                                {[]string{"audit", closed}, []string{"127.0.0.1"}},
		"no cluster for tree":                       {[]string{"tree", "-A", closed}, []string{"127.0.0.1"}},
		"no cluster for collect":                    {[]string{"collect", "--yes", closed}, []string{"127.0.0.1"}},
		"an unknown context":                        {[]string{"audit", "--context=none"}, []string{"none"}},
		"a missing kubeconfig":                      {[]string{"tree", "--kubeconfig=/does/not/exist"}, []string{"/does/not/exist"}},
		"a snapshot in a missing folder":            {[]string{"snapshot", "-n", ns, "-o", "/does/not/exist/x"}, []string{"/does/not/exist"}},
		"a snapshot without a file":                 {[]string{"snapshot"}, []string{"-o"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			r := s.gc(c.args...).exits(t, 2).warns(t, c.words...)
			if r.Stdout != "" {
				t.Errorf("there is output: %s", short(r.Stdout))
			}
			lines := strings.Split(strings.TrimSuffix(r.Stderr, "\n"), "\n")
			if !strings.HasPrefix(lines[0], "error: ") || len(lines) > 2 {
				t.Errorf("not one line and a hint: %s", r.Stderr)
			}
			if len(lines) == 2 && !strings.HasPrefix(lines[1], "hint: ") && !strings.HasPrefix(lines[1], "See '") {
				t.Errorf("the second line is not a hint: %s", lines[1])
			}
			if err := safeForTerminal(r.Stderr); err != nil {
				t.Errorf("stderr has %v", err)
			}
			if r.Took > 10*time.Second {
				t.Errorf("it takes %s", r.Took)
			}
		})
	}
}

func TestInterruptEndsAStalledScan(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"audit":    {"audit"},
		"tree":     {"tree", "-A"},
		"snapshot": {"snapshot", "-o", "-"},
		"collect":  {"collect", "--yes"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			f := s.throughProxy(func(http.Handler) []fault { return []fault{{listOf("secrets"), stall}} })
			ctx, cancel := context.WithTimeout(t.Context(), waitTimeout)
			defer cancel()
			var stdout, stderr bytes.Buffer
			cmd := exec.CommandContext(ctx, filepath.Join(bin, "kubectl-gc"), args...)
			cmd.Env, cmd.Stdout, cmd.Stderr = f.env, &stdout, &stderr
			s.must(cmd.Start())
			s.await("the scan to stall", func(context.Context) (bool, error) { return len(f.matching(listOf("secrets"))) > 0, nil })
			begun := time.Now()
			s.must(cmd.Process.Signal(os.Interrupt))
			err := cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 130 {
				t.Errorf("it ends with %v, want exit status 130: %s", err, &stderr)
			}
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("it takes %s", took)
			}
			if stdout.Len() > 0 || strings.Count(stderr.String(), "\n") != 1 || !strings.Contains(stderr.String(), "interrupted") {
				t.Errorf("stdout %q, stderr %q", &stdout, &stderr)
			}
		})
	}
}

func TestRequestsAreLoggedOnlyOnDemand(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("log")
	s.create(configMap(ns, "there"))
	f := s.throughProxy(func(through http.Handler) []fault { return []fault{{listOf("secrets"), truncateBody(through)}} })
	for name, c := range map[string]struct {
		args   []string
		logged bool
	}{
		"not by default, not even failed requests": {nil, false},
		"with -v=6": {[]string{"-v=6"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.gc(append([]string{"audit", "-n", ns, "-o", "name"}, c.args...)...).exits(t, 0).warns(t, "secrets")
			if logged := strings.Contains(r.Stderr, ".go:"); logged != c.logged {
				t.Errorf("logged: %t, want %t\n%s", logged, c.logged, r.Stderr)
			}
		})
	}
}
