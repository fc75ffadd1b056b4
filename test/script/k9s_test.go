package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// k9sPlugins has the fields of k9s's plugin files that ours uses.
type k9sPlugins struct {
	Plugins map[string]struct {
		ShortCut    string   `json:"shortCut"`
		Description string   `json:"description"`
		Scopes      []string `json:"scopes"`
		Command     string   `json:"command"`
		Background  bool     `json:"background"`
		Confirm     bool     `json:"confirm"`
		Args        []string `json:"args"`
	} `json:"plugins"`
}

// k9sVariable matches what k9s replaces in an argument, if it knows a variable of that name.
var k9sVariable = regexp.MustCompile(`\$!?[\w-]+|\$\{!?[\w\-%/: ]+\}`)

// TestK9sPluginsAreAccepted runs the commands of docs/k9s/plugins.yaml as k9s would for several
// selected objects.
func TestK9sPluginsAreAccepted(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the program")
	}
	data, err := os.ReadFile("../../docs/k9s/plugins.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file k9sPlugins
	if err := yaml.UnmarshalStrict(data, &file); err != nil {
		t.Fatal(err)
	}
	demo, err := filepath.Abs("../../docs/demo/cluster.json")
	if err != nil {
		t.Fatal(err)
	}
	// Everything after "kubectl gc" is passed to the program, which reads the demo.
	bin := t.TempDir()
	for name, script := range map[string]string{
		"kubectl": `#!/bin/sh
test "$1" = gc && shift && test "$KUBECONFIG" = kubeconfig-of-k9s && exec kubectl-gc "$@" --from "$DEMO"`,
		"less": "#!/bin/sh\nexec cat",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	type object struct{ group, resource, namespace, name, kind string }
	hostile := object{"rbac.authorization.k8s.io", "clusterroles", "-", "x;$(touch run);touch run", "ClusterRole"}
	for _, o := range []object{
		{"apps", "deployments", "shop", "web", "Deployment"},
		{"", "configmaps", "shop", "shared", "ConfigMap"},
		{"rbac.authorization.k8s.io", "clusterroles", "-", "web-metrics-reader", "ClusterRole"},
		{"", "namespaces", "", "shop", "Namespace"},
		hostile,
	} {
		variables := map[string]string{
			"RESOURCE_GROUP": o.group, "RESOURCE_NAME": o.resource, "NAMESPACE": o.namespace, "NAME": o.name,
			"CONTEXT": "prod", "KUBECONFIG": "kubeconfig-of-k9s",
		}
		for name, plugin := range file.Plugins {
			if plugin.Command != "bash" || plugin.Background || plugin.ShortCut == "" || plugin.Description == "" || len(plugin.Scopes) == 0 {
				t.Errorf("%s: k9s would not run bash in the foreground by a key: %+v", name, plugin)
			}
			args := make([]string, len(plugin.Args))
			for i, a := range plugin.Args {
				args[i] = k9sVariable.ReplaceAllStringFunc(a, func(found string) string {
					if value, known := variables[strings.Trim(found, "${}")]; known {
						return value
					}
					return found
				})
			}
			run := exec.CommandContext(t.Context(), plugin.Command, args...)
			run.Dir = t.TempDir()
			run.Env = append(os.Environ(), "DEMO="+demo, "TZ=UTC", "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			out, err := run.CombinedOutput()
			if want := o.kind + "/" + o.name; o != hostile && (err != nil || strings.HasPrefix(string(out), "error") || !strings.Contains(string(out), want)) {
				t.Errorf("%s: %q does not show %s: %v\n%s", name, args, want, err, out)
			}
			if files, err := os.ReadDir(run.Dir); err != nil || len(files) > 0 {
				t.Errorf("%s: %q ran what is in a name: %v %v", name, args, files, err)
			}
		}
	}
}
