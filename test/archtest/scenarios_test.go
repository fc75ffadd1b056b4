package archtest

// scenario is a scenario of the collector's own tests, or one derived from its rules.
type scenario struct {
	id, what string
	// The tests, as "package TestName", if no test has the id in its name.
	tests []string
	// Only a real API server can show the result.
	real bool
	// Why the scenario does not apply here; empty if it does.
	notApplicable string
}

const monitors = "each run scans the cluster once; there are no monitors to start and stop"

// lists are the lists of scenarios.
var lists = []struct {
	title, text string
	scenarios   []scenario
}{
	{"Conflicting data", "The collector's unit tests of references that contradict each other, `TestConflictingData`. Upstream replays events in some orders; here every order of observations must give the same result.", []scenario{
		{id: "CD1", what: "pod owned by a node; the pod is seen first"},
		{id: "CD2", what: "pod owned by a pod of another namespace; the owned one is seen first"},
		{id: "CD3", what: "the same, the owner first"},
		{id: "CD4", what: "node owned by a pod; the node is seen first"},
		{id: "CD5", what: "the same, the owner first"},
		{id: "CD6", what: "owner named in a served version that is not the preferred one"},
		{id: "CD7", what: "owner named in a version that is not served; the dependent is seen first"},
		{id: "CD8", what: "the same, the owner first"},
		{id: "CD9", what: "absent owner, named in an unserved version by one pod and rightly by another; the first is seen first"},
		{id: "CD10", what: "the same, the other first"},
		{id: "CD11", what: "a deployment's UID claimed for a secret by one pod, rightly by another; the deployment is seen last"},
		{id: "CD12", what: "the same, the deployment before the secret is known to be absent"},
		{id: "CD13", what: "the same, the right claim first"},
		{id: "CD14", what: "absent pod named as owner by a node and by a pod; the node is seen first"},
		{id: "CD15", what: "the same, but the owner exists and is seen late"},
		{id: "CD16", what: "the same without an owner, the pod first"},
		{id: "CD17", what: "references change between the scan and the DELETE"},
	}},
	{"Other unit tests", "The rest of the collector's unit tests, in their order.", []scenario{
		{id: "G1", what: "monitors come and go with the resources that are served", notApplicable: monitors},
		{id: "G2", what: "pod with an absent owner is gone when its DELETE comes"},
		{id: "G3", what: "the same with an owner in foreground deletion"},
		{id: "G4", what: "requests for a pod that is in no list", notApplicable: "only listed objects are changed"},
		{id: "G5", what: "both directions agree after adding chains and stars", tests: []string{"pkg/graph TestOwnersAndDependentsAgree"}},
		{id: "G6", what: "both directions agree after a deletion", tests: []string{"pkg/simulate TestModelDecidesAsAFreshScanWould"}},
		{id: "G7", what: "both directions agree after an update that closes a cycle", tests: []string{"pkg/graph TestOwnersAndDependentsAgree", "pkg/graph TestCycles"}},
		{id: "G8", what: "both directions agree when dependents come before their owners", tests: []string{"pkg/graph TestInputOrderOnlyChangesNodeNumbers"}},
		{id: "G9", what: "dependents may be read while they are changed", notApplicable: "a graph does not change once it is built"},
		{id: "G10", what: "an absent owner is looked up once", tests: []string{"pkg/snapshot TestUnverified", "pkg/cluster/scan TestOwnerIsLookedUpOnce"}},
		{id: "G11", what: "two of three owners are removed"},
		{id: "G12", what: "unblocking leaves what is unset unset"},
		{id: "G13", what: "a conflict while orphaning keeps the owner's finalizer"},
		{id: "G14", what: "resources that cannot be listed, watched and deleted are not watched", tests: []string{"pkg/snapshot TestMonitored", "pkg/cluster/discovery TestPreferredVersions"}},
		{id: "G15", what: "discovery fails, but returns some resources", tests: []string{"pkg/cluster/scan TestRun"}},
		{id: "G16", what: "discovery of some groups fails", tests: []string{"pkg/cluster/discovery TestGroupGapsNameAPIService"}},
		{id: "G17", what: "discovery fails and returns nothing", tests: []string{"pkg/cluster/scan TestNothingReadableError"}},
		{id: "G18", what: "the set of monitors survives failures of discovery", notApplicable: monitors},
	}},
	{"Integration tests", "The collector's integration tests. A model predicts the final state of the objects, and a real control plane confirms it.", []scenario{
		{id: "I1", what: "one UID in hundreds of invalid references, some of them together with unknown kinds"},
		{id: "I2", what: "the same without a watch cache", real: true},
		{id: "I3", what: "owner deleted in the background; pods with this owner, with two, with none"},
		{id: "I4", what: "pod whose owner never existed"},
		{id: "I5", what: "fifty owners deleted in five ways"},
		{id: "I6", what: "owner deleted with orphaning"},
		{id: "I7", what: "foreground deletion of one of two owners of a blocking pod"},
		{id: "I8", what: "foreground deletion of the owner of held pods that do not block"},
		{id: "I9", what: "held pod deleted in the foreground, twice"},
		{id: "I10", what: "foreground deletion of the owner of a held pod that blocks"},
		{id: "I11", what: "custom owner and custom dependent"},
		{id: "I12", what: "custom owner and built-in dependent, and the other way round"},
		{id: "I13", what: "CRD deleted, with a custom resource and its dependents"},
		{id: "I14", what: "a conversion webhook that fails does not stop the rest"},
		{id: "I15", what: "cluster-scoped owners that exist, are missing, are of unknown kind"},
	}},
	{"Derived scenarios", "Scenarios that upstream does not test, but that follow from the rules.", []scenario{
		{id: "L1", what: "a solid and a missing owner"},
		{id: "L2", what: "a missing owner and one of unknown kind"},
		{id: "L3", what: "a solid owner, a missing one and one of unknown kind"},
		{id: "L4", what: "a missing owner and one that cannot be looked up"},
		{id: "L5", what: "owner terminating, held by another controller's finalizer"},
		{id: "L6", what: "owner that is orphaning"},
		{id: "L7", what: "owner with both of the collector's finalizers"},
		{id: "L8", what: "dependent with an orphan finalizer and without dependents, of an owner in foreground deletion"},
		{id: "L9", what: "the same, with a dependent"},
		{id: "L10", what: "owners missing, dependents exist"},
		{id: "L11", what: "owners missing, a foreground finalizer before any deletion"},
		{id: "L12", what: "owners missing, but already terminating and held"},
		{id: "L13", what: "foreground deletion of an object without dependents"},
		{id: "L14", what: "foreground deletion, dependents that do not block"},
		{id: "L15", what: "blocker that is terminating and held"},
		{id: "L16", what: "blocker in another namespace"},
		{id: "L17", what: "cluster-scoped blocker of a namespaced owner"},
		{id: "L18", what: "object that owns itself"},
		{id: "L19", what: "cycle of two, one deleted in the foreground"},
		{id: "L20", what: "cycle of two, both deleted in the foreground"},
		{id: "L21", what: "cycle that is not being deleted"},
		{id: "L22", what: "cycle in which one member also has a missing owner"},
		{id: "L23", what: "two references with one UID, one valid, one invalid"},
		{id: "L24", what: "owner replaced by another object of its name"},
		{id: "L25", what: "kinds in lower case, in upper case, of lists"},
		{id: "L26", what: "owner of a kind that is not watched"},
		{id: "L27", what: "patches of custom resources: refused types, conflicts, the last reference", real: true},
		{id: "L28", what: "object replaced between the scan and the write", real: true},
		{id: "L29", what: "references, or something else, change between the scan and the DELETE", real: true},
		{id: "L30", what: "missing cluster-scoped owner of dependents in two namespaces"},
	}},
}
