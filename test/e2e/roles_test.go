package e2e

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// right is a verb on a type.
type right struct{ verb, group, resource string }

func (r right) String() string {
	if r.group == "" {
		return r.verb + " " + r.resource
	}
	return r.verb + " " + r.resource + " in " + r.group
}

// documented is the content of docs/rbac.md: the role for each command, the verbs of each role,
// and the command that writes gc-scan for the types of a cluster.
type documented struct {
	roles    map[string]string
	verbs    map[string][]string
	generate string
}

func rightsPage(t *testing.T) documented {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "rbac.md"))
	if err != nil {
		t.Fatal(err)
	}
	page := documented{roles: map[string]string{}, verbs: map[string][]string{}}
	for _, row := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| (gc-[a-z-]+) \\|$").FindAllStringSubmatch(string(text), -1) {
		page.roles[row[1]] = row[2]
	}
	for _, row := range regexp.MustCompile("(?m)^\\| \\[(gc-[a-z-]+)\\]\\([^)]+\\) \\| (`[^|]+`) \\|").FindAllStringSubmatch(string(text), -1) {
		page.verbs[row[1]] = strings.Split(strings.NewReplacer("`", "", " ", "").Replace(row[2]), ",")
	}
	command := regexp.MustCompile(`(?s)\n(kubectl create clusterrole gc-scan --verb=get,list [^>]+) > gc-scan\.yaml\n`).FindStringSubmatch(string(text))
	if command == nil || len(page.roles) == 0 || len(page.verbs) == 0 {
		t.Fatalf("docs/rbac.md has lost something that this test reads: %+v", page)
	}
	page.generate = command[1]
	return page
}

// generatedRole runs the page's command for a role and returns the role that it writes.
func (s *scene) generatedRole(page documented, role string) rbacv1.ClusterRole {
	s.Helper()
	line := strings.NewReplacer("gc-scan", role, "--verb=get,list", "--verb="+strings.Join(page.verbs[role], ",")).Replace(page.generate)
	t := s.tool()
	t.env = append(t.env, "PATH="+filepath.Dir(s.controlPlane.KubectlPath)+string(os.PathListSeparator)+os.Getenv("PATH"))
	return s.clusterRole([]byte(t.exec("sh", "-c", line).exits(s, 0).Stdout))
}

func (s *scene) clusterRole(text []byte) (role rbacv1.ClusterRole) {
	s.Helper()
	s.must(yaml.UnmarshalStrict(text, &role))
	return role
}

// shippedRoles returns the roles in docs/rbac.
func (s *scene) shippedRoles() (roles []rbacv1.ClusterRole) {
	s.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "rbac", "*.yaml"))
	s.must(err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		s.must(err)
		roles = append(roles, s.clusterRole(text))
	}
	return roles
}

// typesOf returns the types that a role names, as resource.group.
func typesOf(role rbacv1.ClusterRole) (out []string) {
	for _, rule := range role.Rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				out = append(out, strings.TrimSuffix(resource+"."+group, "."))
			}
		}
	}
	slices.Sort(out)
	return out
}

// rights asks the API server what a service account may do in its namespace, which includes what it may do in
// all of them. A rule that covers more than the types that it names, such as a subresource, fails the
// test, so that the rights are all that the account has.
// It reports false for as long as the API server does not know all of the roles that it has bound.
func (s *scene) rights(account object) (out map[right]bool, complete bool) {
	s.Helper()
	config := rest.CopyConfig(s.config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + account.GetNamespace() + ":" + account.GetName(),
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + account.GetNamespace(), "system:authenticated"},
	}
	client, err := authorizationclient.NewForConfig(config)
	s.must(err)
	review, err := client.SelfSubjectRulesReviews().Create(s.Context(), &authorizationv1.SelfSubjectRulesReview{
		Spec: authorizationv1.SelfSubjectRulesReviewSpec{Namespace: account.GetNamespace()},
	}, metav1.CreateOptions{})
	s.must(err)
	out = map[right]bool{}
	for _, rule := range review.Status.ResourceRules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					r := right{verb, group, resource}
					if strings.ContainsAny(verb+group+resource, "*/") || len(rule.ResourceNames) > 0 {
						s.Errorf("it may %s, of %q: more or less than a type", r, rule.ResourceNames)
					}
					out[r] = true
				}
			}
		}
	}
	return out, !review.Status.Incomplete && review.Status.EvaluationError == ""
}

// rightsOfRole binds a role for the whole cluster to a new service account, and returns the rights of the
// account before, as Kubernetes gives them to everybody, and when the API server has noticed. It
// notices roles and bindings in any order.
func (s *scene) rightsOfRole(namespace string, role rbacv1.ClusterRole) (before, after map[right]bool) {
	s.Helper()
	account := s.create(newObject("v1", "ServiceAccount", namespace, role.Name))
	before, _ = s.rights(account)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&role)
	s.must(err)
	s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", role.Name, withField("rules", content["rules"])))
	s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", role.Name,
		withField("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role.Name}),
		withField("subjects", []any{map[string]any{"kind": "ServiceAccount", "namespace": namespace, "name": role.Name}})))
	s.await("the rights of "+role.Name, func(context.Context) (complete bool, _ error) {
		after, complete = s.rights(account)
		return complete && after[right{"get", "", "namespaces"}], nil
	})
	return before, after
}

// TestShippedRolesGrantExactlyWhatThePageSaysAndNoSubresource checks the roles in docs/rbac, and
// the role that the page's command writes in a cluster with custom types that have subresources.
func TestShippedRolesGrantExactlyWhatThePageSaysAndNoSubresource(t *testing.T) {
	s := newScene(t)
	v1 := version("v1", true)
	v1["subresources"] = map[string]any{
		"status": map[string]any{},
		"scale":  map[string]any{"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"},
	}
	s.define(definition("roles.example.com", "Pod", "Namespaced", v1))
	page, ns := rightsPage(t), s.namespace("roles")
	roles := s.shippedRoles()
	for name := range page.verbs {
		if !slices.ContainsFunc(roles, func(r rbacv1.ClusterRole) bool { return r.Name == name }) {
			t.Errorf("docs/rbac.md has the role %s, and docs/rbac has not", name)
		}
	}
	generated := s.generatedRole(page, "gc-collect")
	if !slices.Contains(typesOf(generated), "pods.roles.example.com") || !slices.Contains(typesOf(generated), "pods") {
		t.Errorf("the role generated for this cluster names %q", typesOf(generated))
	}
	generated.Name = "gc-collect-generated"
	page.verbs[generated.Name] = page.verbs["gc-collect"]
	for _, role := range append(roles, generated) {
		t.Run(role.Name, func(t *testing.T) {
			s := s.forSubtest(t)
			want, got := s.rightsOfRole(ns, role)
			maps.Copy(want, page.grants(role))
			for r := range got {
				if !want[r] {
					t.Errorf("it may %s, which docs/rbac.md does not say", r)
				}
				delete(want, r)
			}
			for r := range want {
				t.Errorf("it may not %s, which docs/rbac.md says", r)
			}
		})
	}
}

// grants returns what the page grants to the holder of a role: the verbs of the role on the types
// that it names.
func (d documented) grants(role rbacv1.ClusterRole) map[right]bool {
	out := map[right]bool{}
	for _, name := range typesOf(role) {
		resource, group, _ := strings.Cut(name, ".")
		for _, verb := range d.verbs[role.Name] {
			out[right{verb: verb, group: group, resource: resource}] = true
		}
	}
	return out
}

func TestShippedRolesNameEveryBuiltInType(t *testing.T) {
	s := newScene(t)
	custom := map[string]bool{}
	for _, name := range strings.Fields(s.kubectl("get", "customresourcedefinitions", "-o", "jsonpath={.items[*].metadata.name}").exits(t, 0).Stdout) {
		custom[name] = true
	}
	want := slices.DeleteFunc(typesOf(s.generatedRole(rightsPage(t), "gc-scan")), func(name string) bool { return custom[name] })
	for _, role := range s.shippedRoles() {
		got := typesOf(role)
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s lacks %s: make it again, with the command of docs/rbac.md, on a cluster without custom types", role.Name, name)
			}
		}
		for _, name := range got {
			if !slices.Contains(want, name) {
				t.Errorf("%s names %s, which this API server does not serve", role.Name, name)
			}
		}
	}
}

func TestMissingPermissionStopsRunBeforeFirstWrite(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("lacking")
	owner := s.create(secret(ns, "owner"))
	orphan := s.create(secret(ns, "orphan", ownedBy(missingOwner())))
	shared := s.create(configMap(ns, "shared", ownedBy(referenceTo(owner), missingOwner())))
	user := s.userWithVerbs("", []string{"get", "list", "delete"})
	f := s.throughProxy(nil).allowWrites()
	backups := t.TempDir()
	const word = "you are not allowed to patch configmaps in namespace "
	r := f.gc("collect", "-n", ns, "--yes", "--backup-dir", backups, "--as", user).exits(t, 1).
		warns(t, "warning: "+word+ns+", which is needed for ConfigMap/shared", "error: the API server would not permit part of this plan: nothing was changed", "docs/rbac.md").
		shows(t, "ConfigMap/shared", "not sent: "+word, "Secret/orphan", "not sent, because the API server would refuse another step", "nothing was changed in ", "1 skipped, 1 failed")
	if writes := f.recordedWrites(); len(writes) > 0 {
		t.Errorf("it sends %s %s", writes[0].Method, writes[0].Path)
	}
	// Four permissions in the whole cluster. One of them is checked again in the namespace, and
	// again by name.
	if asked := f.matching(isAccessReview); len(asked) != 4+1+1 {
		t.Errorf("it sends %d access reviews: %s", len(asked), r.Stderr)
	}
	if len(s.allBackupManifests(backups)) > 0 {
		t.Error("it leaves a backup although it has changed nothing")
	}
	s.requireUnchanged(orphan, shared)

	t.Run("a run that would be refused does not ask for confirmation", func(t *testing.T) {
		s := s.forSubtest(t)
		s.gc("collect", "-n", ns, "--as", user).exits(t, 1).warns(t, word)
		s.requireUnchanged(orphan, shared)
	})
	t.Run("a preview warns, and is complete", func(t *testing.T) {
		s := s.forSubtest(t)
		p := decode[planned](t, s.gc("collect", "-n", ns, "--dry-run", "-o", "json", "--as", user).exits(t, 0).warns(t, word, "the API server would refuse part of a run"))
		if len(p.Steps) != 2 {
			t.Errorf("%+v", p.Steps)
		}
	})
	t.Run("an unneeded permission may be missing", func(t *testing.T) {
		s := s.forSubtest(t)
		r := s.gc("delete", "--client-side", "secret/orphan", "-n", ns, "--yes", "--no-backup", "--as", user).exits(t, 0)
		if strings.Contains(r.Stderr, "you are not allowed to") {
			t.Errorf("it warns of nothing: %s", r.Stderr)
		}
		s.requireGone(orphan)
	})
}

// A server that answers must not be called unreachable.
func TestForbiddenDiscoveryIsReported(t *testing.T) {
	s := newScene(t)
	for _, command := range []string{"audit", "collect"} {
		s.gc(command, "--as", "system:anonymous").exits(t, 2).
			warns(t, "error: you are not allowed to ask https://", " which types it serves: ", "forbidden", "hint: log in, ", "system:discovery")
	}
}

// Whoever has rights in one namespace only undoes a deletion with the line that it prints, as it stands, and hears before
// it what he may not create again.
func TestUndoAsPrintedWorksWithARoleInOneNamespace(t *testing.T) {
	whole := withRealCollector.newScene(t)
	whole.switchCollector(testcluster.On)
	defer whole.switchCollector(testcluster.Absent)
	for name, c := range map[string]struct {
		rules []any // of the role, besides to list, get, delete and patch everything
		note  string
		undo  string // how the line begins
	}{
		"who may create everything": {[]any{rule("*", "*", "create")}, "", " Undo: kubectl gc restore "},
		"who may create no Pods and ReplicaSets": {
			[]any{rule("apps", "deployments", "create")},
			"note: you may not create these kinds, so your undo lacks them ", " Undo: kubectl gc restore ",
		},
		"who may create nothing": {nil, "note: you may not create these kinds, so your undo lacks them ", " Undo, for somebody who may create these objects: kubectl gc restore "},
	} {
		t.Run(name, func(t *testing.T) {
			s := whole.forSubtest(t)
			ns := s.namespace("role")
			s.grantRules("carol", ns, append(c.rules, rule("*", "*", "list", "get", "delete", "patch")), "list", "", "configmaps")
			dev := s.toolAs("carol")
			web := s.create(workload("Deployment", ns, "web"))
			s.awaitValue(web, 2, "status", "replicas")
			links := s.links(ns)
			r := dev.gc("delete", "deployment/web", "-n", ns, "--yes", "--backup-dir", t.TempDir()).shows(t, c.undo)
			if c.note == "" && strings.Contains(r.Stderr, "note: you may not") || !strings.Contains(r.Stderr, c.note) {
				t.Errorf("it notes %q", r.Stderr)
			}
			s.requireGone(web)
			_, line, _ := strings.Cut(r.Stdout, ": kubectl gc ")
			line, _, _ = strings.Cut(line, "\n")
			if c.rules == nil {
				return
			}
			dev.gc(append(strings.Fields(line), "--yes")...).exits(t, 0).shows(t, "created ")
			s.awaitValue(web, 2, "status", "replicas")
			if len(s.links(ns)) != len(links) {
				t.Errorf("the references are %v, and were %v", s.links(ns), links)
			}
		})
	}
}

func rule(group, resource string, verbs ...any) map[string]any {
	return map[string]any{"apiGroups": []any{group}, "resources": []any{resource}, "verbs": verbs}
}
