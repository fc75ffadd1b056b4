package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// role is a Role or ClusterRole, with the fields that the roles of this project use.
type role struct {
	APIVersion, Kind string
	Metadata         struct{ Name string }
	Rules            []rule
}

type rule struct{ APIGroups, Resources, Verbs []string }

func read(t *testing.T, path ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(append([]string{"..", ".."}, path...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shippedRoles returns the roles in docs/rbac by name.
func shippedRoles(t *testing.T) map[string]role {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "rbac", "*"))
	if err != nil {
		t.Fatal(err)
	}
	roles := map[string]role{}
	for _, file := range files {
		var r role
		if err := yaml.UnmarshalStrict([]byte(read(t, "docs", "rbac", filepath.Base(file))), &r); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if r.APIVersion != "rbac.authorization.k8s.io/v1" || r.Kind != "ClusterRole" || r.Metadata.Name+".yaml" != filepath.Base(file) {
			t.Errorf("%s is the %s %s %s", file, r.APIVersion, r.Kind, r.Metadata.Name)
		}
		roles[r.Metadata.Name] = r
	}
	return roles
}

// The files list types, docs/rbac.md lists verbs. test/e2e asks an API server about both.
func TestShippedRolesMatchPage(t *testing.T) {
	page := map[string][]string{}
	for _, row := range regexp.MustCompile(`(?m)^\| \[(gc-[a-z-]+)\]\(rbac/(gc-[a-z-]+)\.yaml\) \| ([^|]+) \|`).FindAllStringSubmatch(read(t, "docs", "rbac.md"), -1) {
		if row[1] != row[2] {
			t.Errorf("the page links %s to %s.yaml", row[1], row[2])
		}
		page[row[1]] = strings.Split(strings.NewReplacer("`", "", " ", "").Replace(row[3]), ",")
	}
	roles := shippedRoles(t)
	if len(roles) != len(page) || len(roles) == 0 {
		t.Fatalf("%d roles in docs/rbac, and %d in the table of docs/rbac.md", len(roles), len(page))
	}
	types := func(r role) (out []string) {
		for _, rule := range r.Rules {
			for _, group := range rule.APIGroups {
				for _, resource := range rule.Resources {
					out = append(out, resource+"."+group)
				}
			}
		}
		slices.Sort(out)
		return out
	}
	for name, r := range roles {
		for _, rule := range r.Rules {
			if diff := cmp.Diff(page[name], rule.Verbs); diff != "" {
				t.Errorf("%s: verbs for %s: the page (-) and the file (+) differ:\n%s", name, rule.Resources, diff)
			}
		}
		if diff := cmp.Diff(types(roles["gc-scan"]), types(r)); diff != "" {
			t.Errorf("the types of gc-scan (-) and of %s (+) differ:\n%s", name, diff)
		}
	}
}

func TestInClusterManifestsHaveDocumentedRoles(t *testing.T) {
	for variant, role := range map[string]string{"audit": "gc-scan", "controller": "gc-controller"} {
		if diff := cmp.Diff(read(t, "docs", "rbac", role+".yaml"), read(t, "docs", "in-cluster", variant, "role.yaml")); diff != "" {
			t.Errorf("docs/rbac/%s.yaml (-) and docs/in-cluster/%s/role.yaml (+) differ:\n%s", role, variant, diff)
		}
	}
}

// In RBAC the resource * includes pods/exec, serviceaccounts/token and every other subresource.
func TestDocumentedRolesHaveNoWildcardOrSubresource(t *testing.T) {
	var roles int
	for file, text := range documentation(t) {
		for _, document := range documentsIn(file, text) {
			var r role
			if err := yaml.Unmarshal([]byte(document), &r); err != nil || !strings.HasSuffix(r.Kind, "Role") {
				continue // a page with text around the YAML, or another kind of document
			}
			roles += len(r.Rules)
			for _, rule := range r.Rules {
				for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
					if strings.ContainsAny(word, "*/") {
						t.Errorf("%s: %s %s has the rule %+v", file, r.Kind, r.Metadata.Name, rule)
					}
				}
			}
		}
	}
	if roles == 0 {
		t.Error("no role was found")
	}
}

// documentation returns the pages and manifests of the project.
func documentation(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{"README.md": read(t, "README.md"), "SECURITY.md": read(t, "SECURITY.md")}
	for _, folder := range []string{"docs", "plugins"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".md") && !strings.HasSuffix(path, ".yaml") {
				return err
			}
			text, err := os.ReadFile(path)
			out[path] = string(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// documentsIn returns the YAML documents in a manifest, or in the YAML blocks of a page.
func documentsIn(file, text string) (documents []string) {
	texts := []string{text}
	if strings.HasSuffix(file, ".md") {
		texts = nil
		for _, block := range yamlBlock.FindAllStringSubmatch(text, -1) {
			texts = append(texts, block[1])
		}
	}
	for _, text := range texts {
		documents = append(documents, regexp.MustCompile(`(?m)^---$`).Split(text, -1)...)
	}
	return documents
}
