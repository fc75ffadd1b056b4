package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

func TestKubectlCompletesThePlugin(t *testing.T) {
	s := newScene(t)
	ns, other := s.namespace("complete"), s.namespace("complete-other")
	s.create(configMap(ns, "alpha"))
	s.create(configMap(ns, "beta"))
	s.create(configMap(other, "gamma"))
	s.create(secret(ns, "token"))
	role := s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", ns+":reader"))
	s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", ns+"$(touch pwned)"))
	s.grant("alice", ns, []any{""}, []any{"secrets"}, []any{"list"})
	kubectl := s.kubectlWithCompletion()
	for name, c := range map[string]struct {
		typed     []string
		offered   []string
		lacks     []string
		exactly   bool
		directive string
	}{
		"commands":                               {typed: []string{""}, offered: []string{"audit", "collect", "delete", "repair", "restore", "snapshot", "tree", "why"}, directive: ":4"},
		"commands, by a prefix":                  {typed: []string{"re"}, offered: []string{"repair", "restore"}, lacks: []string{"audit"}, directive: ":4"},
		"flags":                                  {typed: []string{"audit", "--f"}, offered: []string{"--fail-on", "--from"}, exactly: true, directive: ":4"},
		"types":                                  {typed: []string{"tree", ""}, offered: []string{"configmaps", "deployments.apps"}, lacks: []string{"events"}, directive: ":4"},
		"types, by a prefix":                     {typed: []string{"tree", "dep"}, offered: []string{"deployments.apps"}, exactly: true, directive: ":4"},
		"a list of types":                        {typed: []string{"delete", "secrets,configm"}, offered: []string{"secrets,configmaps"}, exactly: true, directive: ":4"},
		"names of a type":                        {typed: []string{"tree", "-n", ns, "configmap", ""}, offered: []string{"alpha", "beta"}, exactly: true, directive: ":4"},
		"names, by a prefix":                     {typed: []string{"tree", "-n", ns, "configmap", "be"}, offered: []string{"beta"}, exactly: true, directive: ":4"},
		"names not yet on the command line":      {typed: []string{"tree", "-n", ns, "configmap", "alpha", ""}, offered: []string{"beta"}, exactly: true, directive: ":4"},
		"names of two types":                     {typed: []string{"why", "-n", ns, "cm,secrets", ""}, offered: []string{"alpha", "beta", "token"}, exactly: true, directive: ":4"},
		"TYPE/NAME":                              {typed: []string{"tree", "--namespace=" + ns, "cm/a"}, offered: []string{"cm/alpha"}, exactly: true, directive: ":4"},
		"another TYPE/":                          {typed: []string{"why", "-n", ns, "cm/alpha", "configm"}, offered: []string{"configmaps/"}, exactly: true, directive: ":6"},
		"another TYPE/NAME":                      {typed: []string{"why", "-n", ns, "cm/alpha", "cm/"}, offered: []string{"cm/beta"}, exactly: true, directive: ":4"},
		"a short name":                           {typed: []string{"delete", "-n", other, "cm/g"}, offered: []string{"cm/gamma"}, exactly: true, directive: ":4"},
		"an unknown type":                        {typed: []string{"tree", "nonsense", ""}, exactly: true, directive: ":4"},
		"names with shell metacharacters":        {typed: []string{"why", "clusterrole/" + ns}, offered: []string{"clusterrole/" + role.GetName()}, exactly: true, directive: ":4"},
		"namespaces":                             {typed: []string{"tree", "-n", ns[:len(ns)-1]}, offered: []string{ns}, lacks: []string{"default"}, directive: ":4"},
		"contexts":                               {typed: []string{"audit", "--context", s.controlPlane.Context("alice")[:5]}, offered: []string{s.controlPlane.Context("alice")}, directive: ":4"},
		"in another context, with permission":    {typed: []string{"tree", "--context", s.controlPlane.Context("alice"), "-n", ns, "secret", ""}, offered: []string{"token"}, exactly: true, directive: ":4"},
		"in another context, without permission": {typed: []string{"tree", "--context", s.controlPlane.Context("alice"), "-n", ns, "configmap", ""}, exactly: true, directive: ":4"},
		"no server answers":                      {typed: []string{"tree", "--server=https://127.0.0.1:1", ""}, exactly: true, directive: ":4"},
		"an invalid kubeconfig":                  {typed: []string{"tree", "--kubeconfig=/no/such/file", ""}, exactly: true, directive: ":4"},
		"rules":                                  {typed: []string{"audit", "--rule", "missing-owner,owner"}, offered: []string{"missing-owner,owner-cycle"}, exactly: true, directive: ":4"},
		"formats":                                {typed: []string{"tree", "-o", ""}, offered: []string{"mermaid", "json"}, directive: ":4"},
		"values of --cascade":                    {typed: []string{"delete", "--cascade="}, offered: []string{"background", "foreground", "orphan"}, exactly: true, directive: ":4"},
		"files":                                  {typed: []string{"collect", "--plan", ""}, offered: []string{"json", "yaml", "yml", "gz"}, exactly: true, directive: ":8"},
		"folders":                                {typed: []string{"collect", "--backup-dir", ""}, exactly: true, directive: ":16"},
		"values without completion":              {typed: []string{"tree", "--uid", ""}, exactly: true, directive: ":4"},
	} {
		t.Run(name, func(t *testing.T) {
			kubectl := kubectl
			kubectl.scene = s.forSubtest(t)
			words, directive := kubectl.completions(c.typed...)
			if c.exactly {
				if diff := cmp.Diff(strings.Join(c.offered, "\n"), strings.Join(words, "\n")); diff != "" {
					t.Errorf("(-want +offered):\n%s", diff)
				}
			}
			for _, w := range c.offered {
				if !slices.Contains(words, w) {
					t.Errorf("%q is not offered: %q", w, words)
				}
			}
			for _, w := range c.lacks {
				if slices.Contains(words, w) {
					t.Errorf("%q is offered", w)
				}
			}
			if directive != c.directive {
				t.Errorf("the directive is %s, want %s", directive, c.directive)
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
		"only one match":  {"kubectl", "kubectl gc tree -n " + ns + " configmap alph", "alpha"},
		"without kubectl": {"kubectl-gc", "kubectl-gc why -n " + ns + " configmap/al", "configmap/alpha configmap/alpine"},
		"rules":           {"kubectl", "kubectl gc audit --rule missing-owner,self", "missing-owner,self-owner"},
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

// TestCompletionReadsOnePage expects that completion reads a single page of names, however many
// objects there are.
func TestCompletionReadsOnePage(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("many")
	settings := s.client(configMap(ns, ""))
	t.Cleanup(func() {
		s.must(settings.DeleteCollection(context.Background(), metav1.DeleteOptions{}, metav1.ListOptions{}))
	})
	var all errgroup.Group
	all.SetLimit(24)
	for i := range 600 {
		all.Go(func() error {
			_, err := settings.Create(t.Context(), configMap(ns, fmt.Sprintf("settings-%03d", i)).Unstructured, metav1.CreateOptions{})
			return err
		})
	}
	s.must(all.Wait())
	s.create(configMap(ns, "zebra"))
	kubectl := s.kubectlWithCompletion()
	const discovery = 3 // /api, /apis and /version
	for name, c := range map[string]struct {
		typed    []string
		requests int    // at most
		offered  string // empty: no completions
	}{
		"types":              {[]string{"tree", "-n", ns, "config"}, discovery, "configmaps"},
		"namespaces":         {[]string{"tree", "-n", ns}, 1, ns},
		"any name":           {[]string{"tree", "-n", ns, "configmap", ""}, discovery + 1, "settings-000"},
		"the first name":     {[]string{"tree", "-n", ns, "configmap", "settings-000"}, discovery + 1, "settings-000"},
		"a name on the page": {[]string{"tree", "-n", ns, "configmap/settings-40"}, discovery + 1, "configmap/settings-400"},
		"a common prefix":    {[]string{"tree", "-n", ns, "configmap/set"}, discovery + 1, "configmap/settings-100"},
		"in all namespaces":  {[]string{"tree", "-A", "configmap", "kube-apiserver"}, discovery + 1, "kube-apiserver-legacy-service-account-token-tracking"},
		"beyond the page":    {[]string{"tree", "-n", ns, "configmap", "z"}, discovery + 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			kubectl := kubectl
			kubectl.scene = s.forSubtest(t)
			words, _ := kubectl.completions(c.typed...)
			offers := slices.Contains(words, c.offered)
			if c.offered == "" {
				offers = len(words) == 0
			}
			if !offers {
				t.Errorf("%q is not offered among %d: %q", c.offered, len(words), words[:min(3, len(words))])
			}
			r := kubectl.gc(append([]string{"__complete", "-v=6"}, c.typed...)...).exits(t, 0)
			_, requests, _ := strings.Cut(r.Stderr, "requests: ")
			number, _, _ := strings.Cut(requests, " ")
			if n, err := strconv.Atoi(number); err != nil || n == 0 || n > c.requests {
				t.Errorf("%q requests, want at most %d", requests, c.requests)
			}
		})
	}
}
