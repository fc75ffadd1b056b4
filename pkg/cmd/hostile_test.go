package cmd_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// hostile are strings that a cluster may contain.
var hostile = []string{
	"\x1b[2J\x1b]0;owned\x07\x1b[31mred",
	"web\nerror  missing-owner  forged\r\n\tx",
	"safe\u202egnp.exe\u2066\u200b\ufeff",
	"\u009b31m\u0085\u0090",
	" \u00a0\u2028\u2029 ",
	"\x7f\u00ad\U000e0041",
}

// printable returns an error if text acts on a terminal or hides something.
func printable(text string) error {
	for i, r := range text {
		switch {
		case r == '\n':
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			return fmt.Errorf("it holds the invalid byte %#x", text[i])
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			return fmt.Errorf("it holds %U", r)
		}
	}
	return nil
}

func hostileAPI() api {
	a := newAPI()
	for i, s := range hostile {
		a.Add(configMap(fmt.Sprint("c", i), s))
		a.Add(configMap(s, "u-gone"))
		labelled := configMap(fmt.Sprint("labelled", i))
		labelled.Labels, labelled.Annotations = map[string]string{s: s}, map[string]string{s: s}
		a.Add(labelled)
	}
	refusal := errors.New("refused: " + strings.ReplaceAll(strings.Join(hostile, ""), "\n", "")) // one line is shown
	a.Lie(func(r *http.Request) bool {
		return r.Method == http.MethodDelete && strings.HasSuffix(r.URL.Path, "/c0")
	}, func(w http.ResponseWriter, r *http.Request) {
		apiserver.RespondError(w, r, apierrors.NewForbidden(apiserver.ConfigMaps.GroupResource(), "c0", refusal))
	})
	return a
}

func TestAllJSONIsSafeOnATerminal(t *testing.T) {
	home := newHome(t)
	server := "--server=" + hostileAPI().Listen(t)
	check := func(what, text string, wanted ...string) {
		t.Helper()
		if text == "" {
			t.Errorf("%s: nothing was written", what)
		}
		if err := printable(text); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		for _, w := range wanted {
			if !strings.Contains(text, w) {
				t.Errorf("%s lacks %q: %.2000s", what, w, text)
			}
		}
	}
	escapes := []string{`\u009b31m\u0085`, `\u202egnp.exe\u2066`, `\u2028`}

	t.Run("snapshot -o -", func(t *testing.T) {
		r := run(t, "snapshot", "-o", "-", server)
		check("stdout", r.out, escapes...)
		check("stderr", r.errors+"\n")
		got, err := snapshot.Load(strings.NewReader(r.out), time.Time{}, 1<<30, false)
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		for _, o := range got.Objects {
			for _, s := range hostile {
				if o.Name == s || o.Labels[s] == s || len(o.Owners) > 0 && string(o.Owners[0].UID) == s {
					found++
				}
			}
		}
		if found != 3*len(hostile) {
			t.Errorf("%d strings decode to what they were, want %d", found, 3*len(hostile))
		}
	})
	t.Run("snapshot -o FILE", func(t *testing.T) {
		for _, name := range []string{"s.json", "s.json.gz"} {
			file := filepath.Join(home, name)
			if r := run(t, "snapshot", "-o", file, server); r.code != 0 {
				t.Fatal(r)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(name, ".gz") {
				zip, err := gzip.NewReader(bytes.NewReader(text))
				if err != nil {
					t.Fatal(err)
				}
				if text, err = io.ReadAll(zip); err != nil {
					t.Fatal(err)
				}
			}
			check(name, string(text), escapes...)
		}
	})
	t.Run("collect -o jsonl", func(t *testing.T) {
		for _, how := range []string{"--dry-run=server", "--yes"} {
			r := run(t, "collect", how, "-o", "jsonl", "--backup-dir", filepath.Join(home, "backups"), server)
			check(how, r.out, escapes...)
			check("stderr", r.errors+"\n")
			for line := range strings.Lines(r.out) {
				if !json.Valid([]byte(line)) {
					t.Errorf("no JSON: %s", line)
				}
			}
		}
		kept := files(t, filepath.Join(home, "backups"))
		if len(kept) == 0 {
			t.Error("there is no backup")
		}
		for name, text := range kept {
			check(name, text)
		}
	})
}
