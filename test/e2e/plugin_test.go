package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestKubectlFindsThePlugin(t *testing.T) {
	s := newScene(t)
	s.kubectl("plugin", "list").exits(t, 0).shows(t, filepath.Join(bin, "kubectl-gc"))
	for _, args := range [][]string{{"gc", "--help"}, {"gc", "tree", "-h"}} {
		r := s.kubectl(args...).exits(t, 0)
		r.shows(t, "Usage:\n  kubectl "+strings.Join(args[:len(args)-1], " "))
		if strings.Contains(strings.ReplaceAll(r.Stdout, "kubectl-gc.dev", ""), "kubectl-gc ") {
			t.Errorf("kubectl %s calls it kubectl-gc: %s", strings.Join(args, " "), r.Stdout)
		}
	}
}

func TestThroughKubectlGivesSameResult(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("plugin")
	orphans := s.createGarbage(ns, 2)
	s.grant("alice", ns, []any{""}, []any{"configmaps"}, []any{"list"})
	digest := s.tool().plan("-n", ns).Digest
	for name, c := range map[string]struct {
		args []string
		code int
	}{
		"findings":                   {[]string{"audit", "-n", ns, "-o", "json"}, 1},
		"an error":                   {[]string{"tree", "nonsense/x", "-n", ns}, 2},
		"another user, by context":   {[]string{"audit", "-n", ns, "-o", "json", "--strict", "--context", s.controlPlane.Context("alice")}, 3},
		"another user, impersonated": {[]string{"audit", "-n", ns, "-o", "name", "--strict", "--as=alice"}, 3},
		"a server-side dry run":      {[]string{"collect", "-n", ns, "--dry-run=server", "--as=admin", "--as-group=system:masters"}, 0},
		"without confirmation":       {[]string{"collect", "-n", ns}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			direct := s.gc(c.args...).exits(t, c.code)
			plugin := s.kubectl(append([]string{"gc"}, c.args...)...).exits(t, c.code)
			if diff := cmp.Diff([]string{direct.Stdout, direct.Stderr}, []string{plugin.Stdout, plugin.Stderr}); diff != "" {
				t.Errorf("run directly (-) and by kubectl (+):\n%s", diff)
			}
		})
	}
	s.requireUnchanged(orphans...)
	s.kubectl("gc", "collect", "-n", ns, "--confirm", digest).exits(t, 0).shows(t, "deleted 2 in ")
	s.requireGone(orphans...)
}

// kubectlWithCompletion returns kubectl with the completion shim that the program installs in
// PATH.
func (s *scene) kubectlWithCompletion() tool {
	s.Helper()
	shims := s.TempDir()
	s.kubectl("gc", "completion", "--install-shim", shims).exits(s, 0)
	t := s.tool()
	t.env = append(t.env, "PATH="+strings.Join([]string{shims, bin, filepath.Dir(s.controlPlane.KubectlPath), os.Getenv("PATH")}, string(os.PathListSeparator)))
	return t
}

// completions returns the words that kubectl offers after `kubectl gc …`, without their
// descriptions, and the directive. Standard error may contain only kubectl's own output.
func (t tool) completions(typed ...string) (words []string, directive string) {
	t.Helper()
	r := t.exec(t.controlPlane.KubectlPath, append([]string{"__complete", "gc"}, typed...)...).exits(t, 0)
	ended := 0
	for line := range strings.Lines(r.Stderr) {
		if strings.HasPrefix(line, "Completion ended with directive: ") {
			ended++
		} else if !strings.HasPrefix(line, "[Debug] ") {
			t.Errorf("kubectl gc %s is not silent: %s", strings.Join(typed, " "), line)
		}
	}
	if ended != 1 {
		t.Errorf("kubectl gc %s: %d completions have ended", strings.Join(typed, " "), ended)
	}
	for line := range strings.Lines(r.Stdout) {
		word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		words = append(words, word)
	}
	last := len(words) - 1
	return words[:last], words[last]
}

// The words for each command are tested from a snapshot, in test/script.
func TestKubectlCompletesThePlugin(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("complete")
	s.create(configMap(ns, "alpha"))
	s.create(configMap(ns, "beta"))
	s.create(secret(ns, "token"))
	role := s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", ns+":reader"))
	s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", ns+"$(touch pwned)"))
	s.grant("alice", ns, []any{""}, []any{"secrets"}, []any{"list"})
	kubectl := s.kubectlWithCompletion()
	for name, c := range map[string]struct {
		typed     []string
		offered   []string // all of them
		directive string
	}{
		"commands":                               {[]string{"re"}, []string{"repair", "restore"}, ":4"},
		"types":                                  {[]string{"tree", "dep"}, []string{"deployments.apps"}, ":4"},
		"names of two types":                     {[]string{"why", "-n", ns, "cm,secrets", ""}, []string{"alpha", "beta", "token"}, ":4"},
		"names not yet on the command line":      {[]string{"tree", "-n", ns, "configmap", "alpha", ""}, []string{"beta"}, ":4"},
		"another TYPE/":                          {[]string{"why", "-n", ns, "cm/alpha", "configm"}, []string{"configmaps/"}, ":6"},
		"names with shell metacharacters":        {[]string{"why", "clusterrole/" + ns}, []string{"clusterrole/" + role.GetName()}, ":4"},
		"in another context, with permission":    {[]string{"tree", "--context", s.controlPlane.Context("alice"), "-n", ns, "secret", ""}, []string{"token"}, ":4"},
		"in another context, without permission": {[]string{"tree", "--context", s.controlPlane.Context("alice"), "-n", ns, "configmap", ""}, nil, ":4"},
		"no server answers":                      {[]string{"tree", "--server=https://127.0.0.1:1", ""}, nil, ":4"},
		"files":                                  {[]string{"audit", "--from", ""}, []string{"json", "yaml", "yml", "gz"}, ":8"},
	} {
		t.Run(name, func(t *testing.T) {
			kubectl := kubectl
			kubectl.scene = s.forSubtest(t)
			words, directive := kubectl.completions(c.typed...)
			if diff := cmp.Diff(strings.Join(c.offered, "\n"), strings.Join(words, "\n")); diff != "" || directive != c.directive {
				t.Errorf("the directive is %s, want %s; (-want +offered):\n%s", directive, c.directive, diff)
			}
		})
	}
}

// TestBashCompletesThePlugin calls the completion functions that kubectl and the program print,
// as bash does when Tab is pressed.
func TestBashCompletesThePlugin(t *testing.T) {
	shellCompletes(t, "bash", []string{"--noprofile", "--norc"}, func(script, line string) string {
		words := strings.Fields(line)
		return fmt.Sprintf(`
			compopt() { :; } # there is no line that is edited
			_get_comp_words_by_ref() { cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=("${COMP_WORDS[@]}") cword=$COMP_CWORD; }
			__ltrim_colon_completions() { :; }
			source <(%s completion bash)
			COMP_WORDS=(%s) COMP_CWORD=%d COMP_LINE=%q COMP_POINT=%d COMP_TYPE=9
			__start_%s
			for word in "${COMPREPLY[@]}"; do echo ${word%%%% *}; done`,
			script, line, len(words)-1, line, len(line), words[0])
	})
}

// TestZshCompletesThePlugin does the same for zsh. zsh's completion system needs a terminal, so
// the test replaces it with functions that print the words they are given.
func TestZshCompletesThePlugin(t *testing.T) {
	shellCompletes(t, "zsh", []string{"-f"}, func(script, line string) string {
		words := strings.Fields(line)
		return fmt.Sprintf(`
			compdef() { :; }
			_describe() { for word in "${(@P)2}"; do print -r -- "${word%%%%:*}"; done; }
			source <(%s completion zsh)
			words=(%s) CURRENT=%d
			_%s`, script, line, len(words), words[0])
	})
}

func TestFishCompletesThePlugin(t *testing.T) {
	shellCompletes(t, "fish", []string{"--no-config"}, func(script, line string) string {
		return fmt.Sprintf(`
			%s completion fish | source
			complete -C '%s' | string replace -r '\t.*' ''
			true # of replace's code, which says whether there was anything to replace`, script, line)
	})
}

// shellCompletes completes lines in a shell with the completion script of kubectl or of the
// program. typed returns what the shell runs to complete a line.
func shellCompletes(t *testing.T, shell string, args []string, typed func(script, line string) string) {
	s := newScene(t)
	program, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("SKIPPED, NOT TESTED: there is no %s", shell)
	}
	ns := s.namespace(shell)
	s.create(configMap(ns, "alpha"))
	s.create(configMap(ns, "alpine"))
	kubectl := s.kubectlWithCompletion()
	for name, c := range map[string]struct{ script, line, want string }{
		"through kubectl": {"kubectl", "kubectl gc why -n " + ns + " configmap/al", "configmap/alpha configmap/alpine"},
		"without kubectl": {"kubectl-gc", "kubectl-gc why -n " + ns + " configmap/al", "configmap/alpha configmap/alpine"},
	} {
		t.Run(name, func(t *testing.T) {
			kubectl := kubectl
			kubectl.scene = s.forSubtest(t)
			r := kubectl.exec(program, append(slices.Clone(args), "-c", typed(c.script, c.line))...).exits(t, 0)
			if got := strings.ReplaceAll(strings.Join(strings.Fields(r.Stdout), " "), `\`, ""); got != c.want || r.Stderr != "" {
				t.Errorf("%s offers %q, want %q; stderr: %s", shell, got, c.want, r.Stderr)
			}
		})
	}
}
