package backup

// Exposed says that somebody else may change what is in a backup, and so what is made
// of it: a Secret, a ClusterRoleBinding, in the name of who restores it.
type Exposed struct{ Why string }

// Error does not say which file.
func (e *Exposed) Error() string { return e.Why }
