package cli

import "runtime/debug"

// release is set when a release is linked (-X …/pkg/cli.release=v1.2.3).
var release string

// version is the release, or what the build knows of its module.
func version() string {
	if release != "" {
		return release
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
