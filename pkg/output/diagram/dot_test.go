package diagram_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/diagram"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

func dot(t *testing.T, g *graph.Graph, nodes graph.Set) string {
	t.Helper()
	var out bytes.Buffer
	if err := diagram.DOT(&out, g, nodes); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestDOT(t *testing.T) {
	alpha := objectOf("v1", "A", "alpha", ownedBy("v1", "B", "bravo"), ownedBy("v1", "C", "charlie"))
	bravo, charlie, echo := objectOf("v1", "B", "bravo"), objectOf("v1", "C", "charlie"), objectOf("v1", "E", "echo")
	delta, foxtrot, golf := objectOf("v1", "D", "delta", ownedBy("v1", "F", "foxtrot")), objectOf("v1", "F", "foxtrot", ownedBy("v1", "G", "golf")), objectOf("v1", "G", "golf")
	for name, c := range map[string]struct {
		objects  []object.Object
		choose   func(*graph.Graph) graph.Set
		vertices []string
		edges    []string
	}{
		"owners and dependents are drawn": {
			[]object.Object{alpha, bravo, charlie},
			everything,
			[]string{"alpha", "bravo", "charlie"},
			[]string{"alpha bravo", "alpha charlie"},
		},
		"an owner that was not seen is drawn as missing": {
			[]object.Object{alpha, charlie},
			everything,
			[]string{"alpha", "bravo missing", "charlie"},
			[]string{"alpha bravo", "alpha charlie"},
		},
		"a missing owner of several dependents is drawn once": {
			[]object.Object{objectOf("v1", "A", "a", ownedBy("v1", "X", "gone")), objectOf("v1", "A", "b", ownedBy("v1", "X", "gone"))},
			everything,
			[]string{"a", "b", "gone missing"},
			[]string{"a gone", "b gone"},
		},
		"an object without owner and dependent is left out": {
			[]object.Object{alpha, bravo, charlie, echo},
			everything,
			[]string{"alpha", "bravo", "charlie"},
			[]string{"alpha bravo", "alpha charlie"},
		},
		"several chains are drawn": {
			[]object.Object{alpha, bravo, charlie, delta, foxtrot, golf},
			everything,
			[]string{"alpha", "bravo", "charlie", "delta", "foxtrot", "golf"},
			[]string{"alpha bravo", "alpha charlie", "delta foxtrot", "foxtrot golf"},
		},
		"asked for an owner, its dependents and their owners come along": {
			[]object.Object{alpha, bravo, charlie, delta, foxtrot, golf},
			component("u-bravo"),
			[]string{"alpha", "bravo", "charlie"},
			[]string{"alpha bravo", "alpha charlie"},
		},
		"asked for the owner's end of a chain, all of it comes": {
			[]object.Object{delta, foxtrot, golf, echo},
			component("u-golf"),
			[]string{"delta", "foxtrot", "golf"},
			[]string{"delta foxtrot", "foxtrot golf"},
		},
		"asked for the dependent's end of a chain, all of it comes": {
			[]object.Object{delta, foxtrot, golf, echo},
			component("u-delta"),
			[]string{"delta", "foxtrot", "golf"},
			[]string{"delta foxtrot", "foxtrot golf"},
		},
		"asked for two objects, both components come": {
			[]object.Object{alpha, bravo, charlie, delta, foxtrot, golf, echo},
			component("u-bravo", "u-delta"),
			[]string{"alpha", "bravo", "charlie", "delta", "foxtrot", "golf"},
			[]string{"alpha bravo", "alpha charlie", "delta foxtrot", "foxtrot golf"},
		},
		"asked for an unknown UID, nothing comes":          {[]object.Object{alpha}, component("u-none"), nil, nil},
		"asked for an object without relations, none come": {[]object.Object{echo}, component("u-echo"), nil, nil},
		"an existing owner outside the set is no missing one": {
			[]object.Object{alpha, bravo}, only("u-alpha"), []string{"alpha", "charlie missing"}, []string{"alpha charlie"},
		},
		"references to one owner are one edge": {
			[]object.Object{objectOf("v1", "A", "a", ownedBy("v1", "B", "bravo"), ownedBy("v2", "B", "bravo")), bravo},
			everything,
			[]string{"a", "bravo"},
			[]string{"a bravo"},
		},
		"an object may own itself": {
			[]object.Object{objectOf("v1", "A", "a", ownedBy("v1", "A", "a"))}, everything, []string{"a"}, []string{"a a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second time from objects in the other order
				g := graphOf(c.objects...)
				vertices, edges := parseDOT(t, dot(t, g, c.choose(g)))
				var names, ends []string
				for _, v := range vertices {
					name := v["name"]
					if v["missing"] == "true" {
						name += " missing"
					}
					names = append(names, name)
				}
				for _, e := range edges {
					ends = append(ends, strings.ReplaceAll(e[0]+" "+e[1], "u-", ""))
				}
				if diff := cmp.Diff(c.vertices, names); diff != "" {
					t.Errorf("vertices (-want +got)\n%s", diff)
				}
				if diff := cmp.Diff(c.edges, ends); diff != "" {
					t.Errorf("edges (-want +got)\n%s", diff)
				}
				slices.Reverse(c.objects)
			}
		})
	}
}

func TestDOTLayout(t *testing.T) {
	g := graphOf(
		objectOf("v1", "ConfigMap", "a", ownedBy("apps/v1", "Deployment", "web"), ownedBy("a/b/c", "Odd", "lost")),
		terminating(objectOf("apps/v1", "Deployment", "web", ownedBy("v1", "Quote", "\"\\é\u202e\n")), object.ForegroundFinalizer),
	)
	want := `strict digraph full {
  // Node definitions.
  "u-\"\\é\u202e\n" [
    label="uid=u-\"\\é\u202e\n\nnamespace=\nQuote.v1/\"\\é\u202e\n\nmissingFromGraph\n"
    group=""
    version="v1"
    kind="Quote"
    namespace=""
    name="\"\\é\u202e\n"
    uid="u-\"\\é\u202e\n"
    missing="true"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  "u-a" [
    label="uid=u-a\nnamespace=shop\nConfigMap.v1/a\n"
    group=""
    version="v1"
    kind="ConfigMap"
    namespace="shop"
    name="a"
    uid="u-a"
    missing="false"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  "u-lost" [
    label="uid=u-lost\nnamespace=\nOdd./lost\nmissingFromGraph\n"
    group=""
    version=""
    kind="Odd"
    namespace=""
    name="lost"
    uid="u-lost"
    missing="true"
    beingDeleted="false"
    deletingDependents="false"
    virtual="false"
  ];
  "u-web" [
    label="uid=u-web\nnamespace=shop\nDeployment.v1.apps/web\nbeingDeleted,deletingDependents\n"
    group="apps"
    version="v1"
    kind="Deployment"
    namespace="shop"
    name="web"
    uid="u-web"
    missing="false"
    beingDeleted="true"
    deletingDependents="true"
    virtual="false"
  ];
  // Edge definitions.
  "u-a" -> "u-lost";
  "u-a" -> "u-web";
  "u-web" -> "u-\"\\é\u202e\n";
}
`
	if diff := cmp.Diff(want, dot(t, g, everything(g))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDOTOfEmptyGraph(t *testing.T) {
	g := graphOf()
	if diff := cmp.Diff("strict digraph full {\n}\n", dot(t, g, everything(g))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDOTMarksLookedUpOwner(t *testing.T) {
	owner, pod := objectOf("v1", "Node", "n"), objectOf("v1", "Pod", "p", ownedBy("v1", "Node", "n"))
	g := graph.New(&snapshot.Snapshot{
		Objects: []*object.Object{&pod},
		Lookups: []snapshot.Lookup{{Outcome: snapshot.Found, Object: &owner}},
	})
	vertices, _ := parseDOT(t, dot(t, g, everything(g)))
	if got := vertices[0]; got["virtual"] != "true" || got["missing"] != "false" || !strings.HasSuffix(got["label"], "\nvirtual\n") {
		t.Errorf("got %v", got)
	}
}

func TestMissingOwnerUsesSmallestReference(t *testing.T) {
	claim := func(name, apiVersion, kind, owner string) object.Object {
		return objectOf("v1", "Pod", name, object.Reference{APIVersion: apiVersion, Kind: kind, Name: owner, UID: "u-lost"})
	}
	objects := []object.Object{claim("a", "v2", "B", "x"), claim("b", "v1", "B", "y"), claim("c", "v1", "C", "a"), claim("d", "v1", "B", "x")}
	g := graphOf(objects...)
	slices.Reverse(objects)
	turned := graphOf(objects...)
	got := dot(t, g, everything(g))
	if diff := cmp.Diff(got, dot(t, turned, everything(turned))); diff != "" {
		t.Errorf("the order of objects matters (-want +got)\n%s", diff)
	}
	vertices, _ := parseDOT(t, got)
	if lost := vertices[len(vertices)-1]; lost["kind"] != "B" || lost["version"] != "v1" || lost["name"] != "x" {
		t.Errorf("got %v", lost)
	}
}

// parseDOT reads only the layout of marshalDOT (docs/gc-semantics.md#debug-graph).
func parseDOT(t *testing.T, text string) (vertices []map[string]string, edges [][2]string) {
	t.Helper()
	keys := []string{"label", "group", "version", "kind", "namespace", "name", "uid", "missing", "beingDeleted", "deletingDependents", "virtual"}
	rest := text
	expect := func(token string) {
		t.Helper()
		var ok bool
		if rest, ok = strings.CutPrefix(rest, token); !ok {
			t.Fatalf("want %q at %.60q of\n%s", token, rest, text)
		}
	}
	quoted := func() string {
		t.Helper()
		token, err := strconv.QuotedPrefix(rest)
		if err != nil || strings.ContainsAny(token, "\n`'") && token[0] != '"' {
			t.Fatalf("want a quoted string at %.60q", rest)
		}
		rest = rest[len(token):]
		s, err := strconv.Unquote(token)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	expect("strict digraph full {\n")
	if strings.HasPrefix(rest, "  // Node") {
		expect("  // Node definitions.\n")
	}
	for strings.HasPrefix(rest, "  \"") {
		expect("  ")
		id, attributes := quoted(), map[string]string{}
		expect(" [\n")
		for _, key := range keys {
			expect("    " + key + "=")
			attributes[key] = quoted()
			expect("\n")
		}
		expect("  ];\n")
		if attributes["uid"] != id {
			t.Errorf("vertex %q has uid %q", id, attributes["uid"])
		}
		vertices = append(vertices, attributes)
	}
	if strings.HasPrefix(rest, "  // Edge") {
		expect("  // Edge definitions.\n")
	}
	for strings.HasPrefix(rest, "  \"") {
		expect("  ")
		from := quoted()
		expect(" -> ")
		edges = append(edges, [2]string{from, quoted()})
		expect(";\n")
	}
	expect("}\n")
	if rest != "" {
		t.Fatalf("trailing %q", rest)
	}
	return vertices, edges
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriteErrorsAreReturned(t *testing.T) {
	want, g := errors.New("pipe closed"), graphOf()
	if err := diagram.DOT(broken{want}, g, everything(g)); !errors.Is(err, want) {
		t.Errorf("DOT: got %v", err)
	}
	if err := diagram.Mermaid(broken{want}, g, everything(g), nil); !errors.Is(err, want) {
		t.Errorf("Mermaid: got %v", err)
	}
}

func FuzzDOT(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s, "shop", s, s)
		f.Add("v1", s, "Pod", s)
	}
	f.Fuzz(func(t *testing.T, apiVersion, namespace, kind, name string) {
		g := graphOf(in(namespace, object.Object{
			Identity: object.Identity{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("0" + name)},
			Owners: []object.Reference{
				{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("1" + name)},
				{APIVersion: "v1", Kind: kind, Name: name, UID: types.UID("0" + name)},
			},
		}))
		vertices, edges := parseDOT(t, dot(t, g, everything(g)))
		want := []map[string]string{
			{"uid": "0" + name, "kind": kind, "name": name, "namespace": namespace, "missing": "false"},
			{"uid": "1" + name, "kind": kind, "name": name, "namespace": "", "missing": "true"},
		}
		for i, v := range vertices {
			for key, value := range want[i] {
				if v[key] != value {
					t.Errorf("vertex %d has %s %q, want %q", i, key, v[key], value)
				}
			}
		}
		if diff := cmp.Diff([][2]string{{"0" + name, "0" + name}, {"0" + name, "1" + name}}, edges); diff != "" {
			t.Errorf("edges (-want +got)\n%s", diff)
		}
	})
}

func BenchmarkDiagrams(b *testing.B) {
	var objects []object.Object
	for i := range 50_000 {
		objects = append(objects, objectOf("v1", "Pod", fmt.Sprintf("p%05d", i), ownedBy("apps/v1", "ReplicaSet", fmt.Sprintf("r%05d", i/10))))
	}
	g := graphOf(objects...)
	all := everything(g)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"DOT":     func(out *bytes.Buffer) error { return diagram.DOT(out, g, all) },
		"Mermaid": func(out *bytes.Buffer) error { return diagram.Mermaid(out, g, all, nil) },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := write(&bytes.Buffer{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
