package object_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

func TestUsageOf(t *testing.T) {
	for name, c := range map[string]struct {
		of   object.Identity
		json string
		uses []string // kind, name, what it is used as
	}{
		"a Pod mounts a Secret": {identity("v1", "Pod", "a"), `{"spec": {"volumes": [{"name": "v", "secret": {"secretName": "db"}}]}}`, []string{"Secret db volume"}},
		"a projected volume has sources": {
			identity("v1", "Pod", "a"), `{"spec": {"volumes": [{"projected": {"sources": [{"secret": {"name": "db"}}, {"configMap": {"name": "web", "optional": true}}, {"serviceAccountToken": {}}]}}]}}`,
			[]string{"Secret db volume", "ConfigMap web optional"},
		},
		"init containers and containers read their environment": {
			identity("v1", "Pod", "a"), `{"spec": {"initContainers": [{"env": [{"name": "A", "value": "a"}, {"name": "B", "valueFrom": {"secretKeyRef": {"name": "db", "key": "k"}}}]}], "containers": [{"envFrom": [{"configMapRef": {"name": "web"}}]}]}}`,
			[]string{"Secret db environment", "ConfigMap web environment"},
		},
		"an optional use comes after one that is not": {
			identity("v1", "Pod", "a"), `{"spec": {"containers": [{"envFrom": [{"secretRef": {"name": "db", "optional": true}}]}], "volumes": [{"secret": {"secretName": "db"}}]}}`,
			[]string{"Secret db volume", "Secret db optional"},
		},
		"a Pod names its account, its classes, its claims and a Secret to pull with": {
			identity("v1", "Pod", "a"), `{"spec": {"serviceAccountName": "web", "priorityClassName": "high", "runtimeClassName": "kata", "imagePullSecrets": [{"name": "hub"}], "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}, {"csi": {"driver": "d", "nodePublishSecretRef": {"name": "key"}}}]}}`,
			[]string{
				"PersistentVolumeClaim data claim", "Secret key volume", "Secret hub imagePullSecret", "ServiceAccount web serviceAccount",
				"PriorityClass.scheduling.k8s.io high podClass", "RuntimeClass.node.k8s.io kata podClass",
			},
		},
		"a claim has a class":                    {identity("v1", "PersistentVolumeClaim", "a"), `{"spec": {"storageClassName": "fast"}}`, []string{"StorageClass.storage.k8s.io fast storageClass"}},
		"an Ingress has a class":                 {identity("networking.k8s.io/v1", "Ingress", "a"), `{"spec": {"ingressClassName": "nginx"}}`, []string{"IngressClass.networking.k8s.io nginx ingressClass"}},
		"a RoleBinding may bind a Role":          {identity("rbac.authorization.k8s.io/v1", "RoleBinding", "a"), `{"roleRef": {"kind": "Role", "name": "r"}}`, []string{"Role.rbac.authorization.k8s.io r role"}},
		"or a ClusterRole":                       {identity("rbac.authorization.k8s.io/v1", "RoleBinding", "a"), `{"roleRef": {"kind": "ClusterRole", "name": "r"}}`, []string{"ClusterRole.rbac.authorization.k8s.io r role"}},
		"a Pod that mounts nothing uses nothing": {identity("v1", "Pod", "a"), `{"spec": {"volumes": [{"emptyDir": {}}, {"ephemeral": {}}]}}`, nil},
	} {
		t.Run(name, func(t *testing.T) {
			u, ok := object.UsageOf(c.of, json.RawMessage(c.json))
			var got []string
			for _, use := range u.Uses {
				got = append(got, use.GroupKind.String()+" "+use.Name+" "+string(use.As))
			}
			if diff := cmp.Diff(c.uses, got); diff != "" || !ok {
				t.Errorf("%t (-want +got)\n%s", ok, diff)
			}
		})
	}
}

func TestUsageOfWhatIsUnknown(t *testing.T) {
	for name, c := range map[string]struct {
		of   object.Identity
		json string
	}{
		"another kind":    {identity("example.com/v1", "Pod", "a"), `{}`},
		"a malformed Pod": {identity("v1", "Pod", "a"), `{"spec": {"volumes": "none"}}`},
	} {
		if u, ok := object.UsageOf(c.of, json.RawMessage(c.json)); ok || u.Uses != nil {
			t.Errorf("%s has a usage", name)
		}
	}
}

func TestUsageOfWhatServes(t *testing.T) {
	for want, of := range map[string]string{
		"ready":         `{"status": {"phase": "Running", "conditions": [{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "True"}]}}`,
		"not ready":     `{"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}]}}`,
		"ended":         `{"status": {"phase": "Failed", "conditions": [{"type": "Ready", "status": "True"}]}}`,
		"without state": `{}`,
	} {
		u, ok := object.UsageOf(identity("v1", "Pod", "a"), json.RawMessage(of))
		if !ok || u.Ready != (want == "ready") || u.Ended != (want == "ended") {
			t.Errorf("a Pod that is %s: %+v", want, u)
		}
	}
	for selector, protects := range map[string]bool{`{"matchLabels": {"app": "web"}}`: true, `{"matchLabels": {"app": "db"}}`: false, `{}`: true, `null`: false} {
		u, _ := object.UsageOf(identity("policy/v1", "PodDisruptionBudget", "a"), json.RawMessage(`{"spec": {"selector": `+selector+`}, "status": {"disruptionsAllowed": 2}}`))
		if u.Budget == nil || u.Budget.Allowed != 2 || u.Budget.Selector.Matches(labels.Set{"app": "web"}) != protects {
			t.Errorf("the selector %s: %+v", selector, u.Budget)
		}
	}
	u, _ := object.UsageOf(identity("apps/v1", "StatefulSet", "a"), json.RawMessage(`{"spec": {"selector": {}, "volumeClaimTemplates": [{"metadata": {"name": "data"}}]}}`))
	if diff := cmp.Diff([]string{"data"}, u.ClaimTemplates); diff != "" {
		t.Error(diff)
	}
}
