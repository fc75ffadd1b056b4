package cli

import (
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// expectPrintable reports an error unless err is one line without control characters.
func expectPrintable(t *testing.T, err error) {
	t.Helper()
	if s := err.Error(); s == "" || strings.ContainsFunc(s, escape.Hidden) || strings.ContainsAny(s, "\n\r\x1b\x00") {
		t.Errorf("the error is %q", s)
	}
}

// FuzzTargets checks that every accepted target has a type, and no name or a valid one.
func FuzzTargets(f *testing.F) {
	for _, words := range []string{
		"deploy", "deploy/web", "deploy web api", "deploy/web svc/web", "deploy,svc", "deploy,svc web", "deployments.apps/web", "deployments.v1.apps/web",
		"/", "a/", "/a", "a/b/c", "a/..", ",", "a,,b", "deploy/web svc", "po \x1b[31m", "po ../x", "po %2f", "Pod/\xff", " ",
	} {
		f.Add(words)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		targets, err := ParseTargets(args)
		if err != nil {
			expectPrintable(t, err)
			return
		}
		for _, to := range targets {
			if to.Word == "" || to.Name != "" && !snapshot.ValidName(to.Name) {
				t.Errorf("%q names %+v", line, to)
			}
		}
		given := slices.Clone(targets)
		if err := ResolveTargets(targets, st.Types(), "server"); err != nil {
			expectPrintable(t, err)
			return
		}
		for i, to := range targets {
			if to.Type.Resource == "" || to.Name != given[i].Name {
				t.Errorf("%q is %+v", line, to)
			}
		}
	})
}

// FuzzSelector checks that an accepted selector can be formatted and parsed again.
func FuzzSelector(f *testing.F) {
	for _, s := range []string{
		"", " ", "a", "!a", "a=b", "a==b", "a!=b", "a in (b,c)", "a notin (b)", "a>1", "a<1", "a=b,c!=d", "example.com/a=b", "a in ()", "a=", ",", "a=\x1b", "a in (", "A=é", strings.Repeat("a,", 100),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, given string) {
		selector, err := ParseSelector(given)
		if err != nil || given == "" {
			return // apimachinery's error quotes the input; exitCode escapes it
		}
		again, err := ParseSelector(selector.String())
		if err != nil || again.String() != selector.String() {
			t.Errorf("%q is %q, and that %v (%v)", given, selector, again, err)
		}
		for _, set := range []labels.Set{{}, {"a": "b"}, {"a": "1", "c": "d"}} {
			if selector.Matches(set) != again.Matches(set) {
				t.Errorf("%q and %q do not match the same", given, selector)
			}
		}
	})
}
