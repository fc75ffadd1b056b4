package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func example() report {
	r := report{Seeds: 3, From: 7}
	for _, version := range []string{"v1.36.3", "v1.33.13"} {
		v := versionReport{Version: version}
		for _, s := range suites {
			v.Suites = append(v.Suites, suiteResult{Suite: s, Runs: 5})
		}
		r.Versions = append(r.Versions, v)
	}
	return r
}

func TestPage(t *testing.T) {
	r := example()
	r.Versions[1].Suites[0].Mismatches = []string{"TestDeleteEndsAsPredicted/a_Namespace"}
	path := filepath.Join(t.TempDir(), "matrix.md")
	if err := r.write(path); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"make matrix SEEDS=3 FROM=7\n", "with the seeds 7 to 9.",
		"| suite | 1.36.3 runs | mismatches | 1.33.13 runs | mismatches |\n| --- | --- | --- | --- | --- |\n| namespaces | 5 | 0 | 5 | 1 |\n",
		"\n* `v1.33.13 TestDeleteEndsAsPredicted/a_Namespace`\n",
	} {
		if !strings.Contains(string(page), want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

func TestReportFails(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*suiteResult)
		want   string
	}{
		"if there is a mismatch":    {func(r *suiteResult) { r.Mismatches = []string{"TestA"} }, "mismatch: v1.33.13 TestA"},
		"if a test was skipped":     {func(r *suiteResult) { r.Skipped = []string{"TestA"} }, "not tested: v1.33.13 TestA"},
		"if nothing of a suite ran": {func(r *suiteResult) { r.Runs = 0 }, "not tested: v1.33.13 namespaces"},
		"never otherwise":           {func(*suiteResult) {}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := example()
			c.change(&r.Versions[1].Suites[0])
			got := ""
			if err := r.err(); err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestChoose(t *testing.T) {
	all := []string{"v1.36.3", "v1.33.13", "v1.30.14"}
	for minors, want := range map[string]string{
		"":           "v1.36.3 v1.33.13 v1.30.14",
		"1.30":       "v1.30.14",
		"1.30, 1.36": "v1.30.14 v1.36.3",
		"1.3":        "",
		"1.33.13":    "",
	} {
		got, err := choose(all, minors)
		if strings.Join(got, " ") != want || (err == nil) != (want != "") {
			t.Errorf("%q: got %q, %v, want %s", minors, got, err, want)
		}
	}
}
