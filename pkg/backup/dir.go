package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
)

// maxNameLength limits an encoded name. With its hash it stays below 143 bytes,
// the strictest limit of a file system in use.
const maxNameLength = 100

// Dir returns the folder below root for the backups of a context: one path element
// that is valid on every system, whatever the context is called. It touches no file.
//
// Letters, digits and most characters that are common in context names stay, every
// other byte becomes %xx. Two contexts never share a folder, even on a file system
// that ignores case: a name with capitals, or one that is too long, ends with %- and
// a hash. No context becomes %no-context.
func Dir(root, context string) string {
	name := encodeName(context)
	switch {
	case context == "":
		name = "%no-context"
	case len(name) > maxNameLength || strings.ToLower(name) != name:
		sum := sha256.Sum256([]byte(context))
		name = name[:min(len(name), maxNameLength)] + "%-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(root, name)
}

// encodeName encodes a string, reversibly, as a part of a file name that is valid on
// every system: without separators, Windows devices, a dot or space at an end, and
// characters that are special in a shell.
func encodeName(s string) string {
	device := windowsDevice.MatchString(s)
	var out strings.Builder
	for i := range len(s) {
		if c := s[i]; isWordCharacter(c) && !(i == 0 && device) ||
			strings.IndexByte(".-@+", c) >= 0 && i > 0 && !(c == '.' && i == len(s)-1) {
			out.WriteByte(c)
		} else {
			out.WriteString("%" + hex.EncodeToString([]byte{c}))
		}
	}
	return out.String()
}

// windowsDevice matches the names that Windows treats as a device, with any extension. It ignores devices whose names
// are not ASCII or contain a $.
var windowsDevice = regexp.MustCompile(`(?i)^(con|prn|aux|nul|(com|lpt)[0-9])(\.|$)`)

func isWordCharacter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}
