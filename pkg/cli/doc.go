// Package cli is the command line: a file per command, and what they share.
//
// A command turns flags into options, options into one look (at a cluster or a
// file), and hands what it saw to the pure packages and the printers. It owns
// every decision about flags, prompts, exit codes and streams, and none about
// garbage: those are collector's.
//
// Standard output carries the answer and nothing else; warnings, errors,
// progress and hints go to standard error, progress only where that is a
// terminal. Everything that came from a cluster or a file is escaped on its way
// out. Nothing here reads os.Args, os.Stdout or the environment: Main is given
// them, so that a test runs the very program.
package cli
