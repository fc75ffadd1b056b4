// Command reference writes what comes from the program itself: the pages of the commands
// (docs/commands), the reason codes (docs/reasons.md), the JSON Schemas (docs/schemas), and man pages.
//
//	go run ./test/reference -markdown docs/commands
//	go run ./test/reference -man bin/man
//
// It is not part of the released program.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd"
)

func main() {
	markdown := flag.String("markdown", "", "write the pages of the commands into this folder, and everything else into the one above")
	man := flag.String("man", "", "write man pages into this folder")
	flag.Parse()
	if err := run(*markdown, *man); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(markdown, man string) error {
	if markdown != "" {
		pages, err := pages("pkg")
		if err != nil {
			return err
		}
		for _, folder := range []string{markdown, filepath.Join(filepath.Dir(markdown), "schemas")} {
			if err := os.RemoveAll(folder); err != nil { // and with it the pages of former commands
				return err
			}
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
		}
		for name, text := range pages {
			if err := os.WriteFile(filepath.Join(filepath.Dir(markdown), filepath.FromSlash(name)), []byte(text), 0o644); err != nil {
				return fmt.Errorf("write %s: %w", name, err)
			}
		}
	}
	if man != "" {
		root, err := commands()
		if err != nil {
			return err
		}
		if err := os.MkdirAll(man, 0o755); err != nil {
			return err
		}
		return doc.GenManTree(root, &doc.GenManHeader{}, man)
	}
	return nil
}

// templates are flags of all commands with machine formats.
var templates = []string{"template", "allow-missing-template-keys"}

// pages returns all pages, by their path in docs. sources is the folder of the program's packages.
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
	for _, c := range withSubcommands(root) {
		var page bytes.Buffer
		for _, name := range templates {
			if f := c.Flags().Lookup(name); f != nil {
				f.Hidden = true // the page of the shared flags has them
			}
		}
		page.WriteString("<!-- Written by \"make docs\" from the commands themselves: change those. -->\n\n")
		if err := doc.GenMarkdownCustom(c, &page, fileName); err != nil {
			return nil, fmt.Errorf("write the page of %s: %w", c.CommandPath(), err)
		}
		text := strings.Replace(page.String(), "### Examples\n\n```\n", "### Examples\n\n```sh\n", 1)
		text = strings.Replace(text, c.Short+"\n\n### Synopsis\n\n", "", 1) // the list of commands has it, and the text begins with it
		for _, flags := range []*pflag.FlagSet{c.NonInheritedFlags(), c.InheritedFlags()} {
			if flags.HasAvailableFlags() { // as help groups them
				text = strings.Replace(text, flags.FlagUsages(), cli.FlagUsages(flags, 0), 1)
			}
		}
		if c.Name() != "options" { // one page has the flags of all
			text = strings.Replace(text, "### Options inherited from parent commands\n\n```\n"+cli.FlagUsages(c.InheritedFlags(), 0)+"```\n", "[kubectl gc options](options.md) has the flags of all commands.\n", 1)
		}
		if !c.HasParent() { // one page has the others
			text = strings.Replace(text, cli.FlagUsages(c.NonInheritedFlags(), 0)+"```\n", cli.FlagUsages(c.LocalNonPersistentFlags(), 0)+"```\n\n[kubectl gc options](options.md) has the others.\n", 1)
		}
		text = strings.Replace(text, "\nAdvanced flags:\n```", "```", 1) // the hidden ones were all
		if c.HasParent() && !c.HasSubCommands() {
			text, _, _ = strings.Cut(text, "\n### SEE ALSO\n") // it has only the parent
		}
		if c.Name() == "options" {
			text += "\nCommands with `-o jsonpath` also take `--template` and `--allow-missing-template-keys`, as kubectl does.\n"
		}
		out["commands/"+fileName(strings.ReplaceAll(c.CommandPath(), " ", "_")+".md")] = text
	}
	return out, nil
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

// fileName shortens the name that package doc gives to the page of a command.
func fileName(long string) string {
	if short, is := strings.CutPrefix(long, "kubectl_gc_"); is {
		return short
	}
	return "README.md"
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
