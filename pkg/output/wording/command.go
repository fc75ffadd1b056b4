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

// CommandOnWindows quotes words for both shells of Windows, cmd and PowerShell. It uses double
// quotes, because cmd does not know single ones, and leaves the backslashes of paths alone. A
// word with characters that PowerShell expands in double quotes gets single ones: such a line
// works only in PowerShell.
func CommandOnWindows(words ...string) string {
	out := make([]string, len(words))
	for i, w := range words {
		switch {
		case plainOnWindows.MatchString(w):
			out[i] = w
		case strings.ContainsAny(w, "\"$`“”„"):
			out[i] = "'" + quotedInPowerShell.Replace(w) + "'"
		default:
			ending := w[len(strings.TrimRight(w, `\`)):] // a program takes two backslashes before a quote for one
			out[i] = `"` + w + ending + `"`
		}
	}
	return strings.Join(out, " ")
}

// quotedInPowerShell doubles what ends a text in single quotes there.
var quotedInPowerShell = strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛")
