package simulate_test

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestInUseNamesWhatEachFinalizerProtectsItsObjectFor(t *testing.T) {
	const (
		snapshots = "snapshot.storage.k8s.io/v1"
		ours      = "snapshot.storage.kubernetes.io/"
		byDriver  = "provisioner.storage.kubernetes.io/"
	)
	served := st.Workloads()
	for apiVersion, kinds := range map[string]string{
		"v1": "PersistentVolumeClaim PersistentVolume", "storage.k8s.io/v1": "VolumeAttachment VolumeAttributesClass",
		snapshots: "VolumeSnapshot VolumeSnapshotContent", "resource.k8s.io/v1": "ResourceClaim", "scheduling.k8s.io/v1beta1": "PodGroup",
	} {
		for kind := range strings.FieldsSeq(kinds) {
			i := object.Identity{APIVersion: apiVersion, Kind: kind}
			served = append(served, *snapshot.GuessType(i.GroupVersionKind()))
		}
	}
	claim, claims := st.Object("v1", "PersistentVolumeClaim", "shop/data"), st.WithClaims
	volume := func(o ...st.Option) object.Object { return st.Object("v1", "PersistentVolume", "pv", o...) }
	snap := func(o ...st.Option) object.Object {
		return st.Object(snapshots, "VolumeSnapshot", "shop/nightly", o...)
	}
	content := func(o ...st.Option) object.Object {
		return st.Object(snapshots, "VolumeSnapshotContent", "content", o...)
	}
	newClaim := func(source string) object.Object {
		return st.Object("v1", "PersistentVolumeClaim", "shop/new", claims(source))
	}
	device := st.Object("resource.k8s.io/v1", "ResourceClaim", "shop/gpu")
	reserved := func(pods ...string) object.Object {
		return st.Object("resource.k8s.io/v1", "ResourceClaim", "shop/gpu", claims(pods...))
	}
	group := st.Object("scheduling.k8s.io/v1beta1", "PodGroup", "shop/train")
	for name, c := range map[string]struct {
		protected object.Object
		finalizer string
		others    []object.Object
		want      string
	}{
		"a claim that a Pod mounts":           {claim, simulate.ClaimProtection, []object.Object{st.Pod("shop/db", claims("data"))}, "is in use by Pod/db"},
		"not by a Pod in another namespace":   {claim, simulate.ClaimProtection, []object.Object{st.Pod("shop/db", claims()), st.Pod("bank/db", claims("data"))}, ""},
		"a claim whose Pods were not read":    {claim, simulate.ClaimProtection, []object.Object{st.Pod("shop/db")}, "may be in use: this tool has not read what uses it"},
		"a claim of which a snapshot is made": {claim, ours + "pvc-as-source-protection", []object.Object{snap(storage(object.Storage{Claim: "data"}))}, "is in use by VolumeSnapshot/nightly"},
		"not if the snapshot is ready":        {claim, ours + "pvc-as-source-protection", []object.Object{snap(storage(object.Storage{Claim: "data", ReadyToUse: true}))}, ""},
		"a snapshot that was not read":        {claim, ours + "pvc-as-source-protection", []object.Object{snap()}, "may be in use: this tool has not read what uses it"},
		"a claim that is being cloned":        {claim, byDriver + "cloning-protection", []object.Object{newClaim("PersistentVolumeClaim/data"), volume()}, "is in use by PersistentVolumeClaim/new; and maybe more"},
		"a volume that is bound":              {volume(claims("shop/data")), simulate.VolumeProtection, []object.Object{claim}, "is in use by PersistentVolumeClaim/data in namespace shop"},
		"not by a claim that is gone":         {volume(claims("shop/data")), simulate.VolumeProtection, nil, ""},
		"a volume that was not read":          {volume(), simulate.VolumeProtection, []object.Object{claim}, "may be in use: this tool has not read what uses it"},
		"a volume that is attached":           {volume(claims()), "external-attacher/csi-example-com", []object.Object{st.Object("storage.k8s.io/v1", "VolumeAttachment", "csi-1", claims("pv"))}, "is in use by VolumeAttachment/csi-1"},
		"a snapshot that becomes a volume":    {snap(storage(object.Storage{})), ours + "volumesnapshot-as-source-protection", []object.Object{newClaim("VolumeSnapshot/nightly")}, "is in use by PersistentVolumeClaim/new"},
		"the same, protected by its driver":   {snap(storage(object.Storage{})), byDriver + "volumesnapshot-as-source-protection", []object.Object{newClaim("VolumeSnapshot/nightly")}, "is in use by PersistentVolumeClaim/new"},
		"a snapshot that has a content":       {snap(storage(object.Storage{})), ours + "volumesnapshot-bound-protection", []object.Object{content(claims("shop/nightly"))}, "is in use by VolumeSnapshotContent/content"},
		"the content of a snapshot":           {content(claims("shop/nightly")), ours + "volumesnapshotcontent-bound-protection", []object.Object{snap(storage(object.Storage{}))}, "is in use by VolumeSnapshot/nightly in namespace shop"},
		"a device that a Pod has reserved":    {device, simulate.ResourceClaimProtection, []object.Object{st.Pod("shop/a", claims("ResourceClaim/gpu"))}, "is in use by Pod/a"},
		"a device, reserved for that Pod":     {reserved("a"), simulate.ResourceClaimProtection, []object.Object{st.Pod("shop/a", claims("ResourceClaim/gpu")), st.Pod("shop/b", claims("ResourceClaim/gpu"))}, "is in use by Pod/a"},
		"not by a Pod that only names it":     {reserved(), simulate.ResourceClaimProtection, []object.Object{st.Pod("shop/a", claims("ResourceClaim/gpu"))}, ""},
		"a device whose Pods were not read":   {device, simulate.ResourceClaimProtection, []object.Object{st.Pod("shop/a")}, "may be in use: this tool has not read what uses it"},
		"a group of Pods":                     {group, simulate.PodGroupProtection, []object.Object{st.Pod("shop/a", claims("PodGroup/train")), st.Pod("shop/b", claims("PodGroup/train"))}, "is in use by Pod/a, Pod/b"},
		"a class, whose users nobody reads":   {st.Object("storage.k8s.io/v1", "VolumeAttributesClass", "gold"), "kubernetes.io/vac-protection", nil, "may be in use: this tool has not read what uses it"},
		"a cleanup protects nothing":          {claim, "example.com/cleanup", []object.Object{st.Pod("shop/db", claims("data"))}, ""},
		"nor does a protection of others":     {st.Object("v1", "Secret", "shop/s"), simulate.ClaimProtection, []object.Object{st.Pod("shop/db", claims("s"))}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			g := graph.New(st.New(st.Serving(served...), st.Listing(append(c.others, c.protected)...)))
			found := simulate.NewModel(collector.NewJudge(g), simulate.Own).InUse(g.Find(c.protected.UID), c.finalizer)
			got := ""
			if found.Any() {
				got = found.Phrase()
			}
			if found.UsersUnknown && len(found.UsedBy) > 0 {
				got += "; and maybe more"
			}
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
