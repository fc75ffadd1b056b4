package plan

// Checksum and DigestOf are for tests that change a saved plan as another version would
// have written it.
var (
	Checksum = checksum
	DigestOf = digest
)
