package testcluster

import (
	"errors"
	"testing"
)

// New starts a control plane for t and stops it when t ends. Without binaries it skips t,
// unless BuildVariable allows to build them. With -short it always skips t.
func New(t testing.TB, o Options) *ControlPlane {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a control plane")
	}
	o.OnlyIfBuilt = true
	p, err := Start(t.Context(), o)
	if errors.Is(err, ErrNotBuilt) {
		t.Skip("SKIPPED, NOT TESTED: ", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Stop(); err != nil {
			t.Error(err)
		}
	})
	return p
}
