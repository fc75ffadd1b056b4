package script

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// references returns the number of references of one object, from the environment variable
// REFERENCES if it is set. A server stores some ten thousand at most; a file can hold any number.
func references(t *testing.T) int {
	t.Helper()
	if given := os.Getenv("REFERENCES"); given != "" {
		n, err := strconv.Atoi(given)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	return 20_000
}

// crowded returns, in the format of kubectl get, an object with n references, and one owner that
// exists.
func crowded(n int, reference func(i int) string) string {
	var out strings.Builder
	out.WriteString(`{"apiVersion":"v1","kind":"List","items":[
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"owner","namespace":"a","uid":"there"}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"crowd","namespace":"a","uid":"crowd","ownerReferences":[`)
	for i := range n {
		if i > 0 {
			out.WriteString(",\n")
		}
		out.WriteString(reference(i))
	}
	out.WriteString("]}}]}")
	return out.String()
}

func gone(i int) string {
	return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":"gone-%d","uid":"gone-%d"}`, i, i)
}

const there = `{"apiVersion":"v1","kind":"ConfigMap","name":"owner","uid":"there","controller":true,"blockOwnerDeletion":true}`

// TestManyReferencesTakeLinearTime limits the CPU time of commands on an object with many
// references. A command that is quadratic in their number needs minutes for the default, and
// hours for REFERENCES=1000000; a linear one needs a second or two. CPU time does not depend on
// other load. The program is built as users have it; the other tests run it as a part of this binary.
func TestManyReferencesTakeLinearTime(t *testing.T) {
	n := references(t)
	patience := 15 * time.Second * time.Duration(max(1, n/20_000))
	program := filepath.Join(t.TempDir(), "kubectl-gc")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/kubectl-gc/kubectl-gc/cmd/kubectl-gc").CombinedOutput(); err != nil {
		t.Fatalf("build the program: %v\n%s", err, out)
	}
	for name, reference := range map[string]func(int) string{
		"each to another owner that does not exist": gone,
		"all to one owner that exists":              func(int) string { return there },
		"one to an owner that exists, the others to owners that do not": func(i int) string {
			if i == n/2 {
				return there
			}
			return gone(i)
		},
		"half to one owner that exists, half to one that does not": func(i int) string {
			if i%2 == 0 {
				return there
			}
			return gone(0)
		},
		"all to itself": func(int) string { return strings.NewReplacer("owner\"", "crowd\"", "there", "crowd").Replace(there) },
		"each to another unknown kind": func(i int) string {
			return fmt.Sprintf(`{"apiVersion":"g%d/v1","kind":"K%d","name":"x","uid":"x%d"}`, i, i, i)
		},
	} {
		file := filepath.Join(t.TempDir(), "crowd.json")
		if err := os.WriteFile(file, []byte(crowded(n, reference)), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			"audit -o json", "tree", "tree -o json", "why configmap/crowd -o json", "collect --dry-run -o json",
			"delete configmap/owner --dry-run -o json", "repair --dry-run -o json",
		} {
			t.Run(name+"/"+line, func(t *testing.T) {
				t.Parallel()
				args := append(strings.Fields(line), "--from", file)
				if strings.Contains(line, "configmap/") {
					args = append(args, "-n", "a")
				}
				// Also end it if the machine is extremely slow or busy.
				ctx, cancel := context.WithTimeout(t.Context(), 10*patience)
				defer cancel()
				var stderr bytes.Buffer
				cmd := exec.CommandContext(ctx, program, args...)
				cmd.Env, cmd.Stderr = []string{"KUBECONFIG=no-such-kubeconfig", "HOME=" + t.TempDir()}, &stderr
				err := cmd.Run()
				if cmd.ProcessState == nil {
					t.Fatal(err)
				}
				took := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				t.Logf("%d references took %v of a processor", n, took.Round(time.Millisecond))
				switch {
				case took > patience || ctx.Err() != nil:
					t.Errorf("%d references take longer than %v", n, patience)
				case cmd.ProcessState.ExitCode() != 0 && cmd.ProcessState.ExitCode() != 1:
					t.Errorf("%v: %s", err, &stderr)
				}
			})
		}
	}
}
