package main

import (
	"regexp"
	"strings"
)

// suite is a row of the table: tests of test/e2e.
type suite struct {
	Name string
	// Checks says what the tests compare.
	Checks string
	// tests has the names of the tests.
	tests []string
	// cases matches the names of their subtests that belong to the suite; nil matches all.
	cases *regexp.Regexp
}

// suites are the rows. A test belongs to the first that matches.
var suites = []suite{
	{
		Name:   "namespaces",
		Checks: "the preview of the deletion of a namespace with its contents, and namespaces that `collect` must keep",
		tests:  []string{"TestDeleteEndsAsPredicted", "TestCollectKeepsNamespaceAndCRDWithUnlistableContents", "TestCollectKeepsNamespaceWithObjectCreatedAfterPreview", "TestD1TheRealNamespaceControllerDeletesPodsFirst", "TestD2AnUnavailableAPIKeepsTheRealNamespace", "TestD3APodOnALostNodeKeepsTheRealNamespace"},
		cases:  regexp.MustCompile(`(?i)^TestCollectKeeps|^TestD[0-9]|/.*namespace`),
	},
	{
		Name:   "delete, every kind",
		Checks: "the preview of a deletion with its result, for owners of every kind and each policy",
		tests:  []string{"TestDeleteEndsAsPredicted", "TestD6TheRealCollectorDeletesAnEventWithItsOwner"},
	},
	{
		Name:   "delete, random graphs",
		Checks: "the preview of the deletion of up to 16 objects with its result, in random graphs",
		tests:  []string{"TestDeleteInRandomGraphsEndsAsPredicted"},
	},
	{
		Name:   "delete, live",
		Checks: "what `delete` reports while the real collector does its part, and `delete --client-side` without one",
		tests:  []string{"TestDeleteFollowsRealCollector", "TestDeleteFollowsCollectorWithoutPermissionToWatch", "TestDeleteReportsMissingCollector", "TestDeleteClientSideActsAsCollector"},
	},
	{
		Name:   "collect, random graphs",
		Checks: "the plan of `collect`, its result and that of the real collector, in random graphs",
		tests:  []string{"TestDifferentialCollect", "TestCollectBesideTheRealCollector"},
	},
	{
		Name:   "collect, fixed graphs",
		Checks: "`collect` with the real collector in the scenarios of Kubernetes' own tests, and in deletions that have begun already",
		tests:  []string{"TestDifferentialWithCollectorStartedDuringDeletion", "TestDifferentialWithCollectorStartedBeforeDeletion", "TestCollectPassesUpstreamIntegrationTests", "TestCollectCompletesDeletions"},
	},
	{
		Name:   "repair",
		Checks: "that the real collector keeps repaired objects, in random graphs, and what `repair` changes",
		tests:  []string{"TestDifferentialRepair", "TestRepairChangesOnlyIntendedReferences", "TestRepairUpdatesUnservedVersion", "TestRepairReassessesChangedObjects", "TestRepairBreaksACycleOnRequest", "TestRepairBesideTheRealCollector"},
	},
	{
		Name:   "audit and why",
		Checks: "the predictions of `audit` and `why` with what the real collector does",
		tests:  []string{"TestAuditPredictsTheRealCollector", "TestWhyPredictsTheRealCollector"},
	},
}

// allTests returns the regular expression of all tests, for go test -run.
func allTests() string {
	var names []string
	for _, s := range suites {
		names = append(names, s.tests...)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// suiteOf returns the position of the suite to which a test or subtest belongs.
func suiteOf(name string) (position int, ok bool) {
	test, _, _ := strings.Cut(name, "/")
	for i, s := range suites {
		for _, t := range s.tests {
			if t == test && (s.cases == nil || s.cases.MatchString(name)) {
				return i, true
			}
		}
	}
	return 0, false
}
