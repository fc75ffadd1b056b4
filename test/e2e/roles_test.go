package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	authorizationclient "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// right is the subject of a SubjectAccessReview: a verb on a type, or on a subresource of it.
type right struct{ verb, group, resource, subresource string }

func (r right) String() string {
	name := r.resource
	if r.subresource != "" {
		name += "/" + r.subresource
	}
	if r.group != "" {
		name += " in " + r.group
	}
	return r.verb + " " + name
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

// servedRights returns every verb on every type and subresource in discovery, and the permissions
// that RBAC knows although discovery does not list them.
func (s *scene) servedRights() []right {
	s.Helper()
	_, lists, err := s.discovery.ServerGroupsAndResources()
	s.must(err)
	verbs := map[string]bool{}
	for _, verb := range []string{
		"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
		"approve", "attest", "bind", "escalate", "impersonate", "proxy", "sign", "use",
	} {
		verbs[verb] = true
	}
	names := map[right]bool{
		{resource: "*", group: "*"}:                                                     true,
		{resource: "*", group: "*", subresource: "*"}:                                   true,
		{resource: "widgets", group: "not.installed.example.com"}:                       true,
		{resource: "users"}:                                                             true,
		{resource: "groups"}:                                                            true,
		{resource: "uids", group: "authentication.k8s.io"}:                              true,
		{resource: "userextras", group: "authentication.k8s.io", subresource: "scopes"}: true,
		{resource: "signers", group: "certificates.k8s.io"}:                             true,
		{resource: "deployments", group: "apps", subresource: "finalizers"}:             true, // OwnerReferencesPermissionEnforcement
	}
	for _, subresource := range []string{"checkpoint", "configz", "healthz", "log", "metrics", "pods", "stats"} {
		names[right{resource: "nodes", subresource: subresource}] = true // the API of the kubelet
	}
	for _, list := range lists {
		group, _, found := strings.Cut(list.GroupVersion, "/")
		if !found {
			group = ""
		}
		for _, r := range list.APIResources {
			for _, verb := range r.Verbs {
				verbs[verb] = true
			}
			resource, subresource, _ := strings.Cut(r.Name, "/")
			names[right{group: group, resource: resource, subresource: subresource}] = true
		}
	}
	var all []right
	for name := range names {
		for verb := range verbs {
			name.verb = verb
			all = append(all, name)
		}
	}
	return all
}

// allowedRights asks the API server which of the permissions a service account has.
func (s *scene) allowedRights(account object, rights []right) []right {
	s.Helper()
	config := rest.CopyConfig(s.config)
	config.ContentType, config.AcceptContentTypes = runtime.ContentTypeProtobuf, runtime.ContentTypeProtobuf
	client, err := authorizationclient.NewForConfig(config)
	s.must(err)
	spec := authorizationv1.SubjectAccessReviewSpec{
		User:   "system:serviceaccount:" + account.GetNamespace() + ":" + account.GetName(),
		Groups: []string{"system:serviceaccounts", "system:serviceaccounts:" + account.GetNamespace(), "system:authenticated"},
	}
	var (
		group errgroup.Group
		mutex sync.Mutex
		out   []right
	)
	group.SetLimit(16)
	for _, r := range rights {
		group.Go(func() error {
			review := &authorizationv1.SubjectAccessReview{Spec: spec}
			review.Spec.ResourceAttributes = &authorizationv1.ResourceAttributes{Verb: r.verb, Group: r.group, Resource: r.resource, Subresource: r.subresource}
			answer, err := client.SubjectAccessReviews().Create(s.Context(), review, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			if answer.Status.EvaluationError != "" {
				return fmt.Errorf("%s: %s", r, answer.Status.EvaluationError)
			}
			if answer.Status.Allowed {
				mutex.Lock()
				defer mutex.Unlock()
				out = append(out, r)
			}
			return nil
		})
	}
	s.must(group.Wait())
	return out
}

// boundAccount creates a service account with a role for the whole cluster, and returns it when
// the API server has noticed.
func (s *scene) boundAccount(namespace string, role rbacv1.ClusterRole) (account object) {
	s.Helper()
	account = s.create(newObject("v1", "ServiceAccount", namespace, role.Name))
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&role)
	s.must(err)
	s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRole", "", role.Name, withField("rules", content["rules"])))
	s.create(newObject("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", role.Name,
		withField("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role.Name}),
		withField("subjects", []any{map[string]any{"kind": "ServiceAccount", "namespace": namespace, "name": role.Name}})))
	s.await("the rights of "+role.Name, func(context.Context) (bool, error) {
		return len(s.allowedRights(account, []right{{verb: "get", resource: "namespaces"}})) == 1, nil
	})
	return account
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
	page, ns, rights := rightsPage(t), s.namespace("roles"), s.servedRights()
	for _, r := range []right{
		{"get", "", "pods", "exec"}, {"create", "", "serviceaccounts", "token"}, {"get", "", "nodes", "proxy"}, {"get", "roles.example.com", "pods", "status"},
	} {
		if !slices.Contains(rights, r) {
			t.Errorf("the test does not check whether a role may %s", r)
		}
	}
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
			want := page.grants(role)
			for _, r := range s.allowedRights(s.boundAccount(ns, role), rights) {
				switch {
				case r.subresource != "":
					t.Errorf("it may %s, which is a subresource", r)
				case !want[r]:
					t.Errorf("it may %s, which docs/rbac.md does not say", r)
				}
				delete(want, r)
			}
			for r := range want {
				t.Errorf("it may not %s, which docs/rbac.md says", r)
			}
		})
	}
	t.Logf("%d questions for each role", len(rights))
}

// grants returns what the page grants to the holder of a role: the verbs of the role on the types
// that it names, and what system:basic-user grants to everybody.
func (d documented) grants(role rbacv1.ClusterRole) map[right]bool {
	out := map[right]bool{
		{verb: "create", group: "authorization.k8s.io", resource: "selfsubjectaccessreviews"}: true,
		{verb: "create", group: "authorization.k8s.io", resource: "selfsubjectrulesreviews"}:  true,
		{verb: "create", group: "authentication.k8s.io", resource: "selfsubjectreviews"}:      true,
	}
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
