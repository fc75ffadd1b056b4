package table_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
	"github.com/kubectl-gc/kubectl-gc/pkg/output/wrap"
)

func TestWriteFitsTheTerminal(t *testing.T) {
	const red, reset = "\x1b[31m", "\x1b[0m"
	header := []string{"ACTION", "OBJECT", "WHY"}
	for name, c := range map[string]struct {
		columns int
		header  []string
		rows    [][]string
		want    string
	}{
		"nothing is broken without a limit": {
			0, header,
			[][]string{{"delete", "Pod/a", strings.Repeat("its owner is deleted ", 20) + "."}},
			"ACTION  OBJECT  WHY\ndelete  Pod/a   " + strings.Repeat("its owner is deleted ", 20) + ".\n",
		},
		"text goes on below, in its own column": {
			46, header,
			[][]string{{"delete", "Pod/a", "its only owner, Deployment/web, does not exist"}, {"keep", "Pod/b", "short"}},
			"ACTION  OBJECT  WHY\n" +
				"delete  Pod/a   its only owner,\n" +
				"                Deployment/web, does not exist\n" +
				"keep    Pod/b   short\n",
		},
		"the cells after a long word begin below it": {
			66, header,
			[][]string{{"delete", "PersistentVolumeClaim/data-postgresql-0", "its owner is deleted"}, {"delete", "Pod/b", "its owner is deleted"}},
			"ACTION  OBJECT  WHY\n" +
				"delete  PersistentVolumeClaim/data-postgresql-0\n" +
				"                its owner is deleted\n" +
				"delete  Pod/b   its owner is deleted\n",
		},
		"text that has too little room stands below its row": {
			40, header,
			[][]string{{"delete", "Deployment/web", "its only owner, Deployment/web, does not exist"}, {"delete", "PersistentVolumeClaim/data-postgresql-0", "its owner is deleted"}, {"keep", "Pod/c", ""}},
			"ACTION  OBJECT\n" +
				"delete  Deployment/web\n" +
				"          its only owner,\n" +
				"          Deployment/web, does not exist\n" +
				"delete  PersistentVolumeClaim/data-postgresql-0\n" +
				"          its owner is deleted\n" +
				"keep    Pod/c\n",
		},
		"a word that is longer than the terminal stays whole": {
			40,
			[]string{"A", "WHY"},
			[][]string{{"x", "see https://kubernetes.io/docs/concepts/architecture/garbage-collection/ for more"}, {"y", "z"}},
			"A  WHY\nx  see\n   https://kubernetes.io/docs/concepts/architecture/garbage-collection/\n   for more\ny  z\n",
		},
		"a word that is longer than its column and the rest of the terminal begins in its column": {
			40,
			[]string{"A", "WHY", "B"},
			[][]string{{"x", "is held by PersistentVolumeClaim/data-postgresql-0 only", "y"}},
			"A  WHY         B\nx  is held by  y\n   PersistentVolumeClaim/data-postgresql-0\n   only\n",
		},
		"the lines of a tree go on": {
			54, header,
			[][]string{
				{"delete", "Deployment/web", "requested; its dependents are deleted afterwards"},
				{"", "├─ ReplicaSet/a", "its owner is deleted, and nothing else keeps it"},
				{"", "│  └─ Pod/b", "its owner is deleted, and nothing else keeps it"},
				{"", "└─ ConfigMap/c", "its owner is deleted, and nothing else keeps it"},
				{"keep", "Secret/d", "it has another owner"},
			},
			"ACTION  OBJECT           WHY\n" +
				"delete  Deployment/web   requested; its dependents are\n" +
				"        │                deleted afterwards\n" +
				"        ├─ ReplicaSet/a  its owner is deleted, and\n" +
				"        │  │             nothing else keeps it\n" +
				"        │  └─ Pod/b      its owner is deleted, and\n" +
				"        │                nothing else keeps it\n" +
				"        └─ ConfigMap/c   its owner is deleted, and\n" +
				"                         nothing else keeps it\n" +
				"keep    Secret/d         it has another owner\n",
		},
		"text below the rows of a tree keeps its branches": {
			40, header,
			[][]string{
				{"delete", "Namespace/shop", "requested"},
				{"", "├─ StatefulSet/postgresql-ha", "its owner is deleted"},
				{"", "│  └─ Pod/postgresql-ha-0", "its owner is deleted"},
				{"", "└─ 61 objects in it, and some more words", "deleted along with it, if nothing holds them"},
			},
			"ACTION  OBJECT\n" +
				"delete  Namespace/shop\n" +
				"        │  requested\n" +
				"        ├─ StatefulSet/postgresql-ha\n" +
				"        │  │  its owner is deleted\n" +
				"        │  └─ Pod/postgresql-ha-0\n" +
				"        │       its owner is deleted\n" +
				"        └─ 61 objects in it, and some\n" +
				"             more words\n" +
				"             deleted along with it, if\n" +
				"             nothing holds them\n",
		},
		"a name in a tree does not leave its branch": {
			50, header,
			[][]string{{"delete", "Deployment/web", "requested"}, {"", "├─ PersistentVolumeClaim/data-of-a-long-name", ""}, {"", "└─ Pod/b", "its owner is deleted"}},
			"ACTION  OBJECT\n" +
				"delete  Deployment/web\n" +
				"        │  requested\n" +
				"        ├─ PersistentVolumeClaim/data-of-a-long-name\n" +
				"        └─ Pod/b\n" +
				"             its owner is deleted\n",
		},
		"words that belong together are not torn": {
			31,
			[]string{"A", "WHY"},
			[][]string{{"x", "these two are its owners shop:" + table.NoBreak + "Pod/a and more"}},
			"A  WHY\nx  these two are its owners\n   shop: Pod/a and more\n",
		},
		"a color goes on after a break": {
			31,
			[]string{"A", "WHY"},
			[][]string{{"x", red + "one two three four five six" + reset + " seven"}},
			"A  WHY\nx  " + red + "one two three four five six" + reset + "\n   seven\n",
		},
		"a command is not broken": {
			32,
			[]string{"A", "WHY"},
			[][]string{{"x", "to repair it: kubectl gc repair pod/a -n shop --dry-run"}},
			"A  WHY\nx  to repair it:\n   kubectl gc repair pod/a -n shop --dry-run\n",
		},
		"a table with too many columns stays whole": {
			12,
			[]string{"ACTION", "OBJECT"},
			[][]string{{"delete", "one two three"}},
			"ACTION  OBJECT\ndelete  one two three\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := table.Write(wrap.NewWriter(&out, func() int { return c.columns }), c.header, c.rows, "WHY", "OBJECT"); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, out.String())
			}
		})
	}
}

// Whatever the width, no word is lost, broken, or put in the column of another one.
func TestWriteKeepsEveryWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.StringMatching(`([a-c]{1,14} ){0,6}[a-c]{0,30}`)
		var rows [][]string
		children := rapid.SliceOfN(rapid.IntRange(0, 3), 0, 8).Draw(t, "children")
		table.Tree(children, func(n, depth int, branches string) []int {
			name := branches + rapid.StringMatching(`[A-C]{1,30}`).Draw(t, "name")
			rows = append(rows, []string{"1", name, words.Draw(t, "why"), strings.ToUpper(words.Draw(t, "more"))})
			return make([]int, min(n, 4-depth))
		})
		write := func(columns int) []string {
			var out bytes.Buffer
			if err := table.Write(wrap.NewWriter(&out, func() int { return columns }), []string{"1", "TREE", "2", "3"}, rows, "2", "TREE", "3"); err != nil {
				t.Fatal(err)
			}
			all := strings.FieldsFunc(out.String(), func(r rune) bool { return strings.ContainsRune(" \n│├└─", r) })
			slices.Sort(all)
			return slices.DeleteFunc(all, func(word string) bool { return word == "2" })
		}
		if diff := cmp.Diff(write(0), write(rapid.IntRange(1, 120).Draw(t, "columns"))); diff != "" {
			t.Fatalf("(-without a limit +got)\n%s", diff)
		}
	})
}
