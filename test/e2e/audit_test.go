package e2e

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seedVariable names the environment variable that repeats the random graph of a failed test.
const seedVariable = "KUBECTL_GC_SEED"

// seeds returns the requested seed, or n random ones.
func seeds(t *testing.T, n int) []uint64 {
	t.Helper()
	if given := os.Getenv(seedVariable); given != "" {
		seed, err := strconv.ParseUint(given, 10, 64)
		if err != nil {
			t.Fatalf("%s: %v", seedVariable, err)
		}
		return []uint64{seed}
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(rand.Uint32())
	}
	return out
}

func TestAuditOfRandomGraphMatchesRules(t *testing.T) {
	newScene(t)
	seenRules := map[string]bool{}
	all := seeds(t, 3)
	for _, seed := range all {
		t.Run(fmt.Sprintf("%s=%d", seedVariable, seed), func(t *testing.T) {
			s := newScene(t)
			g := newRandom(s, seed, 170, false)
			want, full := s.newExpectedAudit(), s.tool().audit()
			for try := 0; try < 3 && full.Summary.Objects != len(want.objects); try++ {
				want, full = s.newExpectedAudit(), s.tool().audit() // the API server itself creates an object now and then
			}
			// blocked-deletion depends on more than the rules about one reference. The
			// differential tests compare it with the real collector.
			findings := slices.DeleteFunc(slices.Clone(full.Findings), func(f finding) bool { return f.Rule == "blocked-deletion" })
			if diff := cmp.Diff(findingLines(want.findings()), findingLines(findings)); diff != "" {
				t.Errorf("the rules (-) and the audit (+) differ:\n%s", diff)
			}
			if !full.Complete {
				t.Errorf("the scan was incomplete: %+v", full.Gaps)
			}
			references := 0
			for _, o := range want.objects {
				references += len(o.verdicts)
			}
			if full.Summary.Objects != len(want.objects) || full.Summary.References != references {
				t.Errorf("the audit scanned %+v, want %d objects with %d references", full.Summary, len(want.objects), references)
			}
			for _, ns := range g.namespaces {
				if diff := cmp.Diff(findingLinesIn(full, ns), findingLines(s.tool().audit("-n", ns).Findings)); diff != "" {
					t.Errorf("the audit of the cluster (-) and that of one namespace (+) differ:\n%s", diff)
				}
			}
			for _, f := range full.Findings {
				seenRules[f.Rule] = true
			}
			t.Logf("%d objects, %d references, %d findings", full.Summary.Objects, full.Summary.References, len(full.Findings))
		})
	}
	for _, rule := range []string{
		"missing-owner", "replaced-owner", "mismatched-owner", "cross-namespace-owner", "cluster-to-namespaced-owner", "unserved-owner-version",
		"unknown-owner-kind", "unverified-owner", "terminating-owner", "owner-cycle", "self-owner", "duplicate-owner", "unmonitored-owner", "misspelled-owner-kind",
	} {
		if !seenRules[rule] && !t.Failed() && len(all) > 1 {
			t.Errorf("the graphs gave no reason for %s to speak", rule)
		}
	}
}

// findingLinesIn returns the findings about objects of one namespace, one line each.
func findingLinesIn(r report, namespace string) []string {
	return findingLines(slices.DeleteFunc(slices.Clone(r.Findings), func(f finding) bool { return f.Object.Namespace != namespace }))
}
