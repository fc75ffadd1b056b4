package archtest

import (
	"os/exec"
	"strings"
	"testing"
)

// TestTheProgramLinksNoForeignTypes: what registers the types of all API groups
// costs every start half of its time, and more than a third of the memory that the
// program takes. An import that has it in tow must not come back unnoticed.
func TestTheProgramLinksNoForeignTypes(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", module+"cmd/kubectl-gc").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, linked := range strings.Fields(string(out)) {
		switch {
		case linked == "k8s.io/api/apidiscovery/v2": // what discovery answers
		case under([]string{"k8s.io/api", "k8s.io/client-go/kubernetes", "k8s.io/client-go/discovery", "k8s.io/cli-runtime/pkg/resource"}, linked):
			t.Errorf("%s is linked", linked)
		}
	}
}
