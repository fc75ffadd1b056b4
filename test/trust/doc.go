// Package trust shows that kubectl gc never acts on anything unproven, unlisted or unconfirmed.
// Each test gives the built program an API server that lies in one way, and checks that no harm
// is done.
//
// The server is that of test/apiserver, which follows the rules of kube-apiserver. The other tests
// of this project use a real API server; here that is impossible, because a real server cannot be
// made to answer a list with a login page, to give two objects one UID, or to omit its API groups.
// The server is honest unless a test makes it lie (lies.go), and honest_test.go shows that the
// program works with the honest server.
//
// Every test has four parts: the state, the lie, the command, and what must not happen. Tests
// check the requests that reached the server, its final objects, exit codes and machine-readable
// output. They do not check prose.
//
// KUBECTL_GC_BINARY names the program to test in place of one built from this checkout, so that
// the same tests can be run against an older build.
package trust
