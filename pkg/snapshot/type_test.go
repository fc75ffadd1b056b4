package snapshot_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestFind(t *testing.T) {
	tests := map[string]struct {
		word string
		want []string
	}{
		"a plural":                                 {"pods", []string{"pods/v1"}},
		"a singular":                               {"pod", []string{"pods/v1"}},
		"a short name":                             {"po", []string{"pods/v1"}},
		"a kind":                                   {"Pod", []string{"pods/v1"}},
		"a word in upper case":                     {"DEPLOY", []string{"deployments.apps/v1"}},
		"a kind of several words":                  {"ReplicaSet", []string{"replicasets.apps/v1"}},
		"a short name of a group":                  {"deploy", []string{"deployments.apps/v1"}},
		"a plural and its group":                   {"deployments.apps", []string{"deployments.apps/v1"}},
		"a short name and its group":               {"deploy.apps", []string{"deployments.apps/v1"}},
		"a plural, version and group":              {"deployments.v1.apps", []string{"deployments.apps/v1"}},
		"a core plural, version and empty group":   {"pods.v1.", []string{"pods/v1"}},
		"the preferred version where none is said": {"roles", []string{"roles.rbac.authorization.k8s.io/v1"}},
		"the preferred version of a group":         {"roles.rbac.authorization.k8s.io", []string{"roles.rbac.authorization.k8s.io/v1"}},
		"a version that is not preferred":          {"roles.v1beta1.rbac.authorization.k8s.io", []string{"roles.rbac.authorization.k8s.io/v1beta1"}},
		"a word of two groups":                     {"widget", []string{"widgets.example.com/v1", "widgets.legacy.example.com/v1"}},
		"a word of the core group and another":     {"ev", []string{"events/v1", "events.events.k8s.io/v1"}},
		"the wrong group":                          {"deployments.batch", nil},
		"an unserved version":                      {"deployments.v1beta1.apps", nil},
		"an unknown word":                          {"nonsense", nil},
		"part of a word":                           {"deploymen", nil},
		"a category is not a type":                 {"all", nil},
		"no word":                                  {"", nil},
		"only a group":                             {".apps", nil},
		"only a dot":                               {".", nil},
		"a subresource":                            {"pods/status", nil},
	}
	types := append(st.Types(), snapshot.Type{Group: "apps", Version: "v1", Resource: "nosingulars", Kind: "NoSingular", Preferred: true})
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][]snapshot.Type{types, st.Reversed(types)} {
				var got []string
				for _, found := range snapshot.Find(order, test.word) {
					got = append(got, found.String()+"/"+found.Version)
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Errorf("%q:\n%s", test.word, diff)
				}
			}
		})
	}
}

// docs/gc-semantics.md#monitored-types
func TestMonitored(t *testing.T) {
	tests := map[string]struct {
		group, resource string
		verbs           []string
		preferred       bool
		want            bool
	}{
		"all verbs":                        {"apps", "deployments", []string{"create", "delete", "list", "watch"}, true, true},
		"neither get nor patch":            {"apps", "deployments", []string{"delete", "list", "watch"}, true, true},
		"no delete":                        {"apps", "deployments", []string{"get", "list", "watch"}, true, false},
		"no list":                          {"apps", "deployments", []string{"delete", "watch"}, true, false},
		"no watch":                         {"apps", "deployments", []string{"delete", "list"}, true, false},
		"not the preferred version":        {"apps", "deployments", []string{"delete", "list", "watch"}, false, false},
		"core events":                      {"", "events", []string{"delete", "list", "watch"}, true, false},
		"events of their own group":        {"events.k8s.io", "events", []string{"delete", "list", "watch"}, true, false},
		"events of somebody's own group":   {"calendar.example.com", "events", []string{"delete", "list", "watch"}, true, true},
		"another resource of events group": {"events.k8s.io", "others", []string{"delete", "list", "watch"}, true, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			typ := snapshot.Type{Group: test.group, Version: "v1", Resource: test.resource, Verbs: test.verbs, Preferred: test.preferred}
			if got := typ.Monitored(); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
