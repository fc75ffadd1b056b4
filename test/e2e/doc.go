// Package e2e tests the built program on a real control plane, through the real kubectl.
//
// The tests run side by side, each alone in a control plane without a garbage collector, so that its
// objects stay as they are. Each has namespaces of its own and deletes its objects at the end.
// There are a few of these control planes, two more whose collector a test switches on and off,
// and some with other settings (main_test.go).
// TestEveryCommand takes every command once through its main path, in seconds.
// TestDifferentialCollect builds each random graph on a second control plane as well and runs the
// real collector there: collect must reach the same final state.
//
// The tests use the program through its command line, its output and its exit codes. Three kinds
// of tests also import packages of this module outside of test: those of writes to a server
// (write_test.go), those of the preview of a deletion (delete_preview_test.go), and those that
// read a backup (pkg/backup).
//
// KUBECTL_GC_SEED repeats a random graph: a test that fails prints its seed. SEEDS sets the
// number of new graphs for the differential tests; without it they use fixed seeds. With both, they use that many seeds from the given one on.
//
// KUBERNETES is the minor version of the control planes, the newest by default. `make
// differential` runs the tests that compare the program with the real collector.
package e2e
