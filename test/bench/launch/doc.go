// Command launch runs a program and writes to a file what the kernel accounts to it.
//
//	launch FILE PROGRAM [ARGS...]
//
// On Linux the peak memory of a process is never said to be less than what the one that
// started it had at its own peak. So bench does not start what it measures: launch does,
// which has a few MiB. It imports next to nothing to keep that so.
//
// It ends with the program's exit code, or with 125 when there is none.
package main
