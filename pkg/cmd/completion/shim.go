package completion

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// shimName is the program that kubectl runs to complete the plugin (since 1.26), with the
// words that are typed.
var shimName = strings.Replace(plugin.File(), "-", "_complete-", 1)

// shim is that file on an operating system. It passes by kubectl, which would take
// another start, and is silent: what is said while a person types is in the way.
func shim(system string) (name, text string) {
	if system == "windows" {
		return shimName + ".cmd", "@echo off\r\nrem Lets kubectl complete \"" + cli.CommandName + "\".\r\n" + plugin.File() + " __complete %* 2>nul\r\n"
	}
	return shimName, "#!/bin/sh\n# Lets kubectl complete \"" + cli.CommandName + "\".\nexec " + plugin.File() + " __complete \"$@\" 2>/dev/null\n"
}

func installShim(s cli.Streams, directory string) error {
	name, text := shim(runtime.GOOS)
	path := filepath.Join(directory, name)
	err := os.WriteFile(path, []byte(text), 0o755)
	if err == nil {
		err = os.Chmod(path, 0o755) // it may have been there
	}
	if err != nil {
		return fmt.Errorf("write the completion shim: %w", err)
	}
	fmt.Fprintf(s.Err, "wrote %s\n", cli.Quote(path))
	if !inPath(s, directory) {
		fmt.Fprintf(s.Err, "hint: kubectl finds it once %s is in your PATH\n", cli.Quote(directory))
	}
	return nil
}

// inPath says whether programs in this directory are found.
func inPath(s cli.Streams, directory string) bool {
	there, err := os.Stat(directory)
	return err == nil && slices.ContainsFunc(filepath.SplitList(s.Getenv("PATH")), func(entry string) bool {
		info, err := os.Stat(entry)
		return err == nil && os.SameFile(info, there)
	})
}
