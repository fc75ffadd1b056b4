package trust

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// Defect 13: the password of a URL on the command line was printed in the suggested command that
// runs what was previewed, and in an error.
func TestURLPasswordIsNotPrinted(t *testing.T) {
	t.Parallel()
	const password = "s3cr3t-p4ssw0rd"
	for name, c := range map[string]struct {
		args func(withPassword string) []string
		lie  http.HandlerFunc // for paths outside of /api and /apis
	}{
		"--server, in a preview": {args: func(at string) []string {
			return []string{"collect", "--dry-run", "--server", at}
		}},
		"--server, without confirmation": {args: func(at string) []string {
			return []string{"collect", "--server", at}
		}},
		"--server, in a run": {args: func(at string) []string {
			return []string{"collect", "--yes", "-v=9", "--server", at}
		}},
		"--server, invalid": {args: func(at string) []string {
			return []string{"collect", "--dry-run", "--server", at + "%zz"}
		}},
		"--proxy-url, in a preview": {args: func(at string) []string {
			return []string{"collect", "--dry-run", "--proxy-url", at}
		}},
		"--proxy-url, invalid": {args: func(at string) []string {
			return []string{"collect", "--dry-run", "--proxy-url", at + "%zz"}
		}},
		"-f, in a preview": {args: func(at string) []string {
			return []string{"delete", "--dry-run", "-f", at + "/web.json"}
		}},
		"-f, without confirmation": {args: func(at string) []string {
			return []string{"delete", "-f", at + "/web.json"}
		}},
		"-f, not found": {args: func(at string) []string {
			return []string{"delete", "--dry-run", "-f", at + "/none.json"}
		}},
		"-f, not a manifest": {args: func(at string) []string {
			return []string{"delete", "--dry-run", "-f", at + "/version"}
		}},
		"-f, not a URL": {args: func(at string) []string {
			return []string{"delete", "--dry-run", "-f", at + "%zz/web.json"}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			web := s.Add(Deployments.Object("shop", "web"))
			s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
			s.Lie(Path("/web.json"), Document(web.Whole()))
			at, err := url.Parse(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			at.User = url.UserPassword("user", password)
			u := newUser(t, s)

			r := u.runs(c.args(at.String())...)
			for where, text := range map[string]string{"standard output": r.stdout, "standard error": r.stderr, "the backup": u.backedUp()} {
				if strings.Contains(text, password) {
					t.Errorf("kubectl gc %s: the password is in %s: %s", strings.Join(r.args, " "), where, short(text))
				}
			}
		})
	}
}

// Defect 14: characters that control a terminal, or change the order of text, were printed in
// JSON lines, snapshots and plans.
func TestControlCharactersAreEscaped(t *testing.T) {
	t.Parallel()
	const csi, override = "\u009b", "\u202e"
	for name, args := range map[string][]string{
		"JSON lines": {"collect", "--yes", "-o", "jsonl"},
		"a snapshot": {"snapshot", "-o", "-"},
		"a plan":     {"collect", "--dry-run", "-o", "json"},
		"a report":   {"audit"},
		"a document": {"audit", "-o", "json"},
		"a tree":     {"tree", "-A", "--all"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := NewServer(t)
			hostile := func(name string) *Object {
				reference := missingOwner(Deployments)
				reference.Name = "evil" + csi + "31m" + override
				return ownedBy(Secrets.Object("shop", name), reference)
			}
			s.Add(hostile("garbage"), hostile("evil"+csi+"31m"+override))

			r := newUser(t, s).startAtTerminal(args...).ends()
			if !strings.Contains(r.stdout, "evil") {
				t.Errorf("it does not show the objects: %s", short(r.stdout))
			}
			for what, character := range map[string]string{"U+009B": csi, "U+202E": override} {
				if strings.Contains(r.stdout, character) {
					t.Errorf("kubectl gc %s sends %s to a terminal: %q", strings.Join(args, " "), what, short(r.stdout))
				}
			}
		})
	}
}
