package input_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/input"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// repeat is a reader that repeats one byte forever.
type repeat byte

func (s repeat) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(s)
	}
	return len(p), nil
}

func TestReadAllStopsAtTheLimit(t *testing.T) {
	const most = 1 << 20
	var err error
	took := st.Allocated(func() { _, err = input.ReadAll(repeat('['), most) })
	var long *input.TooLongError
	if !errors.As(err, &long) || !strings.Contains(err.Error(), "longer than the 1 MiB") {
		t.Errorf("got %v", err)
	}
	if took > 16*most {
		t.Errorf("%d bytes were allocated", took)
	}
}

func TestReadAllAtTheLimit(t *testing.T) {
	got, err := input.ReadAll(strings.NewReader("four"), 4)
	if err != nil || string(got) != "four" {
		t.Errorf("%q, %v", got, err)
	}
}

func gzipped(t testing.TB, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	if _, err := zip.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A gzip file may be a concatenation of several.
func TestGunzipStopsAtABomb(t *testing.T) {
	bomb := bytes.Repeat(gzipped(t, bytes.Repeat([]byte(" "), 8<<20)), 1000)
	var n int64
	var err error
	took := st.Allocated(func() {
		var in io.Reader
		if in, err = input.Gunzip(bytes.NewReader(bomb)); err == nil {
			n, err = io.Copy(io.Discard, in)
		}
	})
	if !errors.Is(err, input.ErrUnpackLimit) {
		t.Errorf("%d bytes of %d unpack to %d: %v", len(bomb), 8000<<20, n, err)
	}
	if n > 128<<20 || took > 16<<20 {
		t.Errorf("%d bytes were unpacked, %d were allocated", n, took)
	}
}

func TestGunzip(t *testing.T) {
	var list bytes.Buffer
	for i := range 100_000 {
		fmt.Fprintf(&list, `{"apiVersion":"v1","kind":"ConfigMap","name":"kube-root-ca.crt","namespace":"a","uid":"%016x"}`+"\n", uint64(i)*0x9E3779B97F4A7C15)
	}
	for name, text := range map[string][]byte{"objects": list.Bytes(), "a few zeros": make([]byte, 32<<20), "nothing": {}} {
		for packing, packed := range map[string][]byte{"gzipped": gzipped(t, text), "plain": text} {
			in, err := input.Gunzip(bytes.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(in); err != nil || !bytes.Equal(got, text) {
				t.Errorf("%s, %s: %d bytes of %d, %v", name, packing, len(got), len(text), err)
			}
		}
	}
}

// laughs returns a billion laughs attack: each line expands to ten times the one before.
func laughs(lines int) string {
	var out strings.Builder
	out.WriteString("l0: &l0 ha\n")
	for i := 1; i < lines; i++ {
		fmt.Fprintf(&out, "l%d: &l%d [%s]\n", i, i, strings.Repeat(fmt.Sprintf("*l%d,", i-1), 10))
	}
	return out.String()
}

func TestYAMLToJSONRejectsAliasBombs(t *testing.T) {
	for name, text := range map[string]string{
		"a billion laughs":                    laughs(10),
		"one long text, many times":           "a: &a " + strings.Repeat("x", 100_000) + "\nb: [" + strings.Repeat("*a,", 100_000) + "]\n",
		"a node that contains itself":         "a: &a [*a]\n",
		"a node that contains itself deeper":  "a: &a {b: {c: [1, {d: *a}]}}\n",
		"a mapping that is merged many times": "a: &a {x: " + strings.Repeat("x", 100_000) + "}\nb: [" + strings.Repeat("{<<: *a},", 10_000) + "]\n",
		"long keys":                           "a: &a {" + strings.Repeat("k", 1000) + ": 1}\nb: [" + strings.Repeat("*a,", 100_000) + "]\n",
		"a document that looks like JSON":     `{"a": &a "` + strings.Repeat("x", 100_000) + `", "b": [` + strings.Repeat("*a,", 100_000) + "]}",
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := st.Allocated(func() { _, err = input.YAMLToJSON([]byte(text)) })
			if !errors.Is(err, input.ErrAliases) {
				t.Errorf("got %v", err)
			}
			if most := uint64(1000*len(text) + 1<<20); took > most {
				t.Errorf("%d bytes were allocated for a text of %d", took, len(text))
			}
		})
	}
}

func TestYAMLToJSONResolvesAliases(t *testing.T) {
	got, err := input.YAMLToJSON([]byte("base: &base {app: web, tier: front}\none: {<<: *base, tier: back}\ntwo: [*base, *base]\nsum: a & b * c\n"))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"base":{"app":"web","tier":"front"},"one":{"app":"web","tier":"back"},"sum":"a \u0026 b * c","two":[{"app":"web","tier":"front"},{"app":"web","tier":"front"}]}`
	if string(got) != want {
		t.Errorf("got %s", got)
	}
}

// FuzzYAMLToJSON checks that JSON returns valid JSON within the limit, even if every byte is
// escaped. Only aliases can exceed the limit.
func FuzzYAMLToJSON(f *testing.F) {
	for _, text := range []string{
		"", "a: b", "a: &a [*a]", "a: &a x\nb: *a\n", "{a: &b [], <<: *b}", "&a", "*a", "? &x [1]\n: *x\n", "- &a\n- *a\n", laughs(4), laughs(7),
		`{"a":"&b *c"}`, "%YAML 1.1\n---\na: 1", "a: !!binary aGk=", "a: 0x1F\nb: .nan\nc: 1e999\nd: 0o17\n", "a: |\n  &x\n  *x\n", strings.Repeat("[", 200), "\xff&*",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for d := range input.SplitYAML(text) {
			out, err := input.YAMLToJSON(d)
			if err != nil {
				continue
			}
			if !json.Valid(out) {
				t.Errorf("%q is not JSON", out)
			}
			if most := 6 * max(4<<20, 10*len(d)); len(out) > most {
				t.Errorf("%d bytes became %d", len(d), len(out))
			}
		}
	})
}
