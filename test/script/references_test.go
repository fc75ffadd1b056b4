package script

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

// references is how many one object has, REFERENCES where that is said: a server stores some ten thousand at most, a
// file can hold any number.
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

// crowded is what kubectl get might write of an object with n references, beside one
// owner that is there.
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

// What grows with the square of the references of one object takes minutes for these,
// and hours for the million of REFERENCES=1000000; what is linear takes seconds.
func TestAnyNumberOfReferencesOnOneObjectIsDealtWith(t *testing.T) {
	n := references(t)
	patience := 2 * time.Minute * time.Duration(max(1, n/100_000))
	for name, reference := range map[string]func(int) string{
		"each to another owner that is gone": gone,
		"all to one owner that is there":     func(int) string { return there },
		"to one that is there, and to others that are gone": func(i int) string {
			if i == n/2 {
				return there
			}
			return gone(i)
		},
		"half to one that is there, half to one name that is gone": func(i int) string {
			if i%2 == 0 {
				return there
			}
			return gone(0)
		},
		"all to itself": func(int) string { return strings.NewReplacer("owner\"", "crowd\"", "there", "crowd").Replace(there) },
		"each to another kind that is unknown": func(i int) string {
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
				var stderr bytes.Buffer
				args := append(strings.Fields(line), "--from", file)
				if strings.Contains(line, "configmap/") {
					args = append(args, "-n", "a")
				}
				s := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &stderr, Getenv: func(string) string { return "" }, Now: time.Now}
				ended := make(chan int, 1)
				begun := time.Now()
				go func() { ended <- cli.Main(context.Background(), args, s) }()
				select {
				case code := <-ended:
					t.Logf("%d references took %v", n, time.Since(begun).Round(time.Millisecond))
					if code > 1 {
						t.Errorf("exits with %d: %s", code, &stderr)
					}
				case <-time.After(patience):
					t.Fatalf("%d references take longer than %v", n, patience)
				}
			})
		}
	}
}
