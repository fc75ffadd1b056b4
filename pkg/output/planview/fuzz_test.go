package planview_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// FuzzPreview checks that names cannot add lines or control the terminal: users confirm what
// a preview shows.
func FuzzPreview(f *testing.F) {
	for _, s := range []string{"", "web", "a\nb", "\x1b]0;x\x07", "\u202e\u009b", "\xff", "日本", "  lead", "delete  a  Secret/x"} {
		f.Add(s, s, s)
	}
	preview := func(t *testing.T, namespace, name, finalizer string) string {
		top := Secret("a/b", OwnedBy(Node("gone")), WithFinalizers("x/"+finalizer))
		top.Namespace, top.Name, top.UID = namespace, name, types.UID("1"+name)
		below := Pod("a/c", OwnedBy(top))
		below.Namespace, below.UID = namespace, types.UID("2"+name)
		return previewed(t, made([]object.Object{top, below}), 0, color.Never)
	}
	f.Fuzz(func(t *testing.T, namespace, name, finalizer string) {
		if namespace == "" {
			return // of a namespaced kind, it is another case
		}
		got := preview(t, namespace, name, finalizer)
		want := strings.Count(preview(t, "a", "b", "c"), "\n")
		if strings.Count(got, "\n") != want || strings.ContainsFunc(got, func(r rune) bool { return escape.Hidden(r) && r != '\n' }) {
			t.Errorf("%d lines, want %d: %q", strings.Count(got, "\n"), want, got)
		}
	})
}
