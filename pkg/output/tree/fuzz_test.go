package tree_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/tree"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// FuzzWrite checks that names cannot add lines or control the terminal.
func FuzzWrite(f *testing.F) {
	for _, s := range []string{"", "web", "a\nb", "\x1b]0;x\x07", "\u202e\u009b", "\xff", "日本", "  lead", "└─ Pod/x"} {
		f.Add(s, s, s, s)
	}
	f.Fuzz(func(t *testing.T, namespace, kind, name, finalizer string) {
		o := object.Object{
			Identity:   object.Identity{APIVersion: "g/v1", Kind: "Thing", Namespace: namespace, Name: name, UID: types.UID("1" + name)},
			Owners:     []object.Reference{{APIVersion: "g/" + kind, Kind: kind, Name: name, UID: types.UID("2" + name)}},
			Finalizers: []string{finalizer},
		}
		used := reason.UsedByOthers{Object: o.Identity, As: object.AsVolume, Users: []object.Identity{o.Identity}}
		got := write(t, st.New(st.Listing(o)), tree.RowView{Wide: true, Users: []reason.UsedByOthers{used}}, o.UID)
		const lines = 5 // a header, the owner that is none, the object, its user, the sum
		if strings.Count(got, "\n") != lines || strings.ContainsFunc(got, func(r rune) bool { return escape.Hidden(r) && r != '\n' }) {
			t.Errorf("got %q", got)
		}
	})
}
