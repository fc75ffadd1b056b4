package main

import (
	"slices"
	"testing"
)

func TestCommandLine(t *testing.T) {
	got := commandLine([]setting{"a=1", "b=2"}, []setting{"b=3", "c=4", "c=5"})
	want := []string{"--a=1", "--b=3", "--c=4", "--c=5"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestParseSetting(t *testing.T) {
	for in, want := range map[string]setting{
		"v=4":                    "v=4",
		"--feature-gates=A=true": "feature-gates=A=true",
		"audit-policy-file=":     "audit-policy-file=",
		"v":                      "",
		"=4":                     "",
		"--=4":                   "",
	} {
		got, err := parseSetting(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %q", in, got, err, want)
		}
	}
}
