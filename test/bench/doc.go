// Command bench measures kubectl gc against the transfer floor: the cost of requesting the
// same lists and discarding the responses.
//
//	go run ./test/bench [-objects 50000,500000] [-runs 5] [-write docs/performance.md]
//
// It builds the plugin like a release, starts its own control plane without controllers,
// creates pods, replicasets, deployments, configmaps and secrets with real owners, and
// measures processes: the kernel reports wall time, CPU time (user and system) and peak
// memory of each.
//
// It measures in four states of the cluster: changing, quiet, busy, and with an API server that was
// just restarted. In each it runs audit and several ways to list, interleaved; the way with the best
// median is the floor of that state. tree of one object has its own floor, that of its namespace.
//
// It measures several numbers of objects one after the other, on the same control plane. With
// the fewest, it also measures audit and the floor over a slow link.
//
// Everything runs on one machine, including the API server. Before each run the benchmark
// waits until the machine is quiet, up to -rest, and reports how quiet it was. It refuses more
// objects than the machine has memory for.
//
//	go run ./test/bench act [-objects 10000] [-runs 3] [-write docs/performance-acting.md]
//
// compares collect with bare DELETEs and with the real collector, on new garbage in each run.
package main
