// Package krew uses the real krew to check the manifest of the plugin, install the plugin, and
// remove it again. It needs kubectl in PATH, and no network.
//
// krew and its validator are tools of this module. The version of krew in go.mod is written by
// hand, because a module proxy may not list its versions.
package krew
