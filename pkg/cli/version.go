package cli

import "runtime/debug"

// release is set when a release is linked (-X …/pkg/cli.release=v1.2.3).
var release string

// Release is the release, or what the build knows of its module.
func Release() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
