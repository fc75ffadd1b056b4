package planview_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/planview"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func TestAlarming(t *testing.T) {
	gone, stays := Node("gone"), Deployment("kube-system/stays")
	top := ConfigMap("shop/top", OwnedBy(gone))
	for name, c := range map[string]struct {
		objects []object.Object
		want    []string
	}{
		"what everybody deletes alarms nobody": {[]object.Object{top, Pod("shop/x", OwnedBy(top))}, nil},
		"whatever goes in kube-system does, also because of something else": {
			[]object.Object{Pod("kube-system/x", OwnedBy(gone)), Pod("kube-system/y", OwnedBy(Pod("kube-system/x")))},
			[]string{"Pod/x -n kube-system", "Pod/y -n kube-system"},
		},
		"what only loses a reference there does not": {[]object.Object{stays, Pod("kube-system/x", OwnedBy(gone, stays))}, nil},
		"volumes and claims do": {
			[]object.Object{Object("v1", "PersistentVolume", "disk", OwnedBy(gone)), top, claim("shop/data", OwnedBy(top))},
			[]string{"PersistentVolume/disk", "PersistentVolumeClaim/data -n shop"},
		},
		"namespaces and definitions do, with how much goes along, and so does what alarms of that": {
			[]object.Object{
				Namespace("doomed", OwnedBy(gone)), Pod("doomed/x"), claim("doomed/data"),
				Definition("widgets.example.com", OwnedBy(gone)), widget("kube-system/w"),
				Namespace("empty", OwnedBy(gone)),
			},
			[]string{
				"CustomResourceDefinition/widgets.example.com: 1 object of its kind deleted along with it", "Widget/w -n kube-system",
				"Namespace/doomed: 2 objects in it deleted along with it", "PersistentVolumeClaim/data -n doomed",
				"Namespace/empty",
			},
		},
		"a kind of the same name in another group does not": {[]object.Object{Object("example.com/v1", "Widget", "a/Namespace", OwnedBy(gone))}, nil},
		"names are escaped": {
			[]object.Object{Pod("kube-system/a\x1b[2Jb", OwnedBy(gone))}, []string{`Pod/a\x1b[2Jb -n kube-system`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := planview.Alarming(made(c.objects, Absent("v1", "Node", "gone")))
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
