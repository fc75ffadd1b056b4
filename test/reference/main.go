// Command reference writes what comes from the program itself: docs/commands.md, the reason codes
// (docs/reasons.md), the JSON Schemas (docs/schemas), and man pages.
//
//	go run ./test/reference -docs docs
//	go run ./test/reference -man bin/man
//
// It is not part of the released program.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() {
	docs := flag.String("docs", "", "write the pages and the schemas into this folder")
	man := flag.String("man", "", "write man pages into this folder")
	flag.Parse()
	if err := run(*docs, *man); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(docs, man string) error {
	if docs != "" {
		pages, err := pages("pkg")
		if err != nil {
			return err
		}
		schemas := filepath.Join(docs, "schemas")
		if err := os.RemoveAll(schemas); err != nil { // and with it those of former documents
			return err
		}
		if err := os.MkdirAll(schemas, 0o755); err != nil {
			return err
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(docs, filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
		}
	}
	if man != "" {
		if err := os.MkdirAll(man, 0o755); err != nil {
			return err
		}
		root, err := commands()
		if err != nil {
			return err
		}
		return doc.GenManTree(root, &doc.GenManHeader{}, man)
	}
	return nil
}

// pages returns all pages and schemas, by their path in docs. sources is the folder of the program's packages.
func pages(sources string) (map[string]string, error) {
	root, err := commands()
	if err != nil {
		return nil, err
	}
	reasons, codes, err := reasonsPage(filepath.Join(sources, "reason"))
	if err != nil {
		return nil, err
	}
	out, err := schemas(sources, codes)
	if err != nil {
		return nil, err
	}
	out["reasons.md"] = reasons
	out["commands.md"] = commandsPage(root)
	return out, nil
}

// commandsPage returns the page of all commands: what --help says, a section for each command. The list at
// its beginning has the commands without subcommands, since the others only group these.
func commandsPage(root *cobra.Command) string {
	var list, sections strings.Builder
	for _, c := range withSubcommands(root)[1:] {
		if c.HasSubCommands() {
			continue
		}
		name := strings.TrimPrefix(c.CommandPath(), root.CommandPath()+" ")
		fmt.Fprintf(&list, "| [%s](#%s) | %s |\n", name, strings.ReplaceAll(name, " ", "-"), c.Short)
		fmt.Fprintf(&sections, "\n## %s\n\n%s", name, section(c))
	}
	return fmt.Sprintf(commandsHead, section(root), list.String()) + sections.String()
}

const commandsHead = `<!-- Written by "make docs" from the commands themselves: change those. -->

# Commands

%s
| command | what it does |
| --- | --- |
%s
[options](#options) has the flags that every command takes. Commands with ` + "`-o jsonpath` also take `--template` and\n`--allow-missing-template-keys`" + `, as kubectl does.
`

// section returns what --help says about a command.
func section(c *cobra.Command) string {
	text := cmp.Or(c.Long, c.Short) + "\n"
	if c.Example != "" {
		text += "\n```sh\n" + c.Example + "\n```\n"
	}
	flags := c.LocalNonPersistentFlags()
	if c.Name() == "options" {
		flags = c.InheritedFlags()
	}
	for _, name := range []string{"template", "allow-missing-template-keys"} { // the page says once who has them
		if f := flags.Lookup(name); f != nil {
			f.Hidden = true
		}
	}
	usage := c.UseLine() + "\n"
	if flags.HasAvailableFlags() {
		usage += "\n" + strings.TrimSuffix(cli.FlagUsages(flags, 0), "\nAdvanced flags:\n") // the hidden ones were all
	}
	return text + "\n```text\n" + usage + "```\n"
}

// withSubcommands returns a command and all commands below it.
func withSubcommands(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if sub.Name() == "help" { // every command's page says what --help says
			continue
		}
		all = append(all, withSubcommands(sub)...)
	}
	return all
}

// commands returns the commands of the program in an environment without a user, with texts as
// Markdown has them: lists with a sign before each item, examples without indentation.
func commands() (*cobra.Command, error) {
	for _, err := range []error{os.Setenv("HOME", "~"), os.Unsetenv("KUBECACHEDIR")} { // defaults of flags depend on them
		if err != nil {
			return nil, err
		}
	}
	root := cmd.Commands(cli.Streams{
		In: strings.NewReader(""), Out: io.Discard, Err: io.Discard,
		Getenv: func(string) string { return "" }, Now: time.Now,
	})
	for _, c := range withSubcommands(root) {
		c.DisableAutoGenTag = true
		c.Long = strings.ReplaceAll(c.Long, "\n  ", "\n* ")
		c.Example = strings.TrimPrefix(strings.ReplaceAll("\n"+c.Example, "\n  ", "\n"), "\n")
	}
	return root, nil
}
