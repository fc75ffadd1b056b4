// Package repair says what mends an owner reference: taking it away (unlink),
// pointing it at the owner's successor of the same name (relink), rewriting its
// apiVersion to a served one (update-version), or nothing, and why not.
//
// It is the one place that decides so. Audit words its answer, plan puts it in
// order, and execute asks it again on what is there at the time of the write.
//
// A reference is mended only if it leads to no owner, and only to what the view
// proves: one that is rewritten is solid thereafter. What nobody could verify is
// never mended, and a solid reference never changes. Package collector judges; this
// one concludes. It knows no client, clock, environment or terminal.
package repair
