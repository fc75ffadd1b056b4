// Package filename knows what Windows makes of the name of a file, and says so on any
// system.
package filename

import (
	"fmt"
	"slices"
	"strings"
)

// Device says whether Windows takes a name for a device, which it does with any
// extension: that is to be cut off. Those that are not ASCII or hold a $ are not told.
func Device(name string) bool {
	switch name = strings.ToLower(name); name {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(name) == 4 && (name[:3] == "com" || name[:3] == "lpt") && '0' <= name[3] && name[3] <= '9'
}

// devices are those that Device does not tell.
var devices = []string{"conin$", "conout$", "com¹", "com²", "com³", "lpt¹", "lpt²", "lpt³"}

// Windows says why a file that is written to this path on Windows would not be found by
// it again, or would not be a file: nil where it would. A path that is a device, and
// nothing but that, is as good as /dev/null. The folders on the way are not looked at:
// they are there, or the system says that they are not.
func Windows(path string) error {
	if slashed := strings.ReplaceAll(path, "/", `\`); strings.HasPrefix(slashed, `\\?\`) || strings.HasPrefix(slashed, `\\.\`) {
		return nil // it is taken as it is
	}
	name := last(path)
	stem, _, extended := strings.Cut(name, ".")
	stem = strings.TrimRight(stem, " ")
	device := Device(stem) || slices.Contains(devices, strings.ToLower(stem))
	switch bare := strings.TrimSuffix(name, ":"); {
	case name == "" || name == "." || name == "..":
		return nil
	case Device(bare) || slices.Contains(devices, strings.ToLower(bare)):
		return nil
	case strings.Contains(name, ":"):
		return fmt.Errorf("%q has a colon, behind which Windows hides what is written from the one who lists files", name)
	case device && extended:
		return fmt.Errorf("%q is the device %s to Windows, whatever stands behind the dot", name, strings.ToUpper(stem))
	case strings.TrimRight(name, ". ") != name:
		return fmt.Errorf("%q ends with a dot or a blank, which Windows leaves out", name)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>"|?*`, r) }); i >= 0 {
		return fmt.Errorf("%q has a %q, which no name on Windows may have", name, name[i])
	}
	return nil
}

// last is the part of a path behind all folders and the drive.
func last(path string) string {
	if len(path) > 1 && path[1] == ':' && letter(path[0]) {
		path = path[2:] // C:\x, and C:x, which is where that drive is at
	}
	return path[strings.LastIndexAny(path, `\/`)+1:]
}

func letter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
