package trust

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Nobody should have to remember which cluster a terminal talks to.
func TestQuestionPreviewAndRunNameTheCluster(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	s.Add(Deployments.Object("shop", "web"))
	u := newUser(t, s)
	const place = "in namespace shop on "
	cluster := place + "test (" + s.URL + ")"
	for _, args := range [][]string{{"collect"}, {"collect", "-n", "shop"}, {"delete", "deployment/web", "-n", "shop"}} {
		tty := u.startAtTerminal(args...)
		tty.awaitAny("to confirm: ", "objects to delete: ")
		tty.press("no\n")
		if r := tty.ends().exits(4); !strings.Contains(r.stdout, "Delete 1 object "+cluster+"? Type 1 to confirm: ") {
			t.Errorf("%v asks\n%s", args, r.stdout)
		}
		if r := u.runs(append(args, "--dry-run")...).exits(0); !strings.Contains(r.stdout, "delete 1 "+cluster+".") {
			t.Errorf("%v --dry-run shows\n%s", args, r.stdout)
		}
	}
	tty := u.startAtTerminal("repair", "--server", s.URL)
	tty.awaitAny("to confirm: ", "Type yes: ")
	tty.press("no\n")
	if r := tty.ends().exits(4); !strings.Contains(r.stdout, "Change 1 owner reference of 1 object "+place+s.URL+"? Nothing will be deleted. Type yes to confirm: ") {
		t.Errorf("a cluster without its context is not named by its URL alone\n%s", r.stdout)
	}
	snapshot := filepath.Join(u.home, "saved.json")
	u.runs("snapshot", "-o", snapshot).exits(0)
	if r := u.runs("collect", "--dry-run", "--from", snapshot).exits(0); !strings.Contains(r.stdout, "delete 1 in namespace shop (file "+snapshot+").") {
		t.Errorf("the preview does not name its file\n%s", r.stdout)
	}
	if r := u.runs("collect", "--yes", "-o", "jsonl").exits(0); !strings.HasPrefix(r.stderr, "running the plan "+cluster+"\n") {
		t.Errorf("a run that shows no preview begins with\n%s", r.stderr)
	}
}

func TestNameOfContextCannotPretendToBeAnotherCluster(t *testing.T) {
	t.Parallel()
	s := NewServer(t)
	s.Add(ownedBy(Secrets.Object("shop", "garbage"), missingOwner(Deployments)))
	u := newUser(t, s)
	config := filepath.Join(u.home, "kubeconfig")
	raw, err := os.ReadFile(config)
	u.must(err)
	u.must(os.WriteFile(config, []byte(strings.NewReplacer(
		`"current-context":"test"`, `"current-context":"dev (https://dev)\u001b[8m"`,
		`"context":{"cluster":"test","user":"test"},"name":"test"`, `"context":{"cluster":"test","user":"test"},"name":"dev (https://dev)\u001b[8m"`,
		s.URL, strings.Replace(s.URL, "://", "://admin:hunter2@", 1),
	).Replace(string(raw))), 0o600))
	r := u.runs("collect", "--dry-run").exits(0)
	if want := ` on "dev (https://dev)\x1b[8m" (` + s.URL + `). `; !strings.Contains(r.stdout, want) || strings.Contains(r.stdout, "hunter2") {
		t.Errorf("no %s in\n%s", want, r.stdout)
	}
}
