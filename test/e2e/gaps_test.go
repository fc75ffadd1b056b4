package e2e

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// createUnreadableOwners creates two ConfigMaps owned by Secrets: one Secret exists, the other
// does not.
func (s *scene) createUnreadableOwners(namespace string) {
	s.Helper()
	owner := s.create(secret(namespace, "owner"))
	s.create(configMap(namespace, "owned", ownedBy(referenceTo(owner))))
	s.create(configMap(namespace, "orphan", ownedBy(referenceTo(owner, named("gone"), func(r *metav1.OwnerReference) { r.UID = "gone" }))))
}

// findingsWithoutSecrets are the findings about them if Secrets cannot be read.
var findingsWithoutSecrets = []string{
	"warning unverified-owner: ConfigMap/orphan: unknown",
	"warning unverified-owner: ConfigMap/owned: unknown",
}

// findingsWithSecrets are the findings about them if Secrets can be read.
var findingsWithSecrets = []string{"error missing-owner: ConfigMap/orphan: delete"}

// requireGaps requires that a report is incomplete with exactly these gaps.
func (s *scene) requireGaps(r report, want ...gap) {
	s.Helper()
	if r.Complete {
		s.Error("the report claims to be complete")
	}
	if diff := cmp.Diff(want, r.Gaps, cmpopts.IgnoreFields(gap{}, "Message")); diff != "" {
		s.Errorf("gaps (-want +got)\n%s", diff)
	}
	for _, g := range r.Gaps {
		if g.Message == "" {
			s.Errorf("the gap %+v has no message", g)
		}
	}
}

func TestUnreadableTypeIsAGapAndItsObjectsAreNotMissing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fault  func(through http.Handler) http.HandlerFunc
		args   []string
		reason string
	}{
		"it answers 500": {
			fault:  func(http.Handler) http.HandlerFunc { return respondStatus(500, "InternalError", "etcd is on fire") },
			reason: "server-error",
		},
		"it always answers 429 with Retry-After": {
			fault: func(http.Handler) http.HandlerFunc {
				return respondStatus(429, "TooManyRequests", "not now", "Retry-After", "1")
			},
			reason: "throttled",
		},
		"it stalls": {
			fault: func(http.Handler) http.HandlerFunc { return stall },
			args:  []string{"--request-timeout=2s"}, reason: "timeout",
		},
		"the response is truncated": {fault: truncateBody, reason: "unavailable"},
		"it answers with a plain 404": {
			fault:  func(http.Handler) http.HandlerFunc { return respondUnknownPath },
			reason: "vanished",
		},
		"it answers with another document": {
			fault: func(http.Handler) http.HandlerFunc {
				return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>login here</html>") }
			},
			reason: "unreadable",
		},
		"every page has expired, even the first": {
			fault:  func(http.Handler) http.HandlerFunc { return respondStatus(410, "Expired", "too old") },
			reason: "server-error",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			ns := s.namespace("gaps")
			s.createUnreadableOwners(ns)
			f := s.throughProxy(func(through http.Handler) []fault {
				return []fault{{func(r *http.Request) bool { return listOf("secrets")(r) || getOf("secrets")(r) }, c.fault(through)}}
			})
			got := f.auditIncomplete([]string{"secrets", c.reason}, c.args...)
			s.requireGaps(got, gap{Resource: "secrets", Reason: c.reason})
			if diff := cmp.Diff(findingsWithoutSecrets, got.briefIn(ns)); diff != "" {
				t.Errorf("findings (-want +got)\n%s", diff)
			}
			shown := decode[tree](t, f.gc(append([]string{"tree", "configmap/owned", "-n", ns, "-o", "json"}, c.args...)...).exits(t, 0).warns(t, "secrets", c.reason))
			if shown.Complete || len(shown.Gaps) != 1 || shown.Objects[0].Owners[0].Rule != "unverified-owner" {
				t.Errorf("the tree does not say what it lacks: %+v", shown)
			}
		})
	}
}

func Test404WithoutOwnerNameDoesNotProveAbsence(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("gaps")
	s.createUnreadableOwners(ns)
	f := s.throughProxy(func(http.Handler) []fault { return []fault{{getOf("secrets"), respondUnknownPath}} })
	got := f.auditIncomplete([]string{"secrets", "unproven"})
	s.requireGaps(got, gap{Resource: "secrets", Namespace: ns, Name: "gone", Reason: "unproven"})
	if diff := cmp.Diff(findingsWithoutSecrets[:1], got.briefIn(ns)); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
	f.gc("audit").exits(t, 0).warns(t, "single owners of 1 type", "secrets/gone", "unproven")
}

func TestExpiredPagesLoseNoObjects(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("pages")
	owner := s.create(configMap(ns, "owner"))
	for i := range 12 {
		s.create(secret(ns, fmt.Sprintf("page-%02d", i), ownedBy(referenceTo(owner), reference("v1", "ConfigMap", "gone", "gone"))))
	}
	want := s.gc("audit", "-o", "json").exits(t, 0)
	expired := respondStatus(410, "Expired", "The provided continue parameter is too old")
	for name, about := range map[string]func(*http.Request) bool{
		"once":            firstOnly(laterPages(listOf("secrets"))),
		"again and again": laterPages(listOf("secrets")),
		"of every type":   laterPages(anyRequest),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			f := s.throughProxy(func(http.Handler) []fault { return []fault{{about, expired}} })
			got := f.gc("audit", "-o", "json", "--chunk-size=5").exits(t, 0)
			if diff := cmp.Diff(ageless(want.Stdout), ageless(got.Stdout)); diff != "" {
				t.Errorf("in one page (-) and in pages that expire (+):\n%s", diff)
			}
			if asked := f.matching(laterPages(listOf("secrets"))); len(asked) == 0 {
				t.Error("the list was not requested in pages")
			}
			if asked := f.matching(listOf("secrets")); len(asked) > 8 {
				t.Errorf("Secrets were listed %d times", len(asked))
			}
		})
	}
}

// grant lets a user do something with some types, in one namespace or, if that is empty, in the
// whole cluster.
func (s *scene) grant(user, namespace string, groups, resources, verbs []any) {
	s.Helper()
	rules := []any{map[string]any{"apiGroups": groups, "resources": resources, "verbs": verbs}}
	s.grantRules(user, namespace, rules, fmt.Sprint(verbs[0]), strings.Trim(fmt.Sprint(groups[0]), "*"), resourceOrConfigMaps(resources[0]))
}

// grantRules gives a user a role with these rules, and returns when the API server allows the
// verb for the type.
func (s *scene) grantRules(user, namespace string, rules []any, verb, group, resource string) {
	s.Helper()
	kind, name := "ClusterRole", strings.ToLower(user)+"-e2e"
	s.create(newObject("rbac.authorization.k8s.io/v1", roleKind(namespace, kind), namespace, name, withField("rules", rules)))
	s.create(newObject("rbac.authorization.k8s.io/v1", roleKind(namespace, kind)+"Binding", namespace, name,
		withField("roleRef", map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": roleKind(namespace, kind), "name": name}),
		withField("subjects", []any{map[string]any{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}})))
	// The authorizer takes a moment to notice new roles.
	review := newObject("authorization.k8s.io/v1", "SubjectAccessReview", "", "", withField("spec", map[string]any{
		"user":               user,
		"resourceAttributes": map[string]any{"namespace": namespace, "verb": verb, "group": group, "resource": resource},
	}))
	s.await("the rights of "+user, func(ctx context.Context) (bool, error) {
		answer, err := s.client(review).Create(ctx, review.Unstructured, metav1.CreateOptions{})
		if err != nil {
			return false, err
		}
		status, _ := answer.Object["status"].(map[string]any)
		return status["allowed"] == true, nil
	})
}

func roleKind(namespace, kind string) string {
	if namespace == "" {
		return kind
	}
	return strings.TrimPrefix(kind, "Cluster")
}

func resourceOrConfigMaps(resource any) string {
	if resource == "*" {
		return "configmaps"
	}
	return fmt.Sprint(resource)
}

func TestAuditWithPermissionForSomeTypesIsIncomplete(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("alice")
	s.createUnreadableOwners(ns)
	s.create(configMap(ns, "of-a-pod", ownedBy(referenceTo(s.create(pod(ns, "there"))))))
	s.create(configMap(ns, "of-no-pod", ownedBy(reference("v1", "Pod", "gone", "gone"))))
	s.grant("alice", "", []any{""}, []any{"configmaps", "secrets"}, []any{"list", "get"})
	alice := s.toolAs("alice")

	got := alice.auditIncomplete([]string{"could not be read", "forbidden"})
	for _, g := range got.Gaps {
		if g.Reason != "forbidden" || g.Resource == "configmaps" || g.Resource == "secrets" {
			t.Errorf("gap %+v", g)
		}
	}
	want := []string{
		"warning unverified-owner: ConfigMap/of-a-pod: unknown",
		"warning unverified-owner: ConfigMap/of-no-pod: unknown",
		findingsWithSecrets[0],
	}
	if diff := cmp.Diff(want, got.briefIn(ns)); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
	alice.gc("audit").exits(t, 1).warns(t, "could not be read", "forbidden")
}

func TestOwnerIsNotMissingForUserWhoMayListButNotGet(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("carol")
	s.createUnreadableOwners(ns)
	s.grant("carol", "", []any{""}, []any{"configmaps", "secrets"}, []any{"list"})
	got := s.toolAs("carol").auditIncomplete([]string{"could not be read"}, "-n", ns)
	if !slices.ContainsFunc(got.Gaps, func(g gap) bool { return g.Resource == "secrets" && g.Namespace == ns && g.Reason == "forbidden" }) {
		t.Errorf("no gap for Secrets: %+v", got.Gaps)
	}
	if diff := cmp.Diff(findingsWithoutSecrets[:1], got.briefIn(ns)); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
}

func TestUserLimitedToOneNamespaceHasToNameIt(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("bob")
	owner := s.create(secret(ns, "owner"))
	s.create(configMap(ns, "owned", ownedBy(referenceTo(owner))))
	s.grant("bob", ns, []any{"*"}, []any{"*"}, []any{"list", "get"})
	bob := s.toolAs("bob")

	if got := bob.audit("-n", ns, "--strict"); !got.Complete || len(got.Findings) > 0 {
		t.Errorf("there should be no findings, but the audit has %+v", got)
	}
	r := bob.gc("audit").exits(t, 2).warns(t, "forbidden", "-n")
	if r.Stdout != "" {
		t.Errorf("there is output: %s", r.Stdout)
	}

	t.Run("the message names the limits of the scan", func(t *testing.T) {
		s := s.forSubtest(t)
		s.create(configMap(ns, "orphan", ownedBy(reference("v1", "Secret", "gone", "gone"))))
		s.create(configMap(ns, "global", ownedBy(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "gone", "gone"))))
		got := s.toolAs("bob").audit("-n", ns)
		want := []string{"warning unverified-owner: ConfigMap/global: unknown", findingsWithSecrets[0]}
		if diff := cmp.Diff(want, got.briefIn(ns)); diff != "" {
			t.Errorf("findings (-want +got)\n%s", diff)
		}
		if got.Complete {
			t.Error("the owner's type was not scanned, but the report claims to be complete")
		}
	})
}

// brokenAPIService registers an APIService without a server behind it.
func (s *scene) brokenAPIService(group string) {
	s.Helper()
	s.create(newObject("apiregistration.k8s.io/v1", "APIService", "", "v1."+group, withField("spec", map[string]any{
		"group": group, "version": "v1", "groupPriorityMinimum": int64(100), "versionPriority": int64(100), "insecureSkipTLSVerify": true,
		"service": map[string]any{"namespace": "default", "name": "nowhere", "port": int64(443)},
	})))
	// Cleanups run in reverse order: this one waits until the APIService is gone.
	s.Cleanup(func() {
		s.clear()
		s.awaitDiscovery("of all groups", func(err error) bool { return err == nil })
	})
	s.awaitDiscovery("without "+group, func(err error) bool { return err != nil && strings.Contains(err.Error(), group) })
}

func (s *scene) awaitDiscovery(of string, done func(error) bool) {
	s.Helper()
	s.await("discovery "+of, func(context.Context) (bool, error) {
		_, _, err := s.discovery.ServerGroupsAndResources()
		return done(err), nil
	})
}

func TestUnavailableAPIServiceIsAGapOfItsGroup(t *testing.T) {
	const group = "nowhere.example.com"
	s := newScene(t)
	ns := s.namespace("nowhere")
	s.createUnreadableOwners(ns)
	s.create(configMap(ns, "lost", ownedBy(reference(group+"/v1", "Thing", "owner", "uid"))))
	before := s.tool().audit()
	if diff := cmp.Diff([]string{"error unknown-owner-kind: ConfigMap/lost: stuck", findingsWithSecrets[0]}, before.briefIn(ns)); diff != "" {
		t.Errorf("before (-want +got)\n%s", diff)
	}
	s.brokenAPIService(group)
	got := s.tool().auditIncomplete([]string{group, "APIService v1." + group})
	s.requireGaps(got, gap{Group: group, Resource: "*", Reason: "unavailable"})
	if diff := cmp.Diff([]string{"warning unverified-owner: ConfigMap/lost: unknown", findingsWithSecrets[0]}, got.briefIn(ns)); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
	if shown := decode[tree](t, s.gc("tree", "-n", ns, "-o", "json").exits(t, 0)); shown.Complete {
		t.Error("the tree claims to be complete")
	}
}

// brokenConversionWebhook defines a kind whose objects are stored as v1 and served as v2, with a
// conversion webhook that never answers.
func (s *scene) brokenConversionWebhook(group, kind string) {
	s.Helper()
	crd := definition(group, kind, "Namespaced", version("v1", true), version("v2", true))
	crd.Object["spec"].(map[string]any)["conversion"] = map[string]any{
		"strategy": "Webhook",
		"webhook": map[string]any{
			"conversionReviewVersions": []any{"v1"},
			"clientConfig":             map[string]any{"url": fmt.Sprintf("https://127.0.0.1:%d/convert", s.unusedPort())},
		},
	}
	s.define(crd)
}

func TestCRDWithDeadConversionWebhookIsAGap(t *testing.T) {
	const group = "dead.example.com"
	s := newScene(t)
	ns := s.namespace("dead")
	s.createUnreadableOwners(ns)
	s.brokenConversionWebhook(group, "Relic")
	relic := s.create(newObject(group+"/v1", "Relic", ns, "relic"))
	s.create(configMap(ns, "of-a-relic", ownedBy(referenceTo(relic))))
	s.create(configMap(ns, "of-no-relic", ownedBy(referenceTo(relic, named("gone")))))

	got := s.tool().auditIncomplete([]string{"relics." + group, "conversion-webhook"})
	s.requireGaps(got, gap{Group: group, Resource: "relics", Reason: "conversion-webhook"})
	want := []string{
		"warning unverified-owner: ConfigMap/of-a-relic: unknown",
		"warning unverified-owner: ConfigMap/of-no-relic: unknown",
		findingsWithSecrets[0],
	}
	if diff := cmp.Diff(want, got.briefIn(ns)); diff != "" {
		t.Errorf("findings (-want +got)\n%s", diff)
	}
}
