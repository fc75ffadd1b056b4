// Command bench measures kubectl gc beside the transfer floor: what it costs to have an
// API server send the same lists, and to throw them away.
//
//	go run ./test/bench [-objects 50000] [-runs 5] [-peer "PROGRAM ARGS"] [-write docs/performance.md]
//
// It builds the plugin as a release is built, starts a control plane of its own (no
// controllers, so that nothing moves), fills it with pods, replicasets, deployments,
// configmaps and secrets that have real owners, and runs processes: wall time, CPU (user
// and system) and peak memory are what the kernel accounts to each of them.
//
// First it looks for the floor: every way to ask for the lists, each as often as -runs
// says, in turns. The way with the best median is the floor. Then the floor and the
// programs run in turns, three times as often; what is compared comes from these alone.
//
// Everything happens in one run, on one machine, with the API server on it. Between two
// runs it rests until the machine is quiet, though not for ever, and says how quiet it was.
//
//	go run ./test/bench act [-objects 10000] [-runs 3] [-write docs/performance-acting.md]
//
// measures acting: collect beside bare DELETEs and beside the real collector, on garbage
// that is made anew for each run.
package main
