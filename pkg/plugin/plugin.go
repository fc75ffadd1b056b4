// Package plugin knows by which name kubectl finds this program. Nothing else spells
// that name: every usage line, example, hint and completion takes it from here.
package plugin

import "strings"

// name is what is typed behind kubectl. A build under another name links it
// (-X github.com/kubectl-gc/kubectl-gc/pkg/plugin.name=owner-gc); nothing writes it later.
var name = "gc"

// Line is a command line of this program, word by word.
func Line(args ...string) []string { return append([]string{"kubectl", name}, args...) }

// Command is how people call the program: "kubectl gc".
func Command() string { return "kubectl " + name }

// File is what the program's file is called: kubectl looks for a - of the name as a _.
func File() string { return "kubectl-" + strings.ReplaceAll(name, "-", "_") }

// Named rewrites a text that calls the program as this source does, "kubectl gc" and
// "kubectl-gc", to what it is called.
func Named(text string) string {
	return strings.NewReplacer("kubectl gc", Command(), "kubectl-gc", File()).Replace(text)
}
