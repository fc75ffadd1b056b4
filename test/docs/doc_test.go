// Package docs tests that the pages of the project show what the commands really do.
//
// Every command in a code block of README.md, of docs and of the other pages is run as it is
// written, on a control plane with the objects of the demo. The output in a console block is
// compared with the actual output:
//
//   - a line with only … matches any number of lines, and … within a line matches any text;
//   - values that differ from run to run are compared by their kind: UIDs, digests, times, ages,
//     and the suffixes of generated names. In later commands on that page, the value that the
//     page shows is replaced by the actual one;
//   - the number of spaces between two words does not matter, as an age can be longer.
//
// A page starts with the objects of the demo, in a folder that looks like a checkout, and keeps
// what its commands change. pages_test.go has the other conditions of pages, and the commands
// that are not run, with the reasons.
//
// go test ./test/docs -update writes the actual output into the pages, except where a line with …
// is in the middle of the output.
package docs
