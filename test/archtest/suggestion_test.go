package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestSuggestionsKeepTheConnection looks for command lines that are put together by hand: they
// would lose --context and its like. ScanOptions.Suggest, SuggestWords and WithCommandHint keep
// them. Help texts and "See '… --help'" are about no cluster.
func TestSuggestionsKeepTheConnection(t *testing.T) {
	byHand := regexp.MustCompile(`CommandName\s*\+\s*"|Sprintf\([^)]*%s (audit|collect|controller|doctor|repair|restore|stuck|why|tree)\b|"[^"]*\bkubectl (api|auth|config|delete|describe|edit|get|patch)\b`)
	allowed := regexp.MustCompile(`WithHelp|CommandName\+" options"|escape\.Terminal\(ShellCommand\(words`)
	for _, root := range []string{"../../pkg/cli", "../../pkg/cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || d.Name() == "completion.go" {
				return err
			}
			source, err := os.ReadFile(path)
			for i, line := range strings.Split(string(source), "\n") {
				code := strings.TrimSpace(line)
				if byHand.MatchString(code) && !allowed.MatchString(code) && !strings.HasPrefix(code, "//") && !strings.Contains(code, "flags.") {
					t.Errorf("%s:%d: get this command line from ScanOptions.Suggest: %s", path, i+1, code)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
