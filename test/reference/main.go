// Command reference writes the command reference in Markdown and man pages, from the help texts
// of the commands. With the reference it writes docs/reasons.md, the list of reason codes, and
// docs/versions.md, the differences between releases of Kubernetes.
//
//	go run ./test/reference -markdown docs/commands
//	go run ./test/reference -man bin/man
//
// It is not part of the released program, which therefore has no code for roff.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() {
	markdown := flag.String("markdown", "", "write the command reference into this folder")
	man := flag.String("man", "", "write man pages into this folder")
	flag.Parse()
	if err := run(*markdown, *man); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(markdown, man string) error {
	root, err := commands()
	if err != nil {
		return err
	}
	pages := read(root)
	if markdown != "" {
		if err := write(markdown, asMarkdown(pages)); err != nil {
			return err
		}
		reasons, err := asReasons("pkg/reason")
		if err != nil {
			return err
		}
		for name, text := range map[string]string{reasonsPage: reasons, versionsPage: asVersions()} {
			if err := os.WriteFile(filepath.Join(filepath.Dir(markdown), name), []byte(text), 0o644); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
		}
	}
	if man != "" {
		return write(man, asMan(pages))
	}
	return nil
}

// commands returns the commands of the program in an environment without a user.
func commands() (*cobra.Command, error) {
	for _, err := range []error{os.Setenv("HOME", "~"), os.Unsetenv("KUBECACHEDIR")} { // defaults of flags depend on them
		if err != nil {
			return nil, err
		}
	}
	return cmd.Commands(cli.Streams{
		In: strings.NewReader(""), Out: io.Discard, Err: io.Discard,
		Getenv: func(string) string { return "" }, Now: time.Now,
	}), nil
}

// write writes files into a folder, and removes the files of commands that no longer exist.
func write(folder string, files map[string]string) error {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, f := range there {
		if _, wanted := files[f.Name()]; !wanted && isGenerated(f.Name()) {
			if err := os.Remove(filepath.Join(folder, f.Name())); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func isGenerated(name string) bool {
	return strings.HasSuffix(name, ".md") || strings.HasSuffix(name, ".1")
}
