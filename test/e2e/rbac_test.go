package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// attempt is a command line for a user, and its result.
type attempt struct {
	args      []string
	code      int      // with all of the permissions
	shows     []string // on either stream, with all of the permissions
	deleted   []object
	unchanged []object // objects that must not change if a permission is lacking
	endless   bool     // it is interrupted as soon as it has shown the words
	partly    []string // verbs without which the others are used all the same
}

// shortfall is the result of a command for a user who lacks a verb.
type shortfall struct {
	code  int
	words []string // on either stream
}

// unreadable is the result for a user who may list nothing.
var unreadable = shortfall{2, []string{"error: you may not read ", "the server forbids all "}}

// reads returns an attempt of a command that only reads, in a namespace with ConfigMap/orphan, whose owner does not exist.
func reads(code int, shows string, line ...string) func(*scene, string, bool) attempt {
	return func(s *scene, ns string, _ bool) attempt {
		s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
		return attempt{args: append(slices.Clone(line), "-n", ns), code: code, shows: []string{shows}}
	}
}

// exitUnlessComplete returns the exit code of a deletion: 0, or 1 if the user's permissions are
// limited to one namespace. Dependents may then be in other namespaces, so no scan proves that
// nothing is left.
func exitUnlessComplete(whole bool) int {
	if whole {
		return 0
	}
	return 1
}

var limitedCommands = map[string]struct {
	try  func(s *scene, ns string, whole bool) attempt
	less map[string]shortfall // by verb; a verb "of the whole cluster" is lacking only outside of the namespace
}{
	"tree": {reads(0, "ConfigMap/orphan", "tree"), map[string]shortfall{
		"list": unreadable, "get": {0, []string{"ConfigMap/orphan", "could not read", "forbidden"}},
	}},
	"audit": {reads(1, "missing-owner", "audit"), map[string]shortfall{
		"list": unreadable, "get": {0, []string{"unverified-owner", "could not read", "forbidden"}},
	}},
	"stuck": {reads(0, "Nothing is being deleted", "stuck"), map[string]shortfall{
		"list": unreadable, "get": {0, []string{"could not read", "forbidden"}},
	}},
	"doctor": {reads(1, "1 object to collect, not processed", "doctor", "--settle", "1ms"), map[string]shortfall{
		"list": unreadable, "get": {0, []string{"Controller manager leader", "not checked", "forbidden"}},
	}},
	"why": {reads(0, "The garbage collector will delete ConfigMap/orphan", "why", "configmap/orphan"), map[string]shortfall{
		"list": unreadable, "get": {0, []string{"It is unknown what happens to ConfigMap/orphan"}},
	}},
	"snapshot": {
		func(s *scene, ns string, whole bool) attempt {
			s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
			a := attempt{args: []string{"snapshot", "-n", ns, "-o", filepath.Join(s.TempDir(), "snapshot.json")}}
			if whole {
				a.args = append(a.args, "--strict")
			}
			return a
		},
		map[string]shortfall{
			"list": unreadable,
			"get":  {0, []string{"could not read", "forbidden"}},
			// Fails because of --strict.
			"get of the whole cluster": {3, []string{"could not read", "forbidden"}},
		},
	},
	"collect": {
		func(s *scene, ns string, whole bool) attempt {
			owner := s.create(secret(ns, "owner"))
			orphan := s.create(configMap(ns, "orphan", ownedBy(withFormerUID(referenceTo(owner)))))
			shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), withFormerUID(referenceTo(owner)))))
			a := attempt{deleted: []object{orphan}, unchanged: []object{orphan, shared}, shows: []string{"deleted 1, unlinked 1 in "}}
			if whole { // otherwise a dependent may be in another namespace
				waiting := s.create(secret(ns, "waiting"))
				below := s.create(configMap(ns, "below", ownedBy(referenceTo(waiting, blocking))))
				s.remove(waiting, metav1.DeletePropagationForeground)
				a.deleted, a.unchanged = append(a.deleted, waiting, below), append(a.unchanged, below)
				a.shows = []string{"deleted 2, unlinked 1, removed 1 finalizer in "}
			}
			a.args = []string{"collect", "-n", ns, "--yes", "--backup-dir", s.TempDir()}
			return a
		},
		map[string]shortfall{
			"list":                     unreadable,
			"get":                      {1, []string{"could not read", "forbidden", "Nothing to do ", "Incomplete scan."}},
			"get of the whole cluster": {1, []string{"could not read", "you are not allowed to get configmaps in namespace %s, which is needed for ConfigMap/below", "nothing was changed"}},
			"delete":                   {1, []string{"you are not allowed to delete configmaps in namespace %s, which is needed for ConfigMap/", "nothing was changed"}},
			"patch":                    {1, []string{"you are not allowed to patch configmaps in namespace %s, which is needed for ConfigMap/shared", "nothing was changed"}},
		},
	},
	"controller": {
		func(s *scene, ns string, whole bool) attempt {
			owner := s.create(secret(ns, "owner"))
			orphan := s.create(configMap(ns, "orphan", ownedBy(withFormerUID(referenceTo(owner)))))
			shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), withFormerUID(referenceTo(owner)))))
			a := attempt{
				args: []string{"controller", "--yes", "-n", ns, "--leader-elect-namespace", ns, "--backup-dir", s.TempDir()}, endless: true, code: 130,
				deleted: []object{orphan}, unchanged: []object{orphan, shared}, shows: []string{"deleted ConfigMap/orphan", "unlinked ConfigMap/shared"},
				partly: []string{"delete", "patch"},
			}
			if !whole { // the lease of kube-controller-manager is in another namespace
				a.args = append(a.args, "--allow-running-collector")
			}
			return a
		},
		map[string]shortfall{
			"list":                     {130, []string{"you may not read anything", "the server forbids all "}},
			"watch":                    {130, []string{"you may not read anything", "the server forbids all "}},
			"get":                      {130, []string{"could not read, and leaves alone what depends on it", "forbidden"}},
			"get of the whole cluster": {2, []string{"find out whether kube-controller-manager runs", "forbidden"}},
			"delete":                   {130, []string{"failed to delete ConfigMap/orphan", "forbidden"}},
			"patch":                    {130, []string{"failed to unlink ConfigMap/shared", "forbidden"}},
		},
	},
	"delete": {
		func(s *scene, ns string, whole bool) attempt {
			owner := s.create(configMap(ns, "owner"))
			return attempt{
				code:    exitUnlessComplete(whole),
				args:    []string{"delete", "configmap/owner", "-n", ns, "--yes", "--backup-dir", s.TempDir()},
				deleted: []object{owner}, unchanged: []object{owner}, shows: []string{"deleted 1 in "},
			}
		},
		map[string]shortfall{
			"list":   unreadable,
			"get":    {1, []string{"you are not allowed to get configmaps in namespace %s, which is needed for ConfigMap/owner", "nothing was changed"}},
			"delete": {1, []string{"you are not allowed to delete configmaps in namespace %s, which is needed for ConfigMap/owner", "nothing was changed"}},
		},
	},
	"delete --client-side": {
		func(s *scene, ns string, whole bool) attempt {
			owner, keeper := s.create(configMap(ns, "owner")), s.create(secret(ns, "keeper"))
			below := s.create(secret(ns, "below", ownedBy(referenceTo(owner))))
			shared := s.create(secret(ns, "shared", ownedBy(referenceTo(owner), referenceTo(keeper))))
			return attempt{
				code:    exitUnlessComplete(whole),
				args:    []string{"delete", "--client-side", "configmap/owner", "-n", ns, "--yes", "--backup-dir", s.TempDir()},
				deleted: []object{owner, below}, unchanged: []object{owner, below, shared}, shows: []string{"deleted 2, unlinked 1 in "},
			}
		},
		map[string]shortfall{
			"list":   unreadable,
			"get":    {1, []string{"you are not allowed to get secrets in namespace %s, which is needed for Secret/below", "nothing was changed"}},
			"delete": {1, []string{"you are not allowed to delete secrets in namespace %s, which is needed for Secret/below", "nothing was changed"}},
			"patch":  {1, []string{"you are not allowed to patch secrets in namespace %s, which is needed for Secret/shared", "nothing was changed"}},
		},
	},
	"repair": {
		func(s *scene, ns string, _ bool) attempt {
			owner := s.create(secret(ns, "owner"))
			o := s.create(configMap(ns, "subject", ownedBy(withFormerUID(referenceTo(owner)))))
			return attempt{
				args:      []string{"repair", "-n", ns, "--yes", "--backup-dir", s.TempDir()},
				unchanged: []object{o}, shows: []string{"relinked 1 in "},
			}
		},
		map[string]shortfall{
			"list":  unreadable,
			"get":   {1, []string{"could not read", "forbidden", "Nothing to do ", "Incomplete scan."}},
			"patch": {1, []string{"you are not allowed to patch configmaps in namespace %s, which is needed for ConfigMap/subject", "nothing was changed"}},
		},
	},
	"finalizer remove": {
		func(s *scene, ns string, whole bool) attempt {
			stuck := s.create(configMap(ns, "stuck", heldBy("example.com/hold")))
			s.remove(stuck, metav1.DeletePropagationBackground)
			return attempt{
				code:    exitUnlessComplete(whole),
				args:    []string{"finalizer", "remove", "configmap/stuck", "example.com/hold", "-n", ns, "--yes", "--backup-dir", s.TempDir()},
				deleted: []object{stuck}, unchanged: []object{s.live(stuck)}, shows: []string{"removed 1 finalizer in "},
			}
		},
		map[string]shortfall{
			"list":  unreadable,
			"get":   {1, []string{"you are not allowed to get configmaps in namespace %s, which is needed for ConfigMap/stuck", "nothing was changed"}},
			"patch": {1, []string{"you are not allowed to patch configmaps in namespace %s, which is needed for ConfigMap/stuck", "nothing was changed"}},
		},
	},
	"restore": {
		func(s *scene, ns string, _ bool) attempt {
			owner, keeper := s.create(configMap(ns, "owner")), s.create(secret(ns, "keeper"))
			s.create(secret(ns, "below", ownedBy(referenceTo(owner))))
			shared := s.create(secret(ns, "shared", ownedBy(referenceTo(owner), referenceTo(keeper))))
			folder := s.deleteForBackup(ns, "configmap/owner")
			return attempt{
				args:      []string{"restore", folder, "-n", ns, "--yes"},
				unchanged: []object{s.live(shared)}, shows: []string{"created 2, linked 1 in "},
			}
		},
		map[string]shortfall{
			"list":   unreadable,
			"get":    {1, []string{"you are not allowed to get secrets in namespace %s, which is needed for Secret/shared", "nothing was changed"}},
			"create": {1, []string{"you are not allowed to create configmaps in namespace %s, which is needed for ConfigMap/owner", "nothing was changed"}},
			"patch":  {1, []string{"you are not allowed to patch secrets in namespace %s, which is needed for Secret/shared", "nothing was changed"}},
		},
	},
}

var users atomic.Int64

// userWithVerbs returns a new user who may use some verbs on all types: in one namespace, or in
// the whole cluster if that is empty.
func (s *scene) userWithVerbs(namespace string, verbs []string) (user string) {
	s.Helper()
	user = fmt.Sprintf("limited-%d", users.Add(1))
	var given []any
	for _, v := range verbs {
		given = append(given, v)
	}
	s.grant(user, namespace, []any{"*"}, []any{"*"}, given)
	return user
}

// userWithRole returns a new user with the permissions of a role: in one namespace, or in the
// whole cluster if that is empty.
func (s *scene) userWithRole(namespace string, role rbacv1.ClusterRole) (user string) {
	s.Helper()
	user = fmt.Sprintf("holder-%d", users.Add(1))
	var rules []any
	for _, rule := range role.Rules {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&rule)
		s.must(err)
		rules = append(rules, content)
	}
	s.grantRules(user, namespace, rules, role.Rules[0].Verbs[0], role.Rules[0].APIGroups[0], role.Rules[0].Resources[0])
	return user
}

// limitedTo returns the role with only these verbs.
func limitedTo(verbs []string, role rbacv1.ClusterRole) rbacv1.ClusterRole {
	limited := role.DeepCopy()
	for i := range limited.Rules {
		limited.Rules[i].Verbs = slices.DeleteFunc(limited.Rules[i].Verbs, func(v string) bool { return !slices.Contains(verbs, v) })
	}
	return *limited
}

// allowIdentifyingCluster gives a user the one permission that is needed to identify the cluster.
func (s *scene) allowIdentifyingCluster(user string) {
	s.Helper()
	const group, name = "rbac.authorization.k8s.io", "-identifies"
	s.create(newObject(group+"/v1", "ClusterRole", "", user+name, withField("rules", []any{map[string]any{
		"apiGroups": []any{""}, "resources": []any{"namespaces"}, "resourceNames": []any{"kube-system"}, "verbs": []any{"get"},
	}})))
	s.create(newObject(group+"/v1", "ClusterRoleBinding", "", user+name,
		withField("roleRef", map[string]any{"apiGroup": group, "kind": "ClusterRole", "name": user + name}),
		withField("subjects", []any{map[string]any{"apiGroup": group, "kind": "User", "name": user}})))
	review := newObject("authorization.k8s.io/v1", "SubjectAccessReview", "", "", withField("spec", map[string]any{
		"user": user, "resourceAttributes": map[string]any{"verb": "get", "resource": "namespaces", "name": "kube-system"},
	}))
	s.await("the right to read Namespace kube-system", func(ctx context.Context) (bool, error) {
		answer, err := s.client(review).Create(ctx, review.Unstructured, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		status, _ := answer.Object["status"].(map[string]any)
		return status["allowed"] == true, nil
	})
}

// leaseRules returns the rights to the Lease of controller, as docs/in-cluster grants them.
func (s *scene) leaseRules() (rules []rbacv1.PolicyRule) {
	s.Helper()
	var role rbacv1.Role
	s.must(runtime.DefaultUnstructuredConverter.FromUnstructured(s.rendered("controller")["Role"].Object, &role))
	return role.Rules
}

func TestDocumentedRolesAreSufficientAndMinimal(t *testing.T) {
	page, roles := rightsPage(t), map[string]rbacv1.ClusterRole{}
	if len(page.roles) != len(limitedCommands) {
		t.Errorf("the page has %d commands, and %d are tried", len(page.roles), len(limitedCommands))
	}
	s := newScene(t)
	for name := range page.verbs {
		roles[name] = s.generatedRole(page, name)
	}
	for command, name := range page.roles {
		for _, scope := range []string{"whole cluster", "one namespace"} {
			if scope == "one namespace" && name == "gc-scan" && !strings.HasPrefix(command, "audit") {
				continue // reading commands read the same
			}
			t.Run(command+"/"+scope, func(t *testing.T) { tryRole(t, command, roles[name], page.verbs[name], scope == "whole cluster") })
		}
	}
}

// tryRole runs a command with a role that was generated for this cluster, and then without each
// of the role's verbs.
func tryRole(t *testing.T, command string, role rbacv1.ClusterRole, verbs []string, whole bool) {
	c := limitedCommands[command]
	run := func(t *testing.T, verbs []string, words func(attempt) []string) (*scene, string, attempt, result) {
		s := newScene(t)
		ns := s.namespace("limited")
		a := c.try(s, ns, whole)
		bound := ns
		if whole {
			bound = ""
		}
		limited := limitedTo(verbs, role)
		if command == "controller" {
			limited.Rules = append(limited.Rules, s.leaseRules()...)
		}
		user := s.userWithRole(bound, limited)
		if command == "restore" {
			s.allowIdentifyingCluster(user)
		}
		args := append(a.args, "--as", user)
		if !a.endless {
			return s, ns, a, s.gc(args...)
		}
		p := s.tool().start(args...)
		for _, w := range words(a) {
			p.awaitText(w)
		}
		_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended already
		return s, ns, a, p.wait()
	}
	t.Run("is sufficient", func(t *testing.T) {
		s, _, a, r := run(t, verbs, func(a attempt) []string { return a.shows })
		requireWords(t, r.exits(t, a.code), a.shows...)
		s.requireGone(a.deleted...)
	})
	for _, verb := range verbs {
		if !whole && verb != "get" {
			continue // only what may not be read elsewhere makes a difference
		}
		t.Run("without "+verb, func(t *testing.T) {
			less, known := c.less[verb]
			if other, differs := c.less[verb+" of the whole cluster"]; differs && whole {
				less = other
			}
			left := slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return v == verb })
			s, ns, a, r := run(t, left, func(attempt) []string { return less.words })
			if !known {
				t.Fatalf("the test does not define the result: %s%s", r.Stdout, r.Stderr)
			}
			r.exits(t, less.code)
			for _, w := range less.words {
				requireWords(t, r, strings.ReplaceAll(w, "%s", ns))
			}
			if !slices.Contains(a.partly, verb) {
				s.requireUnchanged(a.unchanged...)
			}
		})
	}
}

// requireWords requires words on either stream.
func requireWords(t *testing.T, r result, words ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(r.Stdout+r.Stderr, w) {
			t.Errorf("kubectl gc %s does not say %q\nstdout: %s\nstderr: %s", r.output(), w, short(r.Stdout), short(r.Stderr))
		}
	}
}

// canaryVerbs returns the verbs of the Role that docs/doctor.md creates for --canary.
func canaryVerbs(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "doctor.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^kubectl create role gc-canary -n shop --verb=(\S+) --resource=configmaps$`).FindSubmatch(text)
	if line == nil {
		t.Fatal("docs/doctor.md has no Role for --canary")
	}
	return strings.Split(string(line[1]), ",")
}

// A user who may list ConfigMaps everywhere has, in a namespace, the Role of the page or one verb
// less. What else doctor reads is unknown to that user.
func TestTheDocumentedRoleOfACanaryIsSufficientAndMinimal(t *testing.T) {
	verbs := canaryVerbs(t)
	run := func(t *testing.T, verbs []string) (*scene, string, result) {
		s := newScene(t)
		ns := s.namespace("canary")
		user := s.userWithVerbs(ns, slices.Concat(verbs, []string{"list"}))
		return s, ns, s.gc("doctor", "--canary", ns, "-n", ns, "--settle", "1s", "--as", user)
	}
	t.Run("is sufficient", func(t *testing.T) {
		s, ns, r := run(t, verbs)
		requireWords(t, r, "a dependent still existed 1s after its owner was deleted")
		s.requireNoCanary(ns)
	})
	for _, verb := range verbs {
		t.Run("without "+verb, func(t *testing.T) {
			s, ns, r := run(t, slices.DeleteFunc(slices.Clone(verbs), func(v string) bool { return v == verb }))
			requireWords(t, r.exits(t, 1), "you are not allowed to "+verb+" configmaps in namespace "+ns, "nothing was changed")
			s.requireNoCanary(ns)
		})
	}
}
