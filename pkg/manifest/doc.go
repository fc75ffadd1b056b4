// Package manifest reads which objects files name, as kubectl does for -f, -R and
// -k: files, folders, patterns, URLs, standard input, and kustomizations.
//
// cli-runtime can do the same, but links all types of all API groups with it,
// which start-up pays for.
package manifest
