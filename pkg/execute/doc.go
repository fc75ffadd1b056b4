// Package execute does what a plan says, step by step, against a Server.
//
// It walks the steps in their order with bounded concurrency, and keeps a
// mirror: the collector's model of the very graph that the plan was made from,
// moved on by what the server answered and by what was read anew. Before every
// step the mirror is asked again, and a step that is not what the collector
// would do any more is not done. So what follows from a step that failed falls
// away by itself.
//
// Every write is bound to the UID and the resourceVersion of the state that the
// decision rests on. What changed in between is read again and decided again;
// what cannot be read is unknown, and nothing is done on it. An object is
// deleted, or its references mended, only after it was saved as it is.
//
// The package decides nothing about garbage: collector does, and mend about what
// mends a reference. It knows no client, clock, disk or terminal.
package execute
