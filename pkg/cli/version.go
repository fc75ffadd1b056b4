package cli

import "runtime/debug"

// release is set by the linker (-X …/pkg/cli.release=v1.2.3).
var release string

// Release returns the version: of the release, or else of the module that was built.
func Release() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
