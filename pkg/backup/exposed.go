package backup

// WorldWritableError says that somebody else may change what is in a backup, and so what is made
// of it: a Secret, a ClusterRoleBinding, in the name of who restores it.
type WorldWritableError struct{ Why string }

// Error does not say which file.
func (e *WorldWritableError) Error() string { return e.Why }
