package house

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// role is what a ClusterRole allows.
type role struct {
	Kind     string
	Metadata struct{ Name string }
	Rules    []struct{ APIGroups, Resources, NonResourceURLs, Verbs []string }
}

// rolesIn are the ClusterRoles among YAML documents, by name.
func rolesIn(t *testing.T, documents ...string) map[string]role {
	t.Helper()
	out := map[string]role{}
	for _, text := range documents {
		var r role
		if err := yaml.Unmarshal([]byte(text), &r); err != nil {
			t.Fatal(err)
		}
		if r.Kind == "ClusterRole" {
			out[r.Metadata.Name] = r
		}
	}
	return out
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The page is what the tests of rights go by (test/e2e), so a manifest must not say more.
func TestTheRoleOfTheCronJobIsThatOfThePageOfRights(t *testing.T) {
	var blocks []string
	for _, block := range regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(read(t, "docs", "rbac.md"), -1) {
		blocks = append(blocks, block[1])
	}
	page := rolesIn(t, blocks...)
	applied := rolesIn(t, regexp.MustCompile(`(?m)^---$`).Split(read(t, "docs", "in-cluster", "audit", "rbac.yaml"), -1)...)
	if len(applied) != 1 {
		t.Fatalf("the audit takes one role, not %d", len(applied))
	}
	if diff := cmp.Diff(map[string]role{"gc-look": page["gc-look"]}, applied); diff != "" {
		t.Errorf("the page (-) and the manifest (+) differ:\n%s", diff)
	}
}
