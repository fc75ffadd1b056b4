package diagram_test

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/graph"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/diagram"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

func mermaid(t *testing.T, g *graph.Graph, nodes graph.Set) string {
	t.Helper()
	var out bytes.Buffer
	if err := diagram.Mermaid(&out, g, nodes, nil); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMermaid(t *testing.T) {
	for name, c := range map[string]struct {
		objects []object.Object
		want    string
	}{
		"nothing is an empty chart": {nil, "flowchart LR\n"},
		"a namespace is a box, and arrows lead to dependents": {
			[]object.Object{objectOf("apps/v1", "ReplicaSet", "rs", ownedBy("apps/v1", "Deployment", "web")), objectOf("apps/v1", "Deployment", "web"), objectOf("v1", "Pod", "p", ownedBy("apps/v1", "ReplicaSet", "rs"))},
			`flowchart LR
  subgraph s0["namespace shop"]
    n0["Deployment/web"]
    n1["Pod/p"]
    n2["ReplicaSet/rs"]
  end
  n0 --> n2
  n2 --> n1
`,
		},
		"cluster-scoped objects and missing owners are outside of boxes": {
			[]object.Object{
				in("", objectOf("v1", "Node", "n")), objectOf("v1", "Pod", "p", ownedBy("v1", "Node", "n"), ownedBy("v1", "Lost", "x")),
				in("other", objectOf("v1", "Secret", "s", ownedBy("v1", "Node", "n"))),
			},
			`flowchart LR
  classDef missing stroke:#cc0000,stroke-dasharray:5 5
  n0["Lost/x, missing"]:::missing
  n1["Node/n"]
  subgraph s0["namespace other"]
    n2["Secret/s"]
  end
  subgraph s1["namespace shop"]
    n3["Pod/p"]
  end
  n0 --> n3
  n1 --> n2
  n1 --> n3
`,
		},
		"terminating objects": {
			[]object.Object{
				terminating(objectOf("v1", "A", "a", ownedBy("v1", "B", "b"))),
				terminating(objectOf("v1", "B", "b"), object.ForegroundFinalizer),
			},
			`flowchart LR
  classDef terminating stroke:#cc8800,stroke-width:3px
  subgraph s0["namespace shop"]
    n0["A/a, terminating"]:::terminating
    n1["B/b, terminating, waits for its dependents"]:::terminating
  end
  n1 --> n0
`,
		},
		"names are escaped": {
			[]object.Object{objectOf("v1", "A", "\"]%%<b>`#;\n\u202eé", ownedBy("v1", "A", "\"]%%<b>`#;\n\u202eé"))},
			`flowchart LR
  subgraph s0["namespace shop"]
    n0["A/#quot;#93;#37;#37;#60;b#62;#96;#35;#59;#92;n#92;u202eé"]
  end
  n0 --> n0
`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // the second time from objects in the other order
				g := graphOf(c.objects...)
				if diff := cmp.Diff(c.want, mermaid(t, g, everything(g))); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				slices.Reverse(c.objects)
			}
		})
	}
}

// chart is a parsed flowchart.
type chart struct {
	nodes []node
	edges []string
}

type node struct{ id, box, label, class string }

// parseMermaid reads only lines in the layout that Mermaid writes, so that a name cannot add
// any.
func parseMermaid(t *testing.T, text string) chart {
	t.Helper()
	const label = `((?:[\pL\pM\pN _./:,-]|#quot;|#[0-9]+;)*)`
	var (
		classLine = regexp.MustCompile(`^  classDef (missing|terminating) [a-z0-9:#,\- ]+$`)
		boxLine   = regexp.MustCompile(`^  subgraph s[0-9]+\["` + label + `"\]$`)
		nodeLine  = regexp.MustCompile(`^(  |    )(n[0-9]+)\["` + label + `"\](?::::(missing|terminating))?$`)
		edgeLine  = regexp.MustCompile(`^  (n[0-9]+ --> n[0-9]+)$`)
	)
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if lines[0] != "flowchart LR" {
		t.Fatalf("begins with %q", lines[0])
	}
	var c chart
	box, inside := "", false
	for _, line := range lines[1:] {
		if m := boxLine.FindStringSubmatch(line); m != nil && !inside {
			box, inside = unlabel(t, m[1]), true
		} else if line == "  end" && inside {
			box, inside = "", false
		} else if m := nodeLine.FindStringSubmatch(line); m != nil && inside == (m[1] == "    ") {
			c.nodes = append(c.nodes, node{m[2], box, unlabel(t, m[3]), m[4]})
		} else if m := edgeLine.FindStringSubmatch(line); m != nil && !inside {
			c.edges = append(c.edges, m[1])
		} else if !classLine.MatchString(line) || len(c.nodes) > 0 {
			t.Fatalf("unexpected line %q in\n%s", line, text)
		}
	}
	if inside {
		t.Fatal("a box is not closed")
	}
	return c
}

func unlabel(t *testing.T, s string) string {
	t.Helper()
	return regexp.MustCompile(`#(\w+);`).ReplaceAllStringFunc(s, func(entity string) string {
		if entity == "#quot;" {
			return `"`
		}
		code, err := strconv.Atoi(entity[1 : len(entity)-1])
		if err != nil {
			t.Fatal(err)
		}
		return string(rune(code))
	})
}

func FuzzMermaid(f *testing.F) {
	for _, s := range hostile() {
		f.Add(s, s, s)
		f.Add("shop", "Pod", s)
		f.Add(s, "Pod", "web")
	}
	f.Fuzz(func(t *testing.T, namespace, kind, name string) {
		dependent := in(namespace, object.Object{
			Identity: object.Identity{APIVersion: "v1", Kind: kind, Name: name, UID: "1"},
			Owners:   []object.Reference{{APIVersion: "v1", Kind: kind, Name: name, UID: "0"}},
		})
		g := graphOf(dependent)
		got := parseMermaid(t, mermaid(t, g, everything(g)))
		const longest = 317
		text, box := escape.Short(kind+"/"+name, longest), ""
		if namespace != "" {
			box = escape.Short("namespace "+namespace, longest)
		}
		want := chart{
			nodes: []node{{"n0", "", text + ", missing", "missing"}, {"n1", box, text, ""}},
			edges: []string{"n0 --> n1"},
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(chart{}, node{})); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestBadReferenceIsDottedArrow(t *testing.T) {
	g := graphOf(objectOf("v1", "A", "a", ownedBy("v1", "B", "b"), ownedBy("v1", "C", "c"), ownedBy("v2", "C", "c")), objectOf("v1", "B", "b"), objectOf("v1", "C", "c"))
	var out bytes.Buffer
	err := diagram.Mermaid(&out, g, everything(g), func(e graph.Edge) string {
		return map[int]string{0: "mismatched-owner", 1: "missing-owner"}[e.Index]
	})
	if err != nil {
		t.Fatal(err)
	}
	_, edges, _ := strings.Cut(out.String(), "  end\n")
	want := "  n1 -.->|mismatched-owner| n0\n  n2 --> n0\n"
	if diff := cmp.Diff(want, edges); diff != "" {
		t.Errorf("(-want +got)\n%s%s", diff, out.String())
	}
}
