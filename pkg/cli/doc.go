// Package cli is what the commands share. Its files, in the order in which a command uses
// them:
//
//   - command_line.go, errors.go, exit_codes.go: run a command line and return its exit code
//   - scan_options.go, targets.go: what to scan, and which objects are meant
//   - output_options.go, warnings.go: how results are written
//   - mutating_options.go, accept_gap.go: flags of commands that change something
//   - mutate.go: from the first scan to the report; then preview.go, preflight.go, confirm.go,
//     run_backup.go, progress.go, outcome.go
//   - watch.go, screen.go: an answer that is given again whenever it changes
//   - complete.go: completion
//
// Standard output carries the result and nothing else. Everything that comes from a
// cluster or a file is escaped before it is printed. Nothing here reads os.Args, os.Stdout
// or the environment: they are Streams and arguments, so that tests run commands in-process.
package cli
