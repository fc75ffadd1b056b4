package html

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"strings"
	"sync"

	"github.com/kubectl-gc/kubectl-gc/pkg/plugin"
)

//go:embed style script
var files embed.FS

// The parts of the style sheet and of the script, in the order in which they are joined.
var (
	styleParts  = []string{"colour", "page", "control", "list", "family", "panel", "print"}
	scriptParts = []string{
		"element", "data", "object", "reference", "finding", "route", "list", "filter", "findings", "search",
		"steps", "family", "tree", "panel", "overview", "head", "theme", "help", "keyboard", "print", "main",
	}
)

// furniture puts policy, style and script in their places. It is made when a page is
// written, once. The very text of an element is what its hash in the policy is of.
var furniture = sync.OnceValue(func() *strings.Replacer {
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

// policy lets the page run its own script and use its own style sheet. It loads nothing
// and sends nothing.
func policy(style, script string) string {
	return "default-src 'none'; script-src '" + hash(script) + "'; style-src '" + hash(style) + "'; base-uri 'none'; form-action 'none'"
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// furnished puts policy, style and script into a part of the skeleton.
func furnished(part string) string { return furniture().Replace(plugin.Named(part)) }
