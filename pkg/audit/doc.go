// Package audit reports every bad owner reference and every stuck deletion of a scan as a
// finding of a rule with a stable id, with what the garbage collector does about it and
// what repairs it.
//
// Rules lists all rules. Those about single references are in reference_rules.go, and every
// other rule has a file of its own. Rules grade and explain; package collector judges. A
// Report is sorted plain data and part of the JSON contract. Ages are measured from the time
// of the scan. Strings from the cluster are not escaped.
package audit
