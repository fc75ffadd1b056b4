// Package proxy stands between kubectl gc and a control plane of the tests, and
// lets go wrong what goes wrong on the way to a real one.
//
// Start listens on loopback and hands on, as the control plane's admin, what
// comes. What is done to it is the caller's: First answers by hand-written rules,
// Mischief answers by a seed, and both use the same answers (answer.go, body.go,
// traffic.go). A Liar, too, answers by a seed: it leaves the connection alone and
// changes what the server says (lie.go and its files).
//
// A Liar tells only lies that a client can find out: from the answer alone, from what
// was asked for, or because another answer contradicts it. Not told, since no client
// could tell them from the truth, are:
//
//   - a well-formed list that lacks an object, or has one that does not exist, if no
//     other answer contradicts it. Owners are left out only if an object that no list
//     lacks refers to them: a GET then finds them.
//   - an empty list in protobuf, or "items": null in JSON: so do honest ones look.
//   - a list of metadata of another type, in an envelope without that type's name:
//     metadata does not say of what type it is.
//   - an object in the wrong namespace, in a list of all of them.
//   - the first list of a type of an older state. The resourceVersions of different
//     types cannot be compared, since a server may store them apart.
//   - an answer repeated from before, with the same resourceVersion.
//   - a built-in type that discovery lacks from the first request on. Only types with a
//     CustomResourceDefinition and groups with an APIService can be checked; another
//     type is left out only after it was there.
//   - a 404 in the words of an API server about the metadata of an object that is there.
//   - a wrong UID, owner reference, finalizer or deletionTimestamp that every answer
//     about the object has. UIDs change from answer to answer, or are those of others.
//   - a whole object with other contents than it has.
//   - that a write succeeded, in the words of an API server and with an object that
//     looks like it. A DELETE that is answered with Success and not done is told: the
//     object is still there for whoever looks.
//
// It leads to a control plane that plane.RequireOurs vouches for, and nowhere
// else. The kubeconfig that it writes leads to the proxy alone.
package proxy
