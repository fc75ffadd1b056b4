package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/filename"
)

// longest is how long a spelled name may become. With all that is put behind it,
// it stays below the 143 bytes that the strictest file system in use takes.
const longest = 100

// Dir is the folder below root for the backups of a context: one path element,
// whatever the context is called, on any system. It touches no file.
//
// Letters, digits and most of what contexts are made of stay as they are, any
// other byte becomes %xx. So two contexts never share a place, even where the
// file system does not tell capitals from small letters: a name with capitals
// has a hash of it behind %-, and so has one that is too long to be kept whole.
// No context at all is %none.
func Dir(root, context string) string {
	name := spell(context)
	switch {
	case context == "":
		name = "%none"
	case len(name) > longest || strings.ToLower(name) != name:
		sum := sha256.Sum256([]byte(context))
		name = cut(name) + "%-" + hex.EncodeToString(sum[:8])
	}
	return filepath.Join(root, name)
}

// spell writes a string as part of a file name that means the same everywhere:
// no separator, no name of a device, no dot or space at an end that Windows
// drops, nothing that a shell reads as something else. It can be undone.
func spell(s string) string {
	first, _, _ := strings.Cut(s, ".")
	device := filename.Device(first)
	var out strings.Builder
	for i := range len(s) {
		if c := s[i]; plain(c) && !(i == 0 && device) ||
			strings.IndexByte(".-@+", c) >= 0 && i > 0 && !(c == '.' && i == len(s)-1) {
			out.WriteByte(c)
		} else {
			out.WriteString("%" + hex.EncodeToString([]byte{c}))
		}
	}
	return out.String()
}

func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_'
}

// cut shortens a spelled name, and leaves no half of a %xx.
func cut(name string) string {
	if len(name) <= longest {
		return name
	}
	name = name[:longest]
	if i := strings.LastIndexByte(name, '%'); i > longest-3 {
		name = name[:i]
	}
	return name
}

// single says whether a name is one element of a path, here and on Windows. It
// is for names that come from outside; those of spell are stricter.
func single(name string) bool {
	return filepath.IsLocal(name) && name != "." && !strings.ContainsAny(name, "/\\:\x00")
}
