// Package e2e holds the tests of kubectl gc as people run it: the built program,
// on a real control plane, through the real kubectl.
//
// All tests share one control plane without a garbage collector, so that what a
// test has built stays as it is. They run one after the other; each has
// namespaces of its own and takes its objects away again. The last one switches
// the real collector on, to see whether what was foretold is what happens. The
// differential tests build each random graph on a second control plane too, and
// let the real collector loose on it there: collect must end where it does.
//
// TestUnderFaults lets the commands that change something run while a proxy
// (test/proxy) lets what they ask and are answered go wrong.
//
// The tests know the program by its command line, its output and its exit codes.
// Only those of its writes to a server (write_test.go), and of what a deletion is
// foretold to come to (delete_foretold_test.go), import packages of this module
// beside those below test, and those that read a backup pkg/backup. What an audit should find in a random graph is
// computed a second time, straight from the rules and by client-go's own means.
//
// KUBECTL_GC_SEED repeats a random graph: a test that fails names its seed. SEEDS
// says on how many fresh graphs the differential tests run; without it they run on
// some that are always the same. RUNS does the same for runs under faults.
package e2e
