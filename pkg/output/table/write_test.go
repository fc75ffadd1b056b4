package table_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/table"
)

func TestWrite(t *testing.T) {
	const red, reset = "\x1b[31m", "\x1b[0m"
	for name, c := range map[string]struct {
		header []string
		rows   [][]string
		want   string
	}{
		"columns are as wide as their widest cell": {
			[]string{"Namespace", "NAME"},
			[][]string{{"shop", "Pod/a"}, {"a-long-namespace", "Pod/b"}},
			"NAMESPACE         NAME\nshop              Pod/a\na-long-namespace  Pod/b\n",
		},
		"tree glyphs and leading blanks stay where they are": {
			[]string{"NAMESPACE", "NAME", "READY"},
			[][]string{{"shop", "Deployment/web", "3/3"}, {"", "├─ ReplicaSet/a", "3/3"}, {"", "│  └─ Pod/b", "1/1"}, {"", "   ├─ Pod/x", ""}},
			"NAMESPACE  NAME             READY\n" +
				"shop       Deployment/web   3/3\n" +
				"           ├─ ReplicaSet/a  3/3\n" +
				"           │  └─ Pod/b      1/1\n" +
				"              ├─ Pod/x\n",
		},
		"wide characters take two places, combining ones none": {
			[]string{"A", "B"},
			[][]string{{"日本", "x"}, {"e\u0301", "x"}, {"abcd", "x"}},
			"A     B\n日本  x\ne\u0301     x\nabcd  x\n",
		},
		"colours take no place": {
			[]string{"A", "B", "C"},
			[][]string{{red + "red" + reset, "x", "y"}, {"plain", "x", "y"}},
			"A      B  C\n" + red + "red" + reset + "    " + reset + "x  y\nplain  x  y\n",
		},
		"a coloured last cell leaves no blanks behind": {
			[]string{"A", "B"},
			[][]string{{"x", red + "red" + reset}, {"x", "much longer"}},
			"A  B\nx  " + red + "red" + reset + "\nx  much longer\n",
		},
		"without rows there is only the header": {[]string{"A", "B"}, nil, "A  B\n"},
		"without a header there are only rows":  {nil, [][]string{{"a", "b"}, {"cc", "d"}}, "a   b\ncc  d\n"},
		"nothing is nothing":                    {nil, nil, ""},
		"short rows end early":                  {[]string{"A", "B", "C"}, [][]string{{"x"}, {"x", "y", "z"}}, "A  B  C\nx\nx  y  z\n"},
		"equal cells are not merged":            {[]string{"A", "B"}, [][]string{{"x", "x"}, {"x", "x"}}, "A  B\nx  x\nx  x\n"},
		"nothing is wrapped or cut": {
			[]string{"A"},
			[][]string{{strings.Repeat("long words ", 100) + "end"}},
			"A\n" + strings.Repeat("long words ", 100) + "end\n",
		},
		"titles are only put in upper case": {[]string{"the collector", "x_y", "aB.c"}, nil, "THE COLLECTOR  X_Y  AB.C\n"},
		"a break in a cell becomes a blank": {[]string{"A", "B"}, [][]string{{"x\ny", "a\tb\r"}, {"q", "r"}}, "A    B\nx y  a b\nq    r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := table.Write(&out, c.header, c.rows); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, out.String()); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

type broken struct{ error }

func (b broken) Write([]byte) (int, error) { return 0, b.error }

func TestWriteErrorsAreReturned(t *testing.T) {
	want := errors.New("pipe closed")
	if err := table.Write(broken{want}, []string{"A"}, nil); !errors.Is(err, want) {
		t.Errorf("got %v, want %v", err, want)
	}
}

func TestWriteDoesNotChangeItsArguments(t *testing.T) {
	header, rows := []string{"a"}, [][]string{{"x\ty"}}
	if err := table.Write(io.Discard, header, rows); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"a"}, {"x\ty"}}, append([][]string{header}, rows...)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestDropEmpty(t *testing.T) {
	header := []string{"NAME", "READY", "STATUS", "AGE"}
	for name, c := range map[string]struct {
		rows, want [][]string
		columns    []string
	}{
		"an empty optional column is dropped": {
			[][]string{{"a", "", "ok", "1d"}, {"b", "", "", "2d"}},
			[][]string{{"a", "ok", "1d"}, {"b", "", "2d"}},
			[]string{"NAME", "STATUS", "AGE"},
		},
		"an empty column that was not called optional stays": {
			[][]string{{"a", "1/1", "ok", ""}}, [][]string{{"a", "1/1", "ok", ""}}, header,
		},
		"a short row is empty where it ends": {[][]string{{"a"}}, [][]string{{"a"}}, []string{"NAME", "AGE"}},
		"without rows optional columns go":   {nil, [][]string{}, []string{"NAME", "AGE"}},
	} {
		t.Run(name, func(t *testing.T) {
			columns, rows := table.DropEmpty(header, c.rows, "READY", "STATUS")
			if diff := cmp.Diff(c.columns, columns); diff != "" {
				t.Errorf("header (-want +got)\n%s", diff)
			}
			if diff := cmp.Diff(c.want, rows); diff != "" {
				t.Errorf("rows (-want +got)\n%s", diff)
			}
		})
	}
}
