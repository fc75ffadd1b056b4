package explainview_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// Anyone who may write to a cluster may choose names, kinds, finalizers and messages.
func TestTextFromTheClusterIsEscaped(t *testing.T) {
	const bad = "\x1b[31m\u202e\n  owner 9 of 9\t\u200b"
	long := strings.Repeat("x", 100_000)
	owner := st.Object("v1", "ConfigMap", "shop/"+bad+long)
	for _, s := range []state{
		about("a bad reference", owned(st.To(web, st.As(bad, bad), st.Named(bad+long), st.WithUID(bad)))),
		about("a bad owner", owned(st.To(owner)), owner),
		about("a bad finalizer", flags(st.Terminating(bad+"/"+long))),
		about("a bad dependent", st.Deployment("shop/web", st.Foreground()), st.Object("v1", "ConfigMap", "shop/"+bad, st.TerminatingFor(1, bad), st.Owned(st.To(web, st.Blocking)))),
		about("bad conditions", st.Namespace("shop", st.TerminatingFor(time.Hour), st.Reporting(object.ContentFailure, bad+long, object.DiscoveryFailure, bad))).but(st.Serving(st.TypesWithContents()...)),
		absent("bad Events", st.Pod("shop/"+bad)).telling(object.ClusterEvent{Reason: bad, Type: bad, Source: bad, Message: bad + long, UID: bad}),
		absent("a bad name, and bad dependents", old, st.Object("v1", "ConfigMap", "shop/"+bad, st.OwnedBy(old))).unread(bad + long),
	} {
		t.Run(s.name, func(t *testing.T) {
			out := s.written(true)
			for _, r := range out {
				if r != '\n' && !unicode.IsPrint(r) {
					t.Fatalf("%q is in %q", r, out[:min(len(out), 2000)])
				}
			}
			if strings.Contains(out, "\n  owner 9") || len(out) > 20_000 {
				t.Errorf("%d bytes: %s", len(out), out[:min(len(out), 2000)])
			}
		})
	}
}

func TestLongChainShowsBothEnds(t *testing.T) {
	const length = 3000
	link := func(n int) object.Object { return st.ConfigMap(fmt.Sprintf("shop/link-%d", n), st.Foreground()) }
	var seen []object.Object
	for n := 1; n < length; n++ {
		o := link(n)
		st.Owned(st.To(link(n-1), st.Blocking))(&o)
		seen = append(seen, o)
	}
	end := st.ConfigMap("shop/end", held, st.Owned(st.To(link(length-1), st.Blocking)))
	s := about("a long chain", link(0), append(seen, end)...)
	if got := len(s.answer().WaitsFor); got != length {
		t.Errorf("the chain has %d links, want %d", got, length)
	}
	out := s.written(false)
	for _, want := range []string{"ConfigMap/link-1: ", "… 2,992 more, ending with:", "ConfigMap/end: blocks it, and has been held by example.com/drain for 3h"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out[:min(len(out), 3000)])
		}
	}
	if lines := strings.Count(out, "\n"); lines > 20 {
		t.Errorf("%d lines", lines)
	}
}
