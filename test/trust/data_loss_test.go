package trust

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// claimsScene has a StatefulSet whose claims are bound to a volume that goes with its claim, and to one that stays.
func claimsScene(t *testing.T) *user {
	claims, volumes := apiserver.Namespaced("", "persistentvolumeclaims", "PersistentVolumeClaim"), apiserver.Namespaced("", "persistentvolumes", "PersistentVolume")
	volumes.Namespaced = false
	snapshots := apiserver.Namespaced("snapshot.storage.k8s.io", "volumesnapshots", "VolumeSnapshot")
	s := NewServer(t)
	s.Serve(claims, volumes, snapshots)
	with := func(o *Object, spec map[string]any) *Object {
		o.Fields = map[string]any{"spec": spec, "status": map[string]any{"phase": "Bound"}}
		return s.Add(o)
	}
	size := map[string]any{"requests": map[string]any{"storage": "40Gi"}}
	owner := referenceTo(s.Add(Deployments.Object("shop", "db")))
	with(ownedBy(claims.Object("shop", "data"), owner), map[string]any{"volumeName": "pv-data", "resources": size})
	with(ownedBy(claims.Object("shop", "archive"), owner), map[string]any{"volumeName": "pv-archive", "resources": size})
	for name, policy := range map[string]string{"data": "Delete", "archive": "Retain"} {
		with(volumes.Object("", "pv-"+name), map[string]any{"persistentVolumeReclaimPolicy": policy, "claimRef": map[string]any{"namespace": "shop", "name": name}})
	}
	with(snapshots.Object("shop", "nightly"), map[string]any{"source": map[string]any{"persistentVolumeClaimName": "data"}})
	return newUser(t, s)
}

// kubernetes/kubernetes#26317: a deletion that takes data along says so.
func TestKubernetes26317DeletionSaysWhichDataIsLost(t *testing.T) {
	t.Parallel()
	u := claimsScene(t)
	preview := u.runs("delete", "deployment/db", "-n", "shop", "--dry-run").exits(0).stdout
	for _, want := range []string{
		"40Gi, volume pv-data is DELETED with its data; VolumeSnapshot/nightly stays",
		"40Gi, volume pv-archive is kept with its data (Retain)",
		"Data: the data of 1 volume (40Gi) is DELETED; the data of 1 volume is kept.",
	} {
		if !strings.Contains(preview, want) {
			t.Errorf("the preview does not say %q:\n%s", want, preview)
		}
	}
	tty := u.startAtTerminal("delete", "deployment/db", "-n", "shop")
	tty.awaitAny("to confirm: ")
	tty.press("no\n")
	if r := tty.ends().exits(4); !strings.Contains(r.stdout, "Delete 3 objects, with the data of 1 volume (40Gi), in namespace shop") {
		t.Errorf("the question does not say which data is lost:\n%s", r.stdout)
	}
	document := u.runs("delete", "deployment/db", "-n", "shop", "--dry-run", "-o", "jsonpath={.outcomes[?(@.object.name=='data')].data}").exits(0).stdout
	if want := `{"lost":"yes","reclaimPolicy":"Delete","size":"40Gi","snapshots":["nightly"],"volume":"pv-data"}`; document != want {
		t.Errorf("the document says %s, want %s", document, want)
	}
	if why := u.runs("why", "deployment/db", "-n", "shop").exits(0).stdout; !strings.Contains(why, "PersistentVolumeClaim/data: 40Gi, volume pv-data is DELETED with its data") {
		t.Errorf("why does not say which data is lost:\n%s", why)
	}
	if done := u.runs("delete", "deployment/db", "-n", "shop", "--client-side", "--yes").exits(0).stdout; !strings.Contains(done, " Undo (objects, not the data of 1 volume): kubectl gc restore ") {
		t.Errorf("the report promises more than a backup holds:\n%s", done)
	}
}
