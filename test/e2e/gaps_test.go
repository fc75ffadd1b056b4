package e2e

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

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

func TestExpiredPagesLoseNoObjects(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("pages")
	owner := s.create(configMap(ns, "owner"))
	for i := range 12 {
		s.create(secret(ns, fmt.Sprintf("page-%02d", i), ownedBy(referenceTo(owner), reference("v1", "ConfigMap", "gone", "gone"))))
	}
	want := s.gc("audit", "-o", "json").exits(t, 0)
	expired := respondStatus(410, "Expired", "The provided continue parameter is too old")
	f := s.throughProxy(func(http.Handler) []fault { return []fault{{laterPages(anyRequest), expired}} })
	got := f.gc("audit", "-o", "json", "--chunk-size=5").exits(t, 0)
	if diff := cmp.Diff(ageless(want.Stdout), ageless(got.Stdout)); diff != "" {
		t.Errorf("in one page (-) and in pages that expire (+):\n%s", diff)
	}
	asked, later := f.matching(listOf("secrets")), f.matching(laterPages(listOf("secrets")))
	if len(later) == 0 || len(asked) > 8 {
		t.Errorf("Secrets were listed %d times, %d of them later pages", len(asked), len(later))
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

func TestInterruptEndsAStalledScan(t *testing.T) {
	s := newScene(t)
	for name, args := range map[string][]string{"audit": {"audit"}, "snapshot": {"snapshot", "-o", "-"}, "collect": {"collect", "--yes"}} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			f := s.throughProxy(func(http.Handler) []fault { return []fault{{listOf("secrets"), stall}} })
			p := f.start(args...)
			s.await("the scan to stall", func(context.Context) (bool, error) { return len(f.matching(listOf("secrets"))) > 0, nil })
			begun := time.Now()
			s.must(p.cmd.Process.Signal(os.Interrupt))
			r := p.wait().exits(t, 130)
			if took := time.Since(begun); took > 3*time.Second {
				t.Errorf("it takes %s", took)
			}
			if r.Stdout != "" || strings.Count(r.Stderr, "\n") != 1 || !strings.Contains(r.Stderr, "interrupted") {
				t.Errorf("stdout %q, stderr %q", r.Stdout, r.Stderr)
			}
		})
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
	r := bob.gc("audit").exits(t, 2).warns(t, "the server forbids all ", "use -n")
	if r.Stdout != "" {
		t.Errorf("there is output: %s", r.Stdout)
	}

	t.Run("the message names the limits of the scan", func(t *testing.T) {
		s := s.forSubtest(t)
		s.create(configMap(ns, "orphan", ownedBy(reference("v1", "Secret", "gone", "gone"))))
		s.create(configMap(ns, "global", ownedBy(reference("rbac.authorization.k8s.io/v1", "ClusterRole", "gone", "gone"))))
		got := s.toolAs("bob").audit("-n", ns)
		want := []string{"warning unverified-owner: ConfigMap/global: unknown", "error missing-owner: ConfigMap/orphan: delete"}
		if diff := cmp.Diff(want, got.briefIn(ns)); diff != "" {
			t.Errorf("findings (-want +got)\n%s", diff)
		}
		if got.Complete {
			t.Error("the owner's type was not scanned, but the report claims to be complete")
		}
	})
}
