package simulate

// RunFrom is for tests that start in another state than that of a scan.
var RunFrom = runFrom
