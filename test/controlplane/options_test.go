package main

import (
	"flag"
	"io"
	"reflect"
	"slices"
	"testing"
)

func parsed(t *testing.T, args ...string) options {
	t.Helper()
	var o options
	fs := flag.NewFlagSet("run", flag.ContinueOnError)
	o.registerRun(fs)
	if err := parse(fs, args, streams{out: io.Discard, err: io.Discard}); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestOptionsRoundTrip(t *testing.T) {
	for _, args := range [][]string{
		nil,
		{"--collector=absent", "--keep", "--timeout=5s"},
		{"--admission-plugins=A,B", "--disable-admission-plugins", "C", "--disable-admission-plugins", "D,"},
		{"--runtime-config=api/all=true", "--apiserver-flag=v=4", "--apiserver-flag=--feature-gates=A=true", "--manager-flag=v=6"},
		{"--version=1.33"},
	} {
		want := parsed(t, args...)
		if got := parsed(t, want.args()...); !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v by %q, want %+v", args, got, want.args(), want)
		}
	}
}

func TestServiceAccountAdmissionIsDisabledByDefault(t *testing.T) {
	for name, c := range map[string]struct {
		args, want []string
	}{
		"by default":              {nil, []string{"ServiceAccount"}},
		"with another plugin":     {[]string{"--disable-admission-plugins=A"}, []string{"ServiceAccount", "A"}},
		"when requested":          {[]string{"--admission-plugins=B,ServiceAccount", "--disable-admission-plugins=A"}, []string{"A"}},
		"other plugins requested": {[]string{"--admission-plugins=B"}, []string{"ServiceAccount"}},
	} {
		t.Run(name, func(t *testing.T) {
			o := parsed(t, c.args...)
			if got := o.disabled(); !slices.Equal(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
