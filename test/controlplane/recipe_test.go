package main

import (
	"strings"
	"testing"
)

func TestBuildKey(t *testing.T) {
	flags := []string{"-trimpath", "-ldflags=-s"}
	key := buildKey("mod", "sum", "go1.26", flags)
	if again := buildKey("mod", "sum", "go1.26", flags); again != key {
		t.Errorf("the same inputs give %s and %s", key, again)
	}
	for what, other := range map[string]string{
		"go.mod":            buildKey("mod2", "sum", "go1.26", flags),
		"go.sum":            buildKey("mod", "sum2", "go1.26", flags),
		"toolchain":         buildKey("mod", "sum", "go1.27", flags),
		"flags":             buildKey("mod", "sum", "go1.26", flags[:1]),
		"border of mod/sum": buildKey("mods", "um", "go1.26", flags),
	} {
		if other == key {
			t.Errorf("another %s gives the same key", what)
		}
	}
}

func TestRecipeIsStable(t *testing.T) {
	m := newestModule()
	dir, err := m.write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first, err := newRecipe(t.Context(), m, dir)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere, err := m.write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	second, err := newRecipe(t.Context(), m, elsewhere)
	if err != nil {
		t.Fatal(err)
	}
	if first.key != second.key {
		t.Errorf("the module in another folder has key %s, not %s", second.key, first.key)
	}
	t.Setenv("GOFLAGS", "-trimpath")
	repeated, err := newRecipe(t.Context(), m, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("GOFLAGS", "")
	if without, err := newRecipe(t.Context(), m, dir); err != nil || repeated.key != without.key {
		t.Errorf("with GOFLAGS=-trimpath, a flag of every build, the key is %s, not %s (%v)", repeated.key, without.key, err)
	}
}

func TestLinkerFlagsNameTheVersion(t *testing.T) {
	got := linkerFlags("v1.40.12")
	for _, want := range []string{
		"k8s.io/component-base/version.gitVersion=v1.40.12",
		"k8s.io/component-base/version.gitMajor=1",
		"k8s.io/component-base/version.gitMinor=40",
		"k8s.io/client-go/pkg/version.gitVersion=v1.40.12",
	} {
		if !strings.Contains(got, "-X "+want) {
			t.Errorf("%q lacks %s", got, want)
		}
	}
}
