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

// shimName is the program that kubectl (since 1.26) runs to complete the plugin.
var shimName = strings.Replace(plugin.File(), "-", "_complete-", 1)

// shim returns the name and content of that program for an operating system. It runs the
// plugin directly, to save another start of kubectl, and discards standard error, which
// would disturb the user while typing.
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
		err = os.Chmod(path, 0o755) // if it existed already
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

// inPath reports whether a directory is in the PATH.
func inPath(s cli.Streams, directory string) bool {
	wanted, err := os.Stat(directory)
	return err == nil && slices.ContainsFunc(filepath.SplitList(s.Getenv("PATH")), func(entry string) bool {
		info, err := os.Stat(entry)
		return err == nil && os.SameFile(info, wanted)
	})
}
