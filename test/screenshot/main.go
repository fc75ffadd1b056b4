// Command picture draws docs/picture: a terminal with the output of some commands about
// docs/demo/cluster.json, once for light and once for dark pages.
//
//	go run ./test/screenshot
//
// The commands run in this process, in colour. Their output about a file never changes, so a test
// compares the pictures with newly drawn ones.
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

// shown are the commands in the picture, without the flag for their input file.
var shown = []string{
	"kubectl gc tree statefulset/redis-exporter -n monitoring",
	"kubectl gc why statefulset/redis-exporter -n monitoring",
}

// columns are those of the terminal: a line of text in the README has about as many.
const columns = 104

func main() {
	if err := draw("."); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

// draw writes both pictures into the checkout at root.
func draw(root string) error {
	lines, err := runCommands(filepath.Join(root, "docs", "demo", "cluster.json"))
	if err != nil {
		return err
	}
	for name, c := range themes {
		if err := os.WriteFile(filepath.Join(root, "docs", "picture", name+".svg"), render(lines, c), 0o644); err != nil {
			return fmt.Errorf("write picture: %w", err)
		}
	}
	return nil
}

// runCommands runs the commands on a file, and returns the lines that a terminal shows, as of a cluster.
func runCommands(file string) ([]line, error) {
	var lines []line
	for i, command := range shown {
		var out, errs bytes.Buffer
		s := cli.Process()
		s.In, s.Out, s.Err, s.InTerm, s.OutTerm, s.ErrTerm = strings.NewReader(""), &out, &errs, false, false, false
		s.OutWidth = func() int { return columns }
		args := append(strings.Fields(command)[2:], "--from", file, "--color=always")
		if code := cmd.Main(context.Background(), args, s); code != 0 {
			return nil, fmt.Errorf("%s: exit code %d: %s", command, code, &errs)
		}
		if i > 0 {
			lines = append(lines, nil)
		}
		lines = append(lines, line{{text: "$ ", style: dim}, {text: command, style: bold}})
		for text := range strings.Lines(strings.ReplaceAll(out.String(), " --from "+file, "")) {
			lines = append(lines, parse(strings.TrimRight(text, "\n")))
		}
	}
	return lines, nil
}
