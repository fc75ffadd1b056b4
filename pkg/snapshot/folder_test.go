package snapshot_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func folder(files map[string]string) fstest.MapFS {
	out := fstest.MapFS{}
	for name, text := range files {
		out[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

func pod(name, version string) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"Pod","metadata":{"name":%q,"namespace":"shop","uid":"u-%[1]s","resourceVersion":%[2]q,"labels":{"version":%[2]q}}}`, name, version)
}

func TestLoadFolder(t *testing.T) {
	files := folder(map[string]string{
		"version.json":                     `{"major":"1"}`,
		"namespaces/shop/core/pods.yaml":   "apiVersion: v1\nkind: PodList\nitems:\n- metadata: {name: a, namespace: shop, uid: u-a, resourceVersion: \"9\", labels: {version: \"9\"}}\n",
		"namespaces/shop/pods/a.json":      pod("a", "10"),
		"namespaces/shop/pods/b.JSON.gz":   zipped(t, pod("b", "1")),
		"namespaces/shop/pods/a/a.log":     pod("log", "1"),
		"custom/tables.yml":                "- apiVersion: example.com/v1\n  kind: Table\n  metadata: {name: t, namespace: shop, uid: u-t}\n",
		"host/broken.json":                 "{",
		"host/half.yaml.gz":                zipped(t, "kind: Pod")[:20],
		"host/nothing.yaml":                "",
		"README":                           "pods.json",
		"sos_commands/kubectl_get_pod_c":   pod("c", "3"), // as sosreport names it
		"cluster/kustomization.yaml":       "resources: [a]\n",
		"cluster/plan.json":                `{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Plan"}`,
		"cluster/older/namespaces/a2.json": pod("a", "2"),
	})
	s, err := snapshot.LoadFolder(files, st.Taken, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range s.Objects {
		got = append(got, fmt.Sprintf("%s %s", o, o.ResourceVersion+o.Labels["version"]))
	}
	if diff := cmp.Diff([]string{"Pod/a 1010", "Pod/b 11", "Pod/c 33", "Table/t "}, got); diff != "" {
		t.Error(diff)
	}
	if s.LeftOut != 6 || !strings.HasPrefix(s.FirstLeftOut.Error(), `"cluster/kustomization.yaml": `) {
		t.Errorf("left out %d, the first: %v", s.LeftOut, s.FirstLeftOut)
	}
	if len(s.Listed) > 0 || s.Complete() {
		t.Errorf("listed %v, gaps %v", s.Listed, s.Gaps)
	}
}

func TestLoadFolderErrors(t *testing.T) {
	own := string(saved(t, st.New(st.Listing(st.Pod("shop/a"))), false))
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"nothing":                       {nil, "no .json or .yaml file in it has an object of a cluster"},
		"only logs":                     {map[string]string{"a.log": pod("a", "1")}, "no .json or .yaml file"},
		"only manifests":                {map[string]string{"a.json": `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`}, "no .json or .yaml file"},
		"a snapshot":                    {map[string]string{"a.json": pod("a", "1"), "b/s.json": own}, `"b/s.json" is a snapshot, which stands alone`},
		"more than the limit, together": {map[string]string{"a.json": pod("a", "1"), "b.json": pod("b", "1")}, `"b.json" and the files before it: it is longer than`},
		"more than the limit, unpacked": {map[string]string{"a.json.gz": zipped(t, pod("a", "1")+strings.Repeat(" ", 1000))}, `"a.json.gz" and the files before it: it is longer than`},
	} {
		t.Run(name, func(t *testing.T) {
			limit := int64(1 << 20)
			if strings.HasPrefix(name, "more") {
				limit = int64(len(pod("a", "1")) * 3 / 2)
			}
			s, err := snapshot.LoadFolder(folder(c.files), st.Taken, limit, false)
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %v, %v", s, err)
			}
			if _, long := errors.AsType[*input.TooLongError](err); long != strings.HasPrefix(name, "more") {
				t.Errorf("%v: the caller can give no hint", err)
			}
		})
	}
}

// kubectl cluster-info dump > FILE writes the logs of containers between its lists. What a container writes there is no object.
func TestLoadLeavesOutTheLogsOfAClusterInfoDump(t *testing.T) {
	const forged = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"forged","namespace":"shop","uid":"u-forged"}}`
	for what, log := range map[string]string{
		"": "", "a log": "==== START logs for container web of pod shop/a ====\nready\n" + forged + "\n==== END logs for container db of pod shop/b ====\n" + forged +
			"\n==== END logs for container web of pod shop/a ====\n", "a log without an end": "==== START logs for container web of pod shop/a ====\n" + forged,
	} {
		s, err := snapshot.Load(strings.NewReader(pod("a", "1")+"\n"+log), st.Taken, 1<<20, false)
		if err != nil || len(s.Objects) != 1 || s.LeftOut > 0 {
			t.Errorf("with %s: %v, %v", what, s, err)
		}
	}
}
