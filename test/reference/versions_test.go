package main

import "testing"

func TestVersionsPageIsUpToDate(t *testing.T) {
	checkPage(t, versionsPage, "table", asVersions())
}
