package plan_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	. "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// FuzzLoad checks that every document that decodes to a plan can be saved and loaded without
// change. The plan gets the digest of its own steps, because no random input has it.
func FuzzLoad(f *testing.F) {
	whole := save(f, planOf(absent, Listing(Secret("a/x", OwnedBy(gone)), Pod("a/y", WithFinalizers("x/y"), OwnedBy(Secret("a/x"))))))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.Repeat(whole, 2))
	for _, text := range []string{"", "null", "[]", "{}", `{"kind":"Plan"}`, `{"KIND":"Plan","kind":"Snapshot"}`, `{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Plan","steps":[null]}`, `{"summary":{"delete":1e99}}`, strings.Repeat(`{"steps":`, 100)} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := plan.Load(bytes.NewReader(data), 1<<30); err != nil && (err.Error() == "" || strings.ContainsAny(err.Error(), "\n\r")) {
			t.Fatalf("the error is not one line: %q", err)
		}
		var decoded plan.Plan
		if json.Unmarshal(data, &decoded) != nil {
			return
		}
		decoded.Steps, decoded.Blocked = append([]plan.Step{}, decoded.Steps...), append([]plan.Blocked{}, decoded.Blocked...) // never nil
		sealed := decoded.Finalized()
		loaded, err := plan.Load(bytes.NewReader(save(t, sealed)), 1<<30)
		if err != nil {
			t.Fatalf("what was saved is refused: %v", err)
		}
		if diff := cmp.Diff(sealed, loaded); diff != "" {
			t.Errorf("(-saved +loaded)\n%s", diff)
		}
		if loaded.Losses() < 0 {
			t.Errorf("%d are lost", loaded.Losses())
		}
	})
}
