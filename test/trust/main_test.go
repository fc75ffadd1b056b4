package trust

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program is the program under test.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	if flag.Parse(); testing.Short() {
		fmt.Println("skipped: these tests build the program, and run it against servers that keep it waiting")
		return 0
	}
	program = os.Getenv("KUBECTL_GC_BINARY")
	if program == "" {
		folder, err := os.MkdirTemp("", "kubectl-gc-trust-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(folder)
		program = filepath.Join(folder, "kubectl-gc")
		if out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, "../../cmd/kubectl-gc").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build the program: %s: %s", err, out)
			return 1
		}
	}
	return m.Run()
}
