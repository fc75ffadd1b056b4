package snapshot_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

func load(text string) (*snapshot.Snapshot, error) { return loadAs(text, false) }

func loadAs(text string, complete bool) (*snapshot.Snapshot, error) {
	return snapshot.Load(strings.NewReader(text), st.Taken, 1<<30, complete)
}

func TestLoadErrors(t *testing.T) {
	head := `{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Snapshot",`
	tests := map[string]struct{ file, want string }{
		"an empty file":                  {"", "empty"},
		"a blank file":                   {" \n\t\n", "empty"},
		"only a YAML separator":          {"---\n", "no object"},
		"only a YAML comment":            {"# nothing\n", "no object"},
		"a text":                         {"Error from server (Forbidden): pods is forbidden\n", "neither a snapshot nor what kubectl get"},
		"a sentence":                     {"nothing to see here", "neither a snapshot nor what kubectl get"},
		"a number":                       {"42", "neither a snapshot nor what kubectl get"},
		"a JSON string":                  {`"pods"`, "neither a snapshot nor what kubectl get"},
		"a JSON null":                    {"null", "no object"},
		"an empty array":                 {"[]", "no object"},
		"an empty list":                  {`{"apiVersion":"v1","kind":"List","items":[]}`, "no object"},
		"a list without items":           {`{"apiVersion":"v1","kind":"List"}`, "no object"},
		"a typed list of null items":     {`{"apiVersion":"v1","kind":"PodList","metadata":{},"items":null}`, "no object"},
		"a JSON array":                   {`[{"kind":"Pod"}]`, "neither a snapshot nor what kubectl get"},
		"an empty JSON object":           {"{}", "lacks its apiVersion, kind or name"},
		"any other JSON":                 {`{"a":1}`, "lacks its apiVersion, kind or name"},
		"a table of kubectl get":         {"NAME   READY   STATUS\nweb    1/1     Running\n", "neither"},
		"binary":                         {"\x00\x01\x02", "neither JSON nor YAML"},
		"malformed JSON":                 {`{"apiVersion": v1}`, "malformed JSON at byte 16"},
		"something behind the JSON":      {`{"apiVersion":"v1","kind":"List","items":[]} x`, "malformed JSON"},
		"a newer format":                 {`{"apiVersion":"kubectl-gc.dev/v1","kind":"Snapshot"}`, "newer than this version of the tool reads"},
		"a plan":                         {`{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Plan"}`, `it holds a "Plan", not a snapshot`},
		"two snapshots":                  {head + `"objects":[]}` + head + `"objects":[]}`, "a snapshot stands alone"},
		"a snapshot among others":        {`{"apiVersion":"v1","kind":"List","items":[]}` + head + `"objects":[]}`, "a snapshot stands alone"},
		"an object without a uid":        {head + `"objects":[{"kind":"Pod","name":"x"}]}`, "object 1 of the snapshot lacks"},
		"an object without a kind":       {head + `"objects":[{"name":"x","uid":"u"}]}`, "object 1 of the snapshot lacks"},
		"an object without a name":       {head + `"objects":[{"kind":"Pod","uid":"u"}]}`, "object 1 of the snapshot lacks"},
		"objects of another shape":       {head + `"objects":"none"}`, "malformed JSON"},
		"an object is null":              {head + `"objects":[null]}`, "object 1 of the snapshot lacks its kind, name or uid"},
		"a lookup found nothing":         {head + `"lookups":[{"kind":"Pod","name":"x","outcome":"found"}]}`, `the lookup of "Pod/x" says "found" and lacks an object`},
		"a lookup found what is absent":  {head + `"lookups":[{"kind":"Pod","name":"x","outcome":"absent","object":{"kind":"Pod","name":"x","uid":"u"}}]}`, `says "absent" and holds an object`},
		"a lookup found a nameless":      {head + `"lookups":[{"kind":"Pod","name":"x","outcome":"found","object":{"kind":"Pod","name":"x"}}]}`, `lacks its kind, name or uid`},
		"a lookup of unknown outcome":    {head + `"lookups":[{"kind":"Pod","name":"x","outcome":"perhaps"}]}`, `says "perhaps"`},
		"a lookup without an outcome":    {head + `"lookups":[{"kind":"Pod","name":"x"}]}`, `says ""`},
		"a manifest":                     {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: web\n", `"Pod/web" has no uid: it is a manifest`},
		"a manifest in a list":           {`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}]}`, "is a manifest"},
		"a manifest with a hostile name": {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a\nb"}}`, `"Pod/a\nb" has no uid`},
		"a time beyond all years":        {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u","creationTimestamp":"9999-12-31T23:59:59-23:59"}}`, `"Pod/a" has a timestamp`},
		"an item without a name":         {`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"uid":"u"}}]}`, "lacks its apiVersion, kind or name"},
		"an item of List without a kind": {`{"apiVersion":"v1","kind":"List","items":[{"metadata":{"name":"x","uid":"u"}}]}`, "lacks its apiVersion, kind or name"},
		"an item that is a text":         {`{"apiVersion":"v1","kind":"List","items":["x"]}`, "neither a snapshot nor what kubectl get"},
		"a name that is a number":        {"apiVersion: v1\nkind: Pod\nmetadata:\n  name: 1\n  uid: u\n", "name"},
		"half a gzip header":             {"\x1f\x8b", "gzip"},
		"a gzip of nothing":              {zipped(t, ""), "empty"},
		"a gzip and something behind it": {zipped(t, head+`"objects":[]}`) + "xyz", "gzip"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := load(test.file)
			if err == nil {
				t.Fatalf("read as %+v", s)
			}
			if !strings.Contains(err.Error(), test.want) || strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("got %q, want one line with %q", err, test.want)
			}
		})
	}
}

func TestLoadRefusesEveryTruncation(t *testing.T) {
	s := st.New(st.Listing(
		st.Pod("shop/a", st.OwnedBy(st.Node("n")), st.Foreground(), st.Labeled("app", `a"\b`)),
		st.ConfigMap("shop/Ünïcode", st.OwnedBy(st.Pod("shop/a")))),
		st.Found(st.Object("v1", "ComponentStatus", "cs")),
		st.Unreadable("secrets", snapshot.Forbidden))
	files := map[string][]byte{
		"JSON":         bytes.TrimSpace(saved(t, s, false)),
		"gzip":         saved(t, s, true),
		"kubectl JSON": []byte(kubectlJSON),
		"kubectl YAML": []byte(kubectlYAML[:strings.Index(kubectlYAML, "kind: List")]),
	}
	for name, whole := range files {
		t.Run(name, func(t *testing.T) {
			for n := range whole {
				if _, err := snapshot.Load(bytes.NewReader(whole[:n]), st.Taken, 1<<30, false); err == nil {
					t.Fatalf("the first %d of %d bytes were taken for a whole file", n, len(whole))
				} else if strings.ContainsAny(err.Error(), "\n\r") {
					t.Fatalf("cut after %d bytes: the error has several lines: %q", n, err)
				}
			}
		})
	}
}

func TestLoadMergesIdentities(t *testing.T) {
	s := st.New(st.Listing(
		st.Object("networking.k8s.io/v1", "Ingress", "shop/web", st.UID("u")),
		st.Object("extensions/v1beta1", "Ingress", "shop/web", st.UID("u"))))
	loaded, err := snapshot.Load(bytes.NewReader(saved(t, s, false)), time.Time{}, 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	want := st.Pointers([]object.Object{st.Object("extensions/v1beta1", "Ingress", "shop/web", st.UID("u"), st.AlsoServedAs("networking.k8s.io/v1", "Ingress"))})
	if diff := cmp.Diff(want, loaded.Objects); diff != "" {
		t.Error(diff)
	}
}

func TestLoadReportsWhereAFileIsTruncated(t *testing.T) {
	whole := bytes.TrimSpace(saved(t, st.New(st.Listing(st.Pod("shop/a"))), false))
	for _, n := range []int{1, len(whole) / 2, len(whole) - 1} {
		_, err := snapshot.Load(bytes.NewReader(whole[:n]), st.Taken, 1<<30, false)
		if want := fmt.Sprintf("truncated JSON: it ends after %d bytes", n); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	packed := []byte(zipped(t, string(whole)))
	_, err := snapshot.Load(bytes.NewReader(packed[:len(packed)-4]), st.Taken, 1<<30, false)
	if want := "truncated gzip"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

const kubectlJSON = `{
  "apiVersion": "v1",
  "items": [
    {
      "apiVersion": "apps/v1",
      "kind": "ReplicaSet",
      "metadata": {
        "creationTimestamp": "2026-11-19T08:00:00Z",
        "labels": {"app": "web"},
        "name": "web-1",
        "namespace": "shop",
        "ownerReferences": [{"apiVersion": "apps/v1", "blockOwnerDeletion": true, "controller": true, "kind": "Deployment", "name": "web", "uid": "d"}],
        "resourceVersion": "12",
        "uid": "r"
      },
      "spec": {"replicas": 1}
    },
    {
      "apiVersion": "v1",
      "kind": "Node",
      "metadata": {"creationTimestamp": "2026-11-19T08:00:00Z", "name": "n", "uid": "n"}
    }
  ],
  "kind": "List",
  "metadata": {"resourceVersion": ""}
}`

const kubectlYAML = `apiVersion: v1
items:
- apiVersion: apps/v1
  kind: ReplicaSet
  metadata:
    creationTimestamp: "2026-11-19T08:00:00Z"
    labels:
      app: web
    name: web-1
    namespace: shop
    ownerReferences:
    - apiVersion: apps/v1
      blockOwnerDeletion: true
      controller: true
      kind: Deployment
      name: web
      uid: d
    resourceVersion: "12"
    uid: r
  spec:
    replicas: 1
- apiVersion: v1
  kind: Node
  metadata:
    creationTimestamp: "2026-11-19T08:00:00Z"
    name: "n"
    uid: "n"
kind: List
metadata:
  resourceVersion: ""
`

func TestLoadKubectlList(t *testing.T) {
	yes := true
	all := []string{"delete", "get", "list", "watch"}
	want := &snapshot.Snapshot{
		Taken: st.Taken,
		Types: []snapshot.Type{
			{Version: "v1", Resource: "nodes", Kind: "Node", Singular: "node", ShortNames: []string{"no"}, Verbs: all, Preferred: true},
			{Group: "apps", Version: "v1", Resource: "replicasets", Kind: "ReplicaSet", Singular: "replicaset", ShortNames: []string{"rs"}, Namespaced: true, Verbs: all, Preferred: true},
		},
		Gaps: []snapshot.Gap{{
			Group: "*", Resource: "*", Reason: snapshot.NotInFile,
			Message: "the file may lack objects, so an owner that is not in it counts as unknown. If it has all objects of each of its types, add --complete",
		}},
		Objects: []*object.Object{
			{
				Identity: object.Identity{APIVersion: "v1", Kind: "Node", Name: "n", UID: "n"},
				Created:  st.Taken.Add(-24 * time.Hour),
			},
			{
				Identity:        object.Identity{APIVersion: "apps/v1", Kind: "ReplicaSet", Namespace: "shop", Name: "web-1", UID: "r"},
				ResourceVersion: "12", Created: st.Taken.Add(-24 * time.Hour),
				Labels: map[string]string{"app": "web"}, Lifecycle: &object.Lifecycle{},
				Owners: []object.Reference{{APIVersion: "apps/v1", Kind: "Deployment", Name: "web", UID: "d", Controller: &yes, BlockOwnerDeletion: &yes}},
			},
		},
	}
	items := kubectlJSON[strings.Index(kubectlJSON, `"items"`):strings.LastIndex(kubectlJSON, "]")]
	for name, file := range map[string]string{
		"JSON":                   kubectlJSON,
		"YAML":                   kubectlYAML,
		"YAML after a marker":    "---\n" + kubectlYAML,
		"YAML of Windows":        strings.ReplaceAll(kubectlYAML, "\n", "\r\n"),
		"YAML of PowerShell 5":   wide(kubectlYAML, binary.LittleEndian),
		"JSON of PowerShell 5":   wide(kubectlJSON, binary.LittleEndian),
		"the other way round":    wide(kubectlJSON, binary.BigEndian),
		"UTF-8 that says so":     "\ufeff" + kubectlJSON,
		"YAML that says so":      "\ufeff" + kubectlYAML,
		"gzipped":                zipped(t, kubectlYAML),
		"recoded, then gzipped":  zipped(t, wide(kubectlYAML, binary.LittleEndian)),
		"a list within a list":   `{"apiVersion":"v1","kind":"List","items":[` + kubectlJSON + `]}`,
		"every object by itself": `{"apiVersion":"v1","kind":"List",` + items + `]}` + kubectlJSON,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// wide returns a text in UTF-16 with a byte order mark, as Windows PowerShell redirects
// output into files.
func wide(text string, order binary.AppendByteOrder) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

func TestLoadKubectlListShapes(t *testing.T) {
	tests := map[string]struct {
		file string
		want []string
	}{
		"one object": {
			"apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop, uid: u}\n",
			[]string{"v1 Pod shop/a u"},
		},
		"several YAML documents": {
			"---\napiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: shop, uid: u}\n--- # next\n---\napiVersion: v1\nkind: Node\nmetadata: {name: b, uid: v}\n",
			[]string{"v1 Node /b v", "v1 Pod shop/a u"},
		},
		"several JSON documents": {
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"}}` + "\n" + `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"b","uid":"v"}}`,
			[]string{"v1 Pod /a u", "v1 Pod /b v"},
		},
		"a typed list whose items say no kind": {
			`{"apiVersion":"v1","kind":"PodList","items":[{"metadata":{"name":"a","namespace":"shop","uid":"u"}}]}`,
			[]string{"v1 Pod shop/a u"},
		},
		"a typed list of a group": {
			`{"apiVersion":"apps/v1","kind":"DeploymentList","items":[{"metadata":{"name":"a","namespace":"shop","uid":"u"}}]}`,
			[]string{"apps/v1 Deployment shop/a u"},
		},
		"a typed list whose items say their own kind": {
			`{"apiVersion":"v1","kind":"PodList","items":[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"u"}}]}`,
			[]string{"v1 Node /a u"},
		},
		"a kind whose name ends in List": {`{"apiVersion":"example.com/v1","kind":"AllowList","metadata":{"name":"a","uid":"u"}}`, []string{"example.com/v1 AllowList /a u"}},
		"such a kind that has items of its own": {
			`{"apiVersion":"example.com/v1","kind":"AllowList","metadata":{"name":"a","uid":"u"},"items":[{"host":"x"}]}`,
			[]string{"example.com/v1 AllowList /a u"},
		},
		"a kind whose items are no list": {
			`{"apiVersion":"example.com/v1","kind":"Gallery","metadata":{"name":"a","uid":"u"},"items":{"x":1}}`,
			[]string{"example.com/v1 Gallery /a u"},
		},
		"an array": {
			`[{"apiVersion":"v1","kind":"Node","metadata":{"name":"a","uid":"u"}},{"apiVersion":"v1","kind":"Node","metadata":{"name":"b","uid":"v"}}]`,
			[]string{"v1 Node /a u", "v1 Node /b v"},
		},
		"one object twice": {
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"}},{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","uid":"u"}}]}`,
			[]string{"v1 Pod /a u"},
		},
		"one object under two groups": {
			`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"a","uid":"u"}},{"apiVersion":"extensions/v1beta1","kind":"Ingress","metadata":{"name":"a","uid":"u"}}]}`,
			[]string{"extensions/v1beta1 Ingress /a u"},
		},
		"events, which the collector ignores": {
			`{"apiVersion":"v1","kind":"EventList","items":[{"metadata":{"name":"a","namespace":"shop","uid":"u"}}]}`,
			nil,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, err := load(test.file)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, o := range s.Objects {
				got = append(got, fmt.Sprintf("%s %s %s/%s %s", o.APIVersion, o.Kind, o.Namespace, o.Name, o.UID))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadKubectlListPrefersNewestVersion(t *testing.T) {
	item := `{"apiVersion":"autoscaling/%s","kind":"HorizontalPodAutoscaler","metadata":{"namespace":"n","name":"%[1]s","uid":"%[1]s"}}`
	versions := []string{"v1", "v2beta1", "v2", "v10"}
	for _, order := range [][]string{versions, st.Reversed(versions)} {
		var items []string
		for _, v := range order {
			items = append(items, fmt.Sprintf(item, v))
		}
		s, err := loadAs(`{"apiVersion":"v1","kind":"List","items":[`+strings.Join(items, ",")+`]}`, true)
		if err != nil {
			t.Fatal(err)
		}
		var preferred []string
		for _, typ := range s.Types {
			if typ.Preferred {
				preferred = append(preferred, typ.Version)
			}
		}
		if diff := cmp.Diff([]string{"v10"}, preferred); diff != "" {
			t.Error(diff)
		}
		if want := []snapshot.Listing{{Group: "autoscaling", Resource: "horizontalpodautoscalers"}}; !cmp.Equal(want, s.Listed) {
			t.Error(cmp.Diff(want, s.Listed))
		}
	}
}

func TestLoadKubectlListCompletesNoTypeByItself(t *testing.T) {
	const file = kubectlJSON + `{"apiVersion":"v1","kind":"EventList","items":[{"metadata":{"name":"e","namespace":"shop","uid":"e"}}]}`
	for complete, want := range map[bool][]snapshot.Listing{false: nil, true: {{Resource: "nodes"}, {Group: "apps", Resource: "replicasets"}}} {
		s, err := loadAs(file, complete)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, s.Listed); diff != "" {
			t.Errorf("complete %t: %s", complete, diff)
		}
		if s.Complete() || strings.Contains(s.Gaps[0].Message, "another type were not checked") != complete {
			t.Errorf("complete %t: types that are not in the file are no gap: %v", complete, s.Gaps)
		}
	}
	own := string(saved(t, st.New(st.Listing(st.Pod("shop/a"))), false))
	if _, err := loadAs(own, true); !errors.Is(err, snapshot.ErrKnowsComplete) {
		t.Errorf("got %v for a snapshot", err)
	}
}

const definition = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"%[1]s.example.com","uid":"d"},
	"spec":{"group":"example.com","scope":"Cluster","names":{"kind":"Cactus","plural":"cacti","singular":"cactus","shortNames":["cc"],"categories":["plants"]},
	"versions":[{"name":"v1","served":true},{"name":"v1beta1","served":true},{"name":"v1alpha1","served":false}]}}`

func TestLoadTakesTypesFromDefinitions(t *testing.T) {
	const later = `{"apiVersion":"example.com/v1alpha1","kind":"Cactus","metadata":{"name":"a","uid":"a"}}{"apiVersion":"example.com/v1beta1","kind":"Cactus","metadata":{"name":"b","uid":"b"}}`
	for name, file := range map[string]string{
		"before the objects": fmt.Sprintf(definition, "cacti") + later,
		"after the objects":  later + fmt.Sprintf(definition, "cacti"),
	} {
		s, err := load(file)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, typ := range s.Types {
			if typ.Group == "example.com" {
				got = append(got, fmt.Sprintf("%s %s %v %t %t", typ, typ.Version, typ.ShortNames, typ.Namespaced, typ.Preferred))
			}
		}
		want := []string{"cacti.example.com v1 [cc] false true", "cacti.example.com v1alpha1 [] false false", "cacti.example.com v1beta1 [cc] false false"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	s, err := load(fmt.Sprintf(definition, "pods") + later)
	if err != nil || len(snapshot.Find(s.Types, "cc")) > 0 {
		t.Errorf("%v: a definition of another name defines %v", err, s.Types)
	}
}

// The plural of a kind without a definition is a guess that people read and type.
func TestLoadGuessesPlurals(t *testing.T) {
	for kind, want := range map[string]string{
		"Gateway": "gateways", "Elasticsearch": "elasticsearches", "NetworkPolicy": "networkpolicies", "Endpoints": "endpoints",
		"Ingress": "ingresses", "Mesh": "meshes", "Box": "boxes", "Kafka": "kafkas", "Alloy": "alloys", "Redis": "redises",
	} {
		s, err := load(fmt.Sprintf(`{"apiVersion":"v1","kind":%q,"metadata":{"name":"a","uid":"u"}}`, kind))
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Types[0].Resource; got != want {
			t.Errorf("%s is one of %s, want %s", kind, got, want)
		}
	}
}

func TestLoadLeavesOutWhatIsNoObjectOfACluster(t *testing.T) {
	const manifest = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}}`
	for name, c := range map[string]struct {
		rest  string
		count int
		first string
	}{
		"nothing else":      {`{"apiVersion":"v1","kind":"PodList","items":[]}`, 0, ""},
		"a manifest":        {manifest, 1, `"Pod/web" has no uid`},
		"one in a list":     {`{"apiVersion":"v1","kind":"List","items":[` + manifest + `,` + manifest + `]}`, 2, `"Pod/web" has no uid`},
		"a kustomization":   {`{"apiVersion":"kustomize.config.k8s.io/v1beta1","kind":"Kustomization","resources":["a.yaml"]}`, 1, "lacks its apiVersion, kind or name"},
		"another document":  {`{"a":1}`, 1, "lacks its apiVersion, kind or name"},
		"an array of texts": {`["a","b"]`, 2, "neither a snapshot nor what kubectl get"},
		"a name in digits":  {`{"apiVersion":"v1","kind":"Pod","metadata":{"name":1,"uid":"u"}}`, 1, "field metadata.name holds a number"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load(kubectlJSON + c.rest)
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Objects) != 2 || s.LeftOut != c.count || c.first != "" && !strings.Contains(s.FirstLeftOut.Error(), c.first) {
				t.Errorf("%d objects, left out %d, the first: %v", len(s.Objects), s.LeftOut, s.FirstLeftOut)
			}
		})
	}
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// kubectl get -o json shows more than metadata, and the rules use some of it.
func TestLoadKubectlListReadsSpecAndStatus(t *testing.T) {
	type facts struct {
		Running         bool
		Claims          []string
		Node            *object.PodNode
		NamespaceStatus *object.NamespaceStatus
	}
	none, onN := []string{}, &object.PodNode{Name: "n", State: object.NodeUnknown}
	const terminating = `, "deletionTimestamp": "2026-11-20T05:00:00Z"`
	for name, c := range map[string]struct {
		kind, metadata, rest string
		want                 facts
	}{
		"a Pod on a node":             {"Pod", "", `"spec": {"nodeName": "n"}, "status": {"phase": "Running"}`, facts{Running: true, Claims: none, Node: onN}},
		"a Pod on no node":            {"Pod", "", `"spec": {}, "status": {"phase": "Pending"}`, facts{Claims: none}},
		"a Pod that is done":          {"Pod", "", `"spec": {"nodeName": "n"}, "status": {"phase": "Succeeded"}`, facts{Claims: none, Node: onN}},
		"a Pod of a shape of its own": {"Pod", "", `"spec": "n", "status": []`, facts{}},
		"a Pod that uses a claim":     {"Pod", "", `"spec": {"nodeName": "n", "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "c"}}]}`, facts{Running: true, Claims: []string{"c"}, Node: onN}},
		"a Pod past its grace period": {"Pod", terminating + `, "deletionGracePeriodSeconds": 30`, `"spec": {"nodeName": "n"}`, facts{Claims: none, Node: onN}},
		"another kind":                {"Node", "", `"spec": {"nodeName": "n"}`, facts{}},
		"a Namespace":                 {"Namespace", "", `"status": {"conditions": []}`, facts{}},
		"a Namespace that is deleted": {"Namespace", terminating, `"status": {"conditions": []}`, facts{NamespaceStatus: &object.NamespaceStatus{Conditions: []object.NamespaceCondition{}}}},
		"a Namespace whose end failed": {
			"Namespace", terminating, `"status": {"conditions": [{"type": "NamespaceDeletionContentFailure", "status": "True", "message": "denied"}]}`,
			facts{NamespaceStatus: &object.NamespaceStatus{Conditions: []object.NamespaceCondition{{Type: object.ContentFailure, True: true, Message: "denied"}}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := load(fmt.Sprintf(`{"apiVersion": "v1", "kind": %q, "metadata": {"name": "p", "uid": "u"%s}, %s}`, c.kind, c.metadata, c.rest))
			if err != nil {
				t.Fatal(err)
			}
			o := s.Objects[0]
			if diff := cmp.Diff(c.want, facts{o.Running, o.Claims, o.Node, o.NamespaceStatus}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLoadReportsUnknownFields(t *testing.T) {
	const known = `{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Snapshot","objects":[]}`
	for file, want := range map[string]string{
		known: "",
		strings.Replace(known, `"objects"`, `"weather":"fine","objects"`, 1):                                            "weather",
		strings.Replace(known, "[]", `[{"apiVersion":"v1","kind":"Pod","name":"a","uid":"u","mood":{"good":true}}]`, 1): "mood",
	} {
		s, err := load(file)
		if err != nil || s.UnknownField != want {
			t.Errorf("%s: %v, field %q, want %q", file, err, s.UnknownField, want)
		}
	}
}

// The snapshots in testdata/saved were written by earlier versions and must never be
// regenerated.
func TestLoadEarlierVersions(t *testing.T) {
	files, err := filepath.Glob("testdata/saved/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d snapshots (%v)", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := load(string(data)); err != nil || s.UnknownField != "" || len(s.Objects) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
