package trust

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// suggested matches a command line of the program in its output.
var suggested = regexp.MustCompile(`kubectl gc [a-z]+(?: [^\n]*)?`)

// suggestions returns the words of the command lines that a run printed.
func (r *result) suggestions() (all [][]string) {
	for _, line := range strings.Split(r.stdout+"\n"+r.stderr, "\n") {
		if strings.HasPrefix(line, "See '") || strings.HasPrefix(line, "Usage") {
			continue
		}
		for _, found := range suggested.FindAllString(line, -1) {
			var words []string
			for _, word := range strings.Fields(found)[2:] { // up to the end of the command line in a sentence
				word, ended := strings.CutSuffix(strings.Trim(word, "'"), ";")
				if !isArgument(word, words) {
					break
				}
				words = append(words, word)
				if ended {
					break
				}
			}
			all = append(all, words)
		}
	}
	return all
}

// isArgument reports whether a word continues a command line: sentences have none of these.
func isArgument(word string, before []string) bool {
	if len(before) == 0 || strings.HasPrefix(word, "-") || strings.ContainsAny(word, "/=") {
		return true
	}
	last := before[len(before)-1]
	return strings.HasPrefix(last, "-") && !slices.Contains([]string{"--dry-run", "-A", "--client-side", "--yes", "--insecure-skip-tls-verify"}, last) ||
		slices.Contains([]string{"BACKUP", "NAMESPACE"}, word)
}

// after returns the word that follows a flag.
func after(words []string, flag string) string {
	if i := slices.Index(words, flag); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	return ""
}

// mutating are the commands that take --dry-run.
var mutating = []string{"collect", "delete", "repair", "restore"}

// A suggestion is about the cluster that the user asked, and about the object in question.
func TestSuggestionsAreAcceptedAndKeepClusterAndScope(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	owner := s.Add(terminating(Deployments.Object("shop", "held")))
	s.Add(ownedBy(Secrets.Object("shop", "waits"), referenceTo(owner)))
	s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	s.Add(ownedBy(ConfigMaps.Object("other", "garbage"), missingOwner(Deployments)))
	half := terminating(Deployments.Object("shop", "half"))
	half.Finalizers = []string{metav1.FinalizerDeleteDependents}
	s.Add(half)
	replaced := missingOwner(Deployments)
	replaced.Name = owner.Name
	s.Add(ownedBy(Secrets.Object("shop", "replaced"), replaced))
	s.Add(ConfigMaps.Object("shop", "free"))
	u := newUser(t, s)
	u.env = slices.DeleteFunc(u.env, func(v string) bool { return strings.HasPrefix(v, "KUBECONFIG=") })
	config := filepath.Join(u.home, "kubeconfig")
	// The context in use is not the one that is asked for.
	raw, err := os.ReadFile(config)
	u.must(err)
	u.must(os.WriteFile(config, []byte(strings.Replace(string(raw), `"current-context":"test"`, `"current-context":"none"`, 1)), 0o600))
	connection := []string{"--kubeconfig", config, "--context", "test"}
	file := filepath.Join(u.home, "saved.json.gz")
	u.runs(append([]string{"snapshot", "-o", file}, connection...)...).exits(0)

	ran := map[string]bool{}
	for _, scene := range [][]string{
		{"--strict"},
		{"-A"},
		{"-n", "shop"},
		{"why", "secret/garbage", "-n", "shop"},
		{"why", "secret/replaced", "-n", "shop"},
		{"why", "secret/waits", "-n", "shop"},
		{"why", "deployment/held", "-n", "shop"},
		{"why", "deployment/half", "-n", "shop"},
		{"why", "configmap/free", "-n", "shop"},
		{"why", "deployment/gone", "-n", "shop"},
		{"why", "configmap/gone", "-n", "shop"},
		{"audit"},
		{"audit", "-n", "shop"},
		{"audit", "-A"},
		{"audit", "-n", "shop", "-l", "app=web"},
		{"stuck", "-n", "shop"},
		{"collect", "--dry-run"},
		{"collect", "-n", "shop", "--dry-run"},
		{"collect", "-n", "shop", "--max-deletes", "1", "--dry-run"},
		{"delete", "configmap/free", "-n", "shop", "--dry-run"},
		{"delete", "configmap/none", "-n", "shop", "--dry-run"},
		{"delete", "pods", "-l", "a=b", "-n", "shop", "--dry-run"},
		{"repair", "-n", "shop", "--dry-run"},
		{"finalizer", "remove", "configmap/free", "foregroundDeletion", "-n", "shop", "--dry-run"},
		{"finalizer", "remove", "secret/replaced", "example.com/x", "-n", "shop", "--dry-run"},
		{"why", "secrets", "-n", "shop"},
		{"doctor", "-n", "shop", "--settle", "0s"},
		{"restore", "none"},
	} {
		for _, source := range [][]string{connection, append([]string{"--from", file}, connection...)} {
			if len(source) > len(connection) && slices.Contains([]string{"doctor", "restore"}, scene[0]) {
				continue
			}
			args := slices.Concat(scene, source)
			for _, words := range u.runs(args...).suggestions() {
				line := strings.Join(words, " ")
				if words[0] == "trace" { // reads a log, and no cluster
					if after(words, "-n") != "shop" || len(words) != 6 {
						t.Errorf("%v suggests: %s", args, line)
					}
					continue
				}
				if after(words, "--kubeconfig") != config || after(words, "--context") != "test" {
					t.Errorf("%v suggests, for another cluster: %s", args, line)
					continue
				}
				if named := after(scene, "-n"); named != "" && words[0] != "restore" && words[0] != "snapshot" && after(words, "-n") == "" {
					t.Errorf("%v suggests, for all namespaces: %s", args, line)
				}
				live := slices.Contains([]string{"restore", "doctor", "snapshot"}, words[0])
				if slices.Contains(source, "--from") && !live && after(words, "--from") != file {
					t.Errorf("%v suggests, for the cluster: %s", args, line)
				}
				if !ran[line] {
					ran[line] = true
					u.runsSuggestion(words)
				}
			}
		}
	}
	if len(ran) < 20 {
		t.Errorf("only %d suggestions were found", len(ran))
	}
}

// runsSuggestion runs a suggestion, without a change: it has to be accepted, and to plan nothing
// outside of its namespace.
func (u *user) runsSuggestion(words []string) {
	u.Helper()
	args := slices.Clone(words)
	for i, w := range args {
		switch w {
		case "TYPE/NAME":
			args[i] = "secret/garbage"
		case "NAMESPACE":
			args[i] = "shop"
		case "FORMAT":
			args[i] = "json"
		case "30s": // of --settle
			args[i] = "0s"
		}
	}
	if args[0] == "doctor" || args[0] == "finalizer" {
		return // these write without --dry-run
	}
	plans := slices.Contains(mutating, args[0]) && len(args) > 1 && !(args[0] == "restore" && strings.HasPrefix(args[1], "-"))
	if plans {
		args = slices.DeleteFunc(args, func(w string) bool { return w == "--dry-run" })
		args = append(args, "--dry-run", "-o", "json")
	}
	r := u.runs(args...).exits(0, 1)
	if !plans || r.code > 1 {
		return
	}
	var p struct {
		Steps []step
	}
	u.must(json.Unmarshal([]byte(r.stdout), &p))
	for _, planned := range p.Steps {
		if in := after(args, "-n"); in != "" && planned.Object.Namespace != in {
			u.Errorf("%v plans something in namespace %q", args, planned.Object.Namespace)
		}
	}
}

// Both owners of the object are bad, and repairing one reference alone would not keep it.
func TestRepairThatIsSuggestedKeepsTheObject(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	replaced := missingOwner(Deployments)
	replaced.Name, replaced.UID = s.Add(Deployments.Object("shop", "web")).Name, "earlier"
	two := s.Add(ownedBy(ConfigMaps.Object("shop", "two"), missingOwner(Deployments), replaced))
	u := newUser(t, s)
	for _, words := range u.runs("why", "configmap/two", "-n", "shop").exits(0).suggestions() {
		if words[0] == "repair" {
			u.runs(append(words, "--yes")...).exits(0)
			u.runs("collect", "--yes").exits(0)
			requireKept(t, s, two)
			return
		}
	}
	t.Error("no repair is suggested")
}
