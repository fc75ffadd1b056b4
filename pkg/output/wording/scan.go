package wording

// Scan says whether everything that was asked for was read.
func Scan(complete bool) string {
	if complete {
		return "Complete scan."
	}
	return "Incomplete scan."
}
