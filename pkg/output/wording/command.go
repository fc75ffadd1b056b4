package wording

import (
	"regexp"
	"strings"
)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// Command is a command line to paste into a shell: what a shell would not take
// for one word is quoted.
func Command(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w
		if !plainWord.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

var plainOnWindows = regexp.MustCompile(`^[A-Za-z0-9_./\\:=+-][A-Za-z0-9_./\\:=+,@-]*$`)

// CommandOnWindows is the same for the two shells of Windows. Single quotes are none to
// cmd, and a path has backslashes there, which are nothing special. Where double ones
// would let PowerShell put something else in, the line is for PowerShell only.
func CommandOnWindows(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		switch {
		case plainOnWindows.MatchString(w):
			out[i] = w
		case strings.ContainsAny(w, "\"$`“”„"):
			out[i] = "'" + quotedInPowerShell.Replace(w) + "'"
		default:
			ending := w[len(strings.TrimRight(w, `\`)):] // before a quote, the program reads each as half of one
			out[i] = `"` + w + ending + `"`
		}
	}
	return strings.Join(out, " ")
}

// quotedInPowerShell doubles what ends a text in single quotes there.
var quotedInPowerShell = strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛")
