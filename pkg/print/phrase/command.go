package phrase

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
