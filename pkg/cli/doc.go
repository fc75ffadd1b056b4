// Package cli is what the commands share. Its files, in the order in which a command uses
// them:
//
//   - command_line.go, errors.go, exit_codes.go: run a command line and return its exit code
//   - scan_options.go, targets.go, manifests.go: what to scan, and which objects are meant
//   - output_options.go, warnings.go: how results are written
//   - mutating_options.go, accept_gap.go: flags of commands that change something
//   - operation.go: a plan from the preview to the report; then preview.go, preflight.go,
//     confirm.go, run_backup.go, progress.go, stall_watchdog.go, verify.go, outcome.go
//   - complete.go: completion
//
// Standard output carries the result and nothing else. Everything that comes from a
// cluster or a file is escaped before it is printed. Nothing here reads os.Args, os.Stdout
// or the environment: they are Streams and arguments, so that tests run commands in-process.
package cli
