package explainview_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/color"
	print "github.com/kubectl-gc/kubectl-gc/pkg/output/explainview"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wording"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// writtenWith returns what is shown of a Deployment whose references and finalizers have these
// writers.
func writtenWith(t *testing.T, o object.Object, w object.Writers) string {
	t.Helper()
	a := about("writers", o).answer()
	a.AddWriters(w)
	var out bytes.Buffer
	if err := (print.AnswerView{Palette: color.New(color.Never, false, false), Taken: st.Taken, Command: wording.Command}).Write(&out, a); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestWritersAreBelowTheirReferenceAndFinalizer(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 50, 0, 0, time.UTC)
	owner := st.ConfigMap("shop/owner")
	o := st.ConfigMap("shop/web", st.Owned(st.To(owner)), st.Terminating("example.com/drain"))
	out := writtenWith(t, o, object.Writers{
		References: map[types.UID][]object.Write{owner.UID: {{Manager: "kubectl", Operation: "Apply"}, {Manager: "velero-server\x1b[31m", Operation: "Update", Time: at}}},
		Finalizers: map[string][]object.Write{"example.com/drain": {{Manager: "drainer", Operation: "Update", Subresource: "status", Time: at}}, "other": {{Manager: "nobody"}}},
	})
	for _, want := range []string{
		"\n     written by kubectl (Apply)\n     written by velero-server\\x1b[31m (Update), at 2026-11-20T10:50:00Z or before\n",
		"\n     written by drainer (Update of status), at 2026-11-20T10:50:00Z or before\n",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "nobody") {
		t.Errorf("a finalizer that the object does not have is shown:\n%s", out)
	}
}

func TestWritersOfReferencesThatShareAUIDStayUnknown(t *testing.T) {
	owner := st.ConfigMap("shop/owner")
	out := writtenWith(t, st.ConfigMap("shop/web", st.Owned(st.To(owner)), st.Owned(st.To(owner, st.Named("other")))), object.Writers{
		References: map[types.UID][]object.Write{owner.UID: {{Manager: "kubectl", Operation: "Apply"}}},
	})
	if strings.Contains(out, "written by") || !strings.Contains(out, "owner 2 of 2") {
		t.Errorf("got\n%s", out)
	}
}

func TestLatestOfManyWritersAreShown(t *testing.T) {
	var many []object.Write
	for _, name := range strings.Fields("a b c d e f g h i j") {
		many = append(many, object.Write{Manager: name, Operation: "Apply"})
	}
	owner := st.ConfigMap("shop/owner")
	out := writtenWith(t, st.ConfigMap("shop/web", st.Owned(st.To(owner))), object.Writers{References: map[types.UID][]object.Write{owner.UID: many}})
	if strings.Count(out, "written by") != 8 || !strings.Contains(out, "written by j (Apply)") || strings.Contains(out, "written by b ") {
		t.Errorf("got\n%s", out)
	}
}
