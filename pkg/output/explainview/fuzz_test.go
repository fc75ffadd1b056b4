package explainview_test

import (
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// FuzzWrite checks that neither names nor Events control the terminal.
func FuzzWrite(f *testing.F) {
	for _, s := range []string{"", "web", "a\nb", "\x1b]0;x\x07", "\u202e\u009b", "\xff", "日本", "  lead", "'; reboot #"} {
		f.Add(s, s, s, s)
	}
	f.Fuzz(func(t *testing.T, apiVersion, kind, name, message string) {
		asked := flags(st.Owned(st.To(web, st.As(apiVersion, kind), st.Named(name), st.WithUID(types.UID("1"+name)))), st.TerminatingFor(1, message))
		event := object.ClusterEvent{Reason: kind, Type: apiVersion, Source: name, Message: message, UID: string(asked.UID)}
		for _, s := range []state{
			about("there", asked).telling(event),
			about("there, and its owner has another name", flags(st.Owned(st.To(web, st.As(apiVersion, kind), st.Named(name)))), web),
			absent("not there", st.ConfigMap("shop/"+name), flags(st.Owned(st.To(web, st.As("v1", "ConfigMap"), st.Named(name))))).telling(event).unread(message),
		} {
			if got := s.written(true); strings.ContainsFunc(got, func(r rune) bool { return escape.Hidden(r) && r != '\n' }) {
				t.Errorf("%s: %q", s.name, got)
			}
		}
	})
}
