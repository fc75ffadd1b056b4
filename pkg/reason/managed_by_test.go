package reason_test

import (
	"maps"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestManagerOf(t *testing.T) {
	type m = map[string]string
	controller := object.Reference{Controller: new(true)}
	flux := m{"kustomize.toolkit.fluxcd.io/name": "apps", "kustomize.toolkit.fluxcd.io/namespace": "flux-system"}
	helm, helmRelease := m{"app.kubernetes.io/managed-by": "Helm"}, m{"meta.helm.sh/release-name": "web", "meta.helm.sh/release-namespace": "shop"}
	wrangler := m{
		"objectset.rio.cattle.io/owner-gvk": "k3s.cattle.io/v1, Kind=Addon", "objectset.rio.cattle.io/owner-name": "coredns", "objectset.rio.cattle.io/owner-namespace": "",
	}
	with := func(base m, key, value string) m {
		out := maps.Clone(base)
		out[key] = value
		return out
	}
	for name, c := range map[string]struct {
		object              object.Object
		labels, annotations m
		want                string
	}{
		"a cluster-scoped object of Argo CD has the namespace of the destination": {
			object.Object{Identity: object.Identity{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole", Name: "system:web"}},
			nil,
			m{"argocd.argoproj.io/tracking-id": "web:rbac.authorization.k8s.io/ClusterRole:shop/system:web"},
			"Argo CD's Application web contains it: its next sync recreates it, unless its source no longer has it",
		},
		"a tracking id counts for an object with an owner": {
			object.Object{Identity: pod, Owners: []object.Reference{controller}},
			nil,
			m{"argocd.argoproj.io/tracking-id": "web:/Pod:shop/web"},
			"Argo CD's Application web contains it: its next sync recreates it, unless its source no longer has it",
		},
		"the Service of the API server":                    {object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Service", Namespace: "default", Name: "kubernetes"}}, nil, nil, "the API server recreates it within a minute"},
		"its namesake in another namespace":                {object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Service", Namespace: "shop", Name: "kubernetes"}}, nil, nil, ""},
		"the namespace of the Leases of Nodes":             {object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "Namespace", Name: "kube-node-lease"}}, nil, nil, "the API server recreates it within a minute"},
		"a mandatory FlowSchema":                           {object.Object{Identity: object.Identity{APIVersion: "flowcontrol.apiserver.k8s.io/v1", Kind: "FlowSchema", Name: "catch-all"}}, nil, nil, "the API server recreates it within a minute"},
		"a FlowSchema that is only a suggestion":           {object.Object{Identity: object.Identity{APIVersion: "flowcontrol.apiserver.k8s.io/v1", Kind: "FlowSchema", Name: "global-default"}}, nil, nil, ""},
		"a tracking id of another name":                    {object.Object{Identity: pod}, nil, m{"argocd.argoproj.io/tracking-id": "web:/Pod:shop/api"}, ""},
		"a tracking id of another namespace":               {object.Object{Identity: pod}, nil, m{"argocd.argoproj.io/tracking-id": "web:/Pod:bank/web"}, ""},
		"a tracking id of another kind":                    {object.Object{Identity: pod}, nil, m{"argocd.argoproj.io/tracking-id": "web:/Service:shop/web"}, ""},
		"a tracking id of another group":                   {object.Object{Identity: pod}, nil, m{"argocd.argoproj.io/tracking-id": "web:apps/Pod:shop/web"}, ""},
		"a tracking id that is none":                       {object.Object{Identity: pod}, m{"argocd.argoproj.io/instance": "web"}, m{"argocd.argoproj.io/tracking-id": "web"}, ""},
		"an Application without a name":                    {object.Object{Identity: pod}, nil, m{"argocd.argoproj.io/tracking-id": "team_:/Pod:shop/web"}, ""},
		"the label of Argo CD on a dependent":              {object.Object{Identity: pod, Owners: []object.Reference{{}}}, m{"argocd.argoproj.io/instance": "web"}, nil, ""},
		"labels of Flux that a controller copied":          {object.Object{Identity: pod, Owners: []object.Reference{controller}}, flux, nil, ""},
		"labels of Flux without a namespace":               {object.Object{Identity: pod}, with(flux, "kustomize.toolkit.fluxcd.io/namespace", ""), nil, ""},
		"labels of Flux with an invalid name":              {object.Object{Identity: pod}, with(flux, "kustomize.toolkit.fluxcd.io/name", "Apps"), nil, ""},
		"a HelmRelease of Flux goes before Helm":           {object.Object{Identity: pod}, with(with(helm, "helm.toolkit.fluxcd.io/name", "web"), "helm.toolkit.fluxcd.io/namespace", "shop"), helmRelease, "Flux's HelmRelease web in namespace shop contains it: its next upgrade or drift correction recreates it"},
		"Helm's label in another case":                     {object.Object{Identity: pod}, m{"app.kubernetes.io/managed-by": "helm"}, helmRelease, ""},
		"Helm's annotations alone":                         {object.Object{Identity: pod}, nil, helmRelease, ""},
		"a command in the name of a release":               {object.Object{Identity: pod}, helm, with(helmRelease, "meta.helm.sh/release-name", "web;reboot"), ""},
		"a flag in the name of a release":                  {object.Object{Identity: pod}, helm, with(helmRelease, "meta.helm.sh/release-name", "--keep-history"), ""},
		"a cluster-scoped owner of wrangler":               {object.Object{Identity: pod}, m{"objectset.rio.cattle.io/hash": "b1"}, wrangler, "the controller of Addon coredns applied it, and may recreate it"},
		"an owner of wrangler with an escape":              {object.Object{Identity: pod}, m{"objectset.rio.cattle.io/hash": "b1"}, with(wrangler, "objectset.rio.cattle.io/owner-gvk", "k3s.cattle.io/v1, Kind=Add\x1b[2Jon"), ""},
		"annotations of wrangler that a controller copied": {object.Object{Identity: pod}, nil, wrangler, ""},
		"a composite resource without a claim": {
			object.Object{Identity: pod, Owners: []object.Reference{controller}},
			m{"crossplane.io/composite": "db-x7k"},
			m{"crossplane.io/composition-resource-name": "pod"},
			"Crossplane composed it for composite resource db-x7k, and recreates it as long as that exists",
		},
		"a mark of Crossplane without its controller": {object.Object{Identity: pod}, m{"crossplane.io/composite": "db-x7k"}, m{"crossplane.io/composition-resource-name": "pod"}, ""},
		"kapp's mark of another object":               {object.Object{Identity: pod}, m{"kapp.k14s.io/app": "16"}, m{"kapp.k14s.io/identity": "v1;shop//Pod/api;v1"}, ""},
		"a mirror annotation on no Pod":               {object.Object{Identity: job}, nil, m{"kubernetes.io/config.mirror": "4f1e"}, ""},
		"a mode that no addon manager knows":          {object.Object{Identity: pod}, m{"addonmanager.kubernetes.io/mode": "true"}, nil, ""},
		"another ServiceAccount of a namespace":       {object.Object{Identity: object.Identity{APIVersion: "v1", Kind: "ServiceAccount", Namespace: "shop", Name: "web"}}, nil, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			by, ok := reason.ManagerOf(&c.object, c.labels, c.annotations)
			if got := by.Message(); ok != (c.want != "") || ok && got != c.want {
				t.Errorf("got %q", got)
			}
		})
	}
}

func TestManagersThatLeaveNoMark(t *testing.T) {
	if got := reason.ControllerReplaces(job).Message(); got != "its controller Job/import will likely create another" {
		t.Errorf("got %q", got)
	}
	if got := (reason.ManagedBy{Manager: "Pulumi"}).Message(); got != "Pulumi may recreate it" {
		t.Errorf("got %q", got)
	}
}
