// Package html writes one scan as a page that a browser shows without a server or network:
// the findings, every object with its owners and dependents, what a collection would do,
// and what could not be read. Equal values give equal bytes. The page is page.html with
// one style sheet and one script, joined from the files in their folders, and the data.
// The policy in its head allows only this script and this style sheet, by their hashes.
// Verdicts, reasons and sentences are those of the other formats. Text from the cluster is
// escaped here before it becomes data; the script makes text nodes of it and never markup.
package html

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/audit"
	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
	"github.com/kubectl-gc/kubectl-gc/pkg/plan"
	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

// Page is what a page shows.
type Page struct {
	Judge    *collector.Judge // of the scan's graph
	Report   *audit.Report
	Pass     *plan.Plan // of a collection of the whole scan
	Plan     *plan.Plan // its steps are shown; may be nil
	Source   Origin
	Hints    string // what to do next, in a line; may be empty
	Warnings []string
	Version  string                       // of this program
	Suggest  func(words ...string) string // makes a command of this program a line to paste; nil: no suggestions
}

// Origin says of what the scan was made. Each field may be empty.
type Origin struct {
	Context, Address, File string
	Namespace, Selector    string
	Flags                  string // of a command line that reads the same cluster or file
}

// Write writes the page.
func Write(w io.Writer, p Page) error {
	out := bufio.NewWriterSize(w, 1<<16)
	head, tail, _ := strings.Cut(skeleton, "{{data}}")
	out.WriteString(fill(head)) // the writer keeps its first error for Flush
	// The data cannot leave its script element: encoding/json escapes <, > and &, and the two
	// line separators.
	if err := json.NewEncoder(out).Encode(documentOf(p)); err != nil {
		return fmt.Errorf("encode the page's data: %w", err)
	}
	out.WriteString(fill(tail))
	return out.Flush()
}

//go:embed page.html
var skeleton string

//go:embed style script
var files embed.FS

// The parts of the style sheet and of the script, in the order in which they are joined.
var (
	styleParts  = []string{"colour", "page", "control", "list", "family", "panel", "print"}
	scriptParts = []string{
		"element", "data", "measure", "object", "reference", "finding", "route", "list", "filter", "findings", "search",
		"steps", "family", "tree", "panel", "overview", "head", "theme", "help", "keyboard", "print", "main",
	}
)

// placeholders puts policy, style and script into the page. The policy has the hash of
// exactly the text in each element.
var placeholders = sync.OnceValue(func() *strings.Replacer {
	style := "\n" + joined("style/", styleParts, ".css")
	script := "\n(() => {\n\"use strict\";\n" + joined("script/", scriptParts, ".js") + "})();\n"
	return strings.NewReplacer("{{policy}}", policy(style, script), "{{style}}", style, "{{script}}", script)
})

func joined(folder string, parts []string, ending string) string {
	var out strings.Builder
	for _, part := range parts {
		text, err := files.ReadFile(folder + part + ending)
		if err != nil {
			panic("a part of the page is not embedded: " + err.Error())
		}
		out.Write(text)
	}
	return plugin.Named(out.String())
}

// policy lets the page run its own script and use its own style sheet, and load or send
// nothing.
func policy(style, script string) string {
	return "default-src 'none'; script-src '" + hash(script) + "'; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// fill puts policy, style and script into a part of the page.
func fill(part string) string { return placeholders().Replace(plugin.Named(part)) }
