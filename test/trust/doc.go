// Package trust shows that kubectl gc acts on nothing unproven, unseen or
// unconfirmed. Each test gives the built program an API server that lies in one
// way, and asserts what must not happen.
//
// The server is an imitation, held in memory. Everywhere else in this project a
// real API server is the measure; here it cannot be, because a real server cannot
// be made to answer a list with a login page, to give two objects one UID, or to
// forget its API groups. The imitation is honest unless a test tells a lie through
// it, and honest_test.go shows that the program is content with it as it is.
//
//	server.go     requests: recorded, lied about, or routed to an honest answer
//	types.go      which types there are
//	discovery.go  /api, /apis and /version
//	store.go      objects: create, list, delete, patch
//	answer.go     encodings: whole objects, metadata, tables, protobuf
//	lies.go       which requests a lie is about, and what it answers
//
// Every test is one story: the state, the lie, the command, and what must not
// happen. Tests assert what reached the server, what is left on it, exit codes and
// machine-readable output. They do not assert prose.
//
// KUBECTL_GC_BINARY names the program to test in place of one built from this
// checkout, so that the same tests can be run against an older build.
package trust
