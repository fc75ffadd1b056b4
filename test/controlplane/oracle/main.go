// Command oracle builds the program that runs upstream's own garbage collector on
// scenarios, in one process and in random orders.
//
// The collector's queues are not exported. So its source files are copied, unchanged, from
// the module cache into the folder _build, together with those of _driver, which then belong
// to the same package. The folder is removed at the end: the code in it is not formatted like ours.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
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
	// Of the package, since go list -m names no folder of a module that has not been downloaded.
	list := exec.Command("go", "list", "-f", "{{.Dir}}", "k8s.io/kubernetes/pkg/controller/garbagecollector")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		return fmt.Errorf("find the source of Kubernetes: %w", err)
	}
	upstream := strings.TrimSpace(string(out))
	// Two tests may build at the same time. The kernel unlocks the folder when this process ends.
	folder, err := os.Open("oracle")
	if err != nil {
		return err
	}
	defer folder.Close()
	if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock the folder oracle: %w", err)
	}
	if err := os.RemoveAll("oracle/_build"); err != nil {
		return err
	}
	defer os.RemoveAll("oracle/_build")
	for _, c := range []struct{ from, to string }{
		{upstream, "oracle/_build/garbagecollector"},
		{"oracle/_driver", "oracle/_build/garbagecollector"},
		{"../apiserver", "oracle/_build/apiserver"},
		{"../oracle/scenario", "oracle/_build/scenario"},
		{"oracle/_program", "oracle/_build"},
	} {
		if err := os.CopyFS(c.to, os.DirFS(c.from)); err != nil {
			return fmt.Errorf("copy %s: %w", c.from, err)
		}
	}
	cmd := exec.Command("go", "build", "-o", file, "./oracle/_build")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("build the program with upstream's garbage collector: %w", err)
	}
	return nil
}
