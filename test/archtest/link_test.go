package archtest

import (
	"os/exec"
	"strings"
	"testing"
)

// TestProgramDoesNotLinkAPITypes expects that the program does not link the packages that
// register the types of all API groups. They would double the start time and use more than a
// third of the program's memory.
func TestProgramDoesNotLinkAPITypes(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"cmd/kubectl-gc").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, linked := range strings.Fields(string(out)) {
		switch {
		case linked == "k8s.io/api/apidiscovery/v2": // the type of discovery documents
		case under([]string{"k8s.io/api", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "k8s.io/cli-runtime/pkg/resource"}, linked):
			t.Errorf("%s is linked", linked)
		}
	}
}
