package snapshot_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// bomb returns a gzipped text of that beginning and gigabytes of blanks.
func bomb(t *testing.T, beginning string) []byte {
	t.Helper()
	var out bytes.Buffer
	pack := func(text string) []byte {
		out.Reset()
		zip := gzip.NewWriter(&out)
		if _, err := io.WriteString(zip, text); err != nil {
			t.Fatal(err)
		}
		if err := zip.Close(); err != nil {
			t.Fatal(err)
		}
		return bytes.Clone(out.Bytes())
	}
	return append(pack(beginning), bytes.Repeat(pack(strings.Repeat(" ", 8<<20)), 500)...)
}

func TestLoadRefusesExpandingFiles(t *testing.T) {
	long, times := strings.Repeat("x", 100_000), 20_000
	for name, c := range map[string]struct{ file, want string }{
		"a gzip bomb":            {string(bomb(t, "")), "it unpacks to more than 200 times its size"},
		"a snapshot with one in": {string(bomb(t, `{"apiVersion":"kubectl-gc.dev/v1alpha1","kind":"Snapshot","objects":[`)), "it unpacks to more than 200 times its size"},
		"a YAML list with one long text, many times": {
			"apiVersion: v1\nkind: List\na: &a " + long + "\nitems: [" + strings.Repeat("*a,", times) + "]\n", "neither JSON nor YAML: its aliases",
		},
		"the same behind another document": {
			"apiVersion: v1\nkind: List\n---\na: &a " + long + "\nitems: [" + strings.Repeat("*a,", times) + "]\n", "neither JSON nor YAML: its aliases",
		},
		"brackets that are never closed":      {strings.Repeat("[", 10<<20), "malformed JSON"},
		"lists in each other":                 {strings.Repeat(`{"apiVersion":"v1","kind":"List","items":[`, 9_000/2) + strings.Repeat("]}", 9_000/2), "there are more than 4 lists in each other"},
		"YAML in YAML":                        {strings.Repeat("a: {", 1<<20), "neither JSON nor YAML"},
		"one line that is no YAML and no end": {strings.Repeat("\t", 10<<20) + "x", "neither JSON nor YAML"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := st.Allocated(func() { _, err = snapshot.Load(strings.NewReader(c.file), st.Taken, 1<<30, false) })
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %.300v, want %s", err, c.want)
			}
			if took > 1<<30 {
				t.Errorf("%d MiB were taken", took>>20)
			}
		})
	}
}

// A hostile file may use one UID for any number of objects.
func TestDeduperIsLinearInDuplicates(t *testing.T) {
	const n = 100_000
	objects := make([]object.Object, n)
	for i := range objects {
		objects[i] = st.ConfigMap(fmt.Sprintf("a/c%06d", (i*7919)%n), st.UID("one"))
	}
	var d snapshot.Deduper
	took := st.Allocated(func() {
		for i := range objects {
			d.Add(&objects[i])
		}
	})
	got := d.Objects()
	if len(got) != 1 || got[0].Name != "c000000" || len(got[0].Aliases) != n-1 || got[0].Aliases[n-2].Name != "c099999" {
		t.Errorf("%d objects, the first %v with %d aliases", len(got), got[0], len(got[0].Aliases))
	}
	if most := uint64(n * 1000); took > most {
		t.Errorf("%d bytes were taken, more than %d", took, most)
	}
}
