// Command matrix runs the end-to-end tests that compare the program with the real garbage
// collector on several versions of Kubernetes. It prints the results as a table and writes them
// into a page of the documentation.
//
//	go run ./test/matrix [-seeds 10] [-from 1] [-versions 1.33,1.30] [-write docs/matrix.md]
//
// test/controlplane determines which versions there are, and builds them. All versions get the same
// random graphs: their seeds are from, from + 1, and so on.
package main
