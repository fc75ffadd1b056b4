// Command bench measures kubectl gc beside the transfer floor: what it costs to have an
// API server send the same lists, and to throw them away.
//
//	go run ./test/bench [-objects 50000,500000] [-runs 5] [-peer "PROGRAM ARGS"] [-write docs/performance.md]
//
// It builds the plugin as a release is built, starts a control plane of its own (no
// controllers, so that nothing moves), fills it with pods, replicasets, deployments,
// configmaps and secrets that have real owners, and runs processes: wall time, CPU (user
// and system) and peak memory are what the kernel accounts to each of them.
//
// First it looks for the floor: every way to ask for the lists, in turns, as often as -runs
// says but for those that are out of the race. The way with the best median is the floor.
// Then the floor and the programs run in turns, three times as often (up to 200,000
// objects); what is compared comes from these alone. tree of one object has a floor of its
// own, that of its namespace. At last it watches how much memory the API server takes.
//
// Several numbers of objects are measured one after the other, on the same control plane,
// which is filled further. With the fewest of them, audit and the floor are measured over a
// slow link, too.
//
// Everything happens in one run, on one machine, with the API server on it. Between two
// runs it rests until the machine is quiet, though not for ever (-rest), and says how quiet
// it was. It refuses more objects than the machine has memory for.
//
//	go run ./test/bench act [-objects 10000] [-runs 3] [-write docs/performance-acting.md]
//
// measures acting: collect beside bare DELETEs and beside the real collector, on garbage
// that is made anew for each run.
package main
