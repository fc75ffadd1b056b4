package e2e

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// hostileValues are values of an owner reference that the API server accepts: it only requires
// that kind, name and UID are not empty.
var hostileValues = map[string]string{
	"an escape sequence":          "\x1b[2J\x1b]0;owned\x07\x1b[31mred",
	"line breaks and tabs":        "web\nerror  missing-owner  forged\r\n\tx",
	"quotes and markup":           `"><script>alert('1')</script>\"];"` + "`$(id)`",
	"a way up":                    "../../../../api/v1/namespaces/kube-system/secrets",
	"a way up, escaped":           "..%2f..%2fsecrets%00",
	"a query":                     "web?watch=true&limit=1#fragment",
	"a way back":                  "..",
	"characters that turn around": "safe\u202egnp.exe\u2066\u200b\ufeff",
	"C1 controls":                 "\u009b31m\u0085\u0090",
	"much text":                   strings.Repeat("long\x1b[1m ", 12_000),
	"blanks":                      " \u00a0\u2028 ",
}

// safeForTerminal returns an error if text must not be written to a terminal.
func safeForTerminal(text string) error {
	for i, r := range text {
		switch {
		case r == '\n':
		case r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd"):
			return fmt.Errorf("an invalid byte %#x", text[i])
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == '\u2028', r == '\u2029':
			return fmt.Errorf("the raw character %U", r)
		}
	}
	return nil
}

// plainPath matches the paths of requests that no hostile value has changed: discovery, a list,
// or an object whose name is one escaped segment.
var plainPath = regexp.MustCompile(`^/(version|api|apis|(api/v1|apis/[a-z0-9.-]+/v[a-z0-9]+)(/namespaces/[a-z0-9-]+)?/[a-z]+(/[^/]+)?)$`)

func TestHostileReferencesReachNeitherTerminalNorRequestPath(t *testing.T) {
	s := newScene(t)
	ns := s.namespace("hostile")
	owner := s.create(secret(ns, "owner"))
	number := 0
	hurt := func(refs ...metav1.OwnerReference) {
		number++
		s.create(configMap(ns, fmt.Sprintf("c%d", number), ownedBy(refs...)))
	}
	for _, text := range hostileValues {
		hurt(reference("v1", text, "owner", owner.GetUID()))
		hurt(reference("v1", "Secret", text, owner.GetUID()))
		hurt(reference("v1", "Secret", "owner", types.UID(text)))
		hurt(reference("v1", text, text, types.UID(text)))
		if !strings.Contains(text, "/") {
			hurt(reference(text+"/v1", "Secret", "owner", owner.GetUID()))
			hurt(referenceTo(owner), reference("apps/"+text, "Secret", "owner", owner.GetUID()))
		}
	}
	f := s.throughProxy(nil).allowWrites()
	for _, c := range []struct {
		line    string
		code    int
		formats []string
	}{
		{"audit -n " + ns, 1, []string{"wide", "json", "kyaml", "sarif"}},
		{"tree -n " + ns, 0, []string{"wide", "json"}},
		{"collect --dry-run -n " + ns, 0, []string{"table", "yaml", "name"}},
		{"collect --dry-run=server -n " + ns, 0, []string{"jsonl"}},
		{"snapshot -n " + ns, 0, []string{"-"}},
	} {
		for _, format := range c.formats {
			t.Run(c.line+" -o "+format, func(t *testing.T) {
				f := f.tool
				f.scene = s.forSubtest(t)
				r := f.gc(append(strings.Fields(c.line), "-o", format)...).exits(t, c.code)
				if format == "kyaml" || format == "yaml" {
					// YAML writes a tab at the start of a line as a backslash and a tab.
					r.Stdout = strings.ReplaceAll(r.Stdout, "\\\t", "")
				}
				for stream, content := range map[string]string{"stdout": r.Stdout, "stderr": r.Stderr} {
					if err := safeForTerminal(content); err != nil {
						t.Errorf("%s has %v", stream, err)
					}
				}
			})
		}
	}
	for _, r := range f.matching(anyRequest) {
		if decoded := r.URL.Path; !plainPath.MatchString(decoded) || path.Clean(decoded) != decoded || strings.Contains(decoded, "%") {
			t.Errorf("it requests %q", short(r.RequestURI))
		}
		if err := safeForTerminal(r.RequestURI); err != nil || strings.ContainsAny(r.RequestURI, " \"<>`") {
			t.Errorf("it requests %q, unescaped", short(r.RequestURI))
		}
	}
}
