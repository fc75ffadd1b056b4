// Package plugin has the name under which kubectl finds this program. Every usage line,
// example, hint and completion takes it from here.
package plugin

import "strings"

// name is the subcommand of kubectl. A build with another name sets it with
// -X github.com/kubectl-gc/kubectl-gc/pkg/plugin.name=owner-gc.
var name = "gc"

// Line returns a command line of this program as words.
func Line(args ...string) []string { return append([]string{"kubectl", name}, args...) }

// Command returns how users call the program: "kubectl gc".
func Command() string { return "kubectl " + name }

// File returns the name of the executable, in which kubectl expects _ for each -.
func File() string { return "kubectl-" + strings.ReplaceAll(name, "-", "_") }

// Named replaces "kubectl gc" and "kubectl-gc" in a text by the program's actual name.
func Named(text string) string {
	return strings.NewReplacer("kubectl gc", Command(), "kubectl-gc", File()).Replace(text)
}
