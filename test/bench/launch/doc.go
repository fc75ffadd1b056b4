// Command launch runs a program and writes to a file the resources that the kernel accounts to
// it.
//
//	launch FILE PROGRAM [ARGS...]
//
// On Linux the peak memory of a process is never less than the peak of the process that started
// it. So bench does not start the measured programs itself: launch does, which uses only a few
// MiB because it imports next to nothing.
//
// It exits with the program's exit code, or with 125 if there is none.
package main
