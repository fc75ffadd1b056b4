package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// moreWindowsDevices are those that backup.IsWindowsDevice ignores.
var moreWindowsDevices = []string{"conin$", "conout$", "com¹", "com²", "com³", "lpt¹", "lpt²", "lpt³"}

// checkWindowsPath returns why Windows would not create a file with the name in a path,
// or nil. A path that is only a device is accepted, like /dev/null. Folders are not
// checked, because they exist or Windows reports that they do not.
func checkWindowsPath(path string) error {
	if slashed := strings.ReplaceAll(path, "/", `\`); strings.HasPrefix(slashed, `\\?\`) || strings.HasPrefix(slashed, `\\.\`) {
		return nil // Windows does not interpret it
	}
	name := windowsBase(path)
	stem, _, hasExtension := strings.Cut(name, ".")
	stem = strings.TrimRight(stem, " ")
	switch {
	case name == "" || name == "." || name == "..":
		return nil
	case isWindowsDevice(strings.TrimSuffix(name, ":")):
		return nil
	case strings.Contains(name, ":"):
		return fmt.Errorf("%q contains a colon: Windows would write to a hidden stream of the file", name)
	case isWindowsDevice(stem) && hasExtension:
		return fmt.Errorf("%q is the device %s on Windows, whatever its extension", name, strings.ToUpper(stem))
	case strings.TrimRight(name, ". ") != name:
		return fmt.Errorf("%q ends with a dot or a space, which Windows removes", name)
	}
	if i := strings.IndexFunc(name, func(r rune) bool { return r < ' ' || strings.ContainsRune(`<>"|?*`, r) }); i >= 0 {
		return fmt.Errorf("%q contains %q, which Windows does not allow in a file name", name, name[i])
	}
	return nil
}

func isWindowsDevice(name string) bool {
	return backup.IsWindowsDevice(name) || slices.Contains(moreWindowsDevices, strings.ToLower(name))
}

// windowsBase returns the last element of a path, without a drive.
func windowsBase(path string) string {
	if len(path) > 1 && path[1] == ':' && 'a' <= path[0]|0x20 && path[0]|0x20 <= 'z' {
		path = path[2:] // C:\x, and C:x, which is relative to the current folder of the drive
	}
	return path[strings.LastIndexAny(path, `\/`)+1:]
}
