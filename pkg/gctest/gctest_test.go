package gctest_test

import (
	"errors"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/kubectl-gc/kubectl-gc/pkg/gctest"
)

func TestStartRefusesServersElsewhere(t *testing.T) {
	for _, host := range []string{"https://10.0.0.1:6443", "https://api.example.com", "https://localhost.example.com", "https://[2001:db8::1]:6443", "https://0.0.0.0:6443"} {
		if _, err := gctest.Start(t.Context(), &rest.Config{Host: host}); !errors.Is(err, gctest.ErrNotLocal) {
			t.Errorf("%s: %v", host, err)
		}
	}
}
