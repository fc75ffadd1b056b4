// Package docs holds the pages of the project to what they show.
//
// Every command in a block of README.md, of docs and of the other pages is run, as it is
// written, on a control plane that holds the demo, through the real kubectl. What a
// console block shows is compared with what the command says:
//
//   - a line that is only … stands for any number of lines, and … within a line for
//     anything;
//   - what differs from run to run is compared by its kind: UIDs, digests, times, ages,
//     and the ends of generated names. What the page shows then stands, in the commands
//     below it on that page, for what the run showed;
//   - how many blanks there are between two words does not matter, as an age can be longer.
//
// A page begins with the demo as it was loaded, in a folder that looks like a checkout, and
// keeps what its commands leave behind. pages_test.go says what else pages need, and which
// commands are not run, with the reason.
//
// go test ./test/docs -update writes what the commands said into the pages, but for
// outputs that are cut with a line of ….
package docs
