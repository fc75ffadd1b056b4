// Command oracle builds the program that runs upstream's own garbage collector on
// scenarios, in one process and in random orders.
//
// The collector's queues are not exported. So its source files are copied, unchanged, from
// the module cache into the folder _build, which git ignores, together with those of
// _driver, which then belong to the same package.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	file := flag.String("o", "", "where to put the program")
	flag.Parse()
	if *file == "" || flag.NArg() > 0 {
		fmt.Fprintln(os.Stderr, "usage, in the folder test/controlplane: go run ./oracle -o FILE")
		os.Exit(2)
	}
	if err := build(*file); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func build(file string) error {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		return fmt.Errorf("find the source of Kubernetes: %w", err)
	}
	upstream := filepath.Join(strings.TrimSpace(string(out)), "pkg", "controller", "garbagecollector")
	if err := os.RemoveAll("oracle/_build"); err != nil {
		return err
	}
	for _, c := range []struct{ from, to string }{
		{upstream, "oracle/_build/garbagecollector"},
		{"oracle/_driver", "oracle/_build/garbagecollector"},
		{"../oracle/scenario", "oracle/_build/scenario"},
		{"oracle/_program", "oracle/_build"},
	} {
		if err := copySources(c.from, c.to); err != nil {
			return err
		}
	}
	cmd := exec.Command("go", "build", "-o", file, "./oracle/_build")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the program with upstream's garbage collector: %w", err)
	}
	return nil
}

// copySources copies the Go files of a folder, except tests.
func copySources(from, to string) error {
	files, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return fmt.Errorf("no Go files in %s", from)
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return err
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		data, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(f)), data, 0o666); err != nil {
			return err
		}
	}
	return nil
}
