package restore_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A person is to see first what gives rights, or decides what the API server accepts.
func TestGrantingObjectsAreMarked(t *testing.T) {
	var saved, want, got []string
	for _, c := range []struct {
		object string // apiVersion, kind and further fields
		grants bool
	}{
		{"v1 ConfigMap", false},
		{"v1 Secret type: Opaque", false},
		{"v1 Secret type: kubernetes.io/service-account-token", true},
		{"v1 Secret type: bootstrap.kubernetes.io/token", true},
		{"v1 ServiceAccount", false},
		{"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration", true},
		{"apiextensions.k8s.io/v1 CustomResourceDefinition spec: {conversion: {strategy: None}}", false},
		{"apiextensions.k8s.io/v1 CustomResourceDefinition spec: {conversion: {strategy: Webhook}}", true},
	} {
		words := strings.SplitN(c.object, " ", 3)
		name := "o" + string(rune('a'+len(saved)))
		namespace := ", namespace: shop"
		if words[0] != "v1" {
			namespace = ""
		}
		saved = append(saved, "{apiVersion: "+words[0]+", kind: "+words[1]+", metadata: {name: "+name+namespace+", uid: u-"+name+"}"+strings.Join(append([]string{""}, words[2:]...), ", ")+"}")
		if c.grants {
			want = append(want, words[1]+"/"+name)
		}
	}
	for _, s := range restorationOf(t, scenario{saved: saved}).Plan.Steps {
		if s.Creation.Grants {
			got = append(got, s.Object.String())
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
