package main

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
)

func TestReasonsPageIsUpToDate(t *testing.T) {
	want, err := asReasons(reasonsSource)
	if err != nil {
		t.Fatal(err)
	}
	checkPage(t, reasonsPage, "comments", want)
}

func TestEveryReasonIsDocumented(t *testing.T) {
	docs, groups, states, err := reasonDocs(reasonsSource)
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, g := range groups {
		for _, code := range g.codes {
			listed[code] = true
		}
		if g.title == "" {
			t.Errorf("the group of %s has no title", strings.Join(g.codes, ", "))
		}
	}
	for _, s := range states {
		if s[1] == "" {
			t.Errorf("state %s has no comment", s[0])
		}
	}
	for _, r := range reason.Registered() {
		code := string(reason.CodeOf(r))
		if !listed[code] || docs[code] == "" || strings.HasPrefix(docs[code], code) {
			t.Errorf("%s is not listed, or its comment does not say what it means: %q", code, docs[code])
		}
	}
}
