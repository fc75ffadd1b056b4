// Package krew has the real krew deal with the plugin: check its manifest, install it, and
// remove it again. It needs a kubectl in the PATH, and no network.
//
// krew and its validator are tools of this module. The version in go.mod is named there by
// hand: those who look after a module proxy may keep its list of versions to themselves.
package krew
