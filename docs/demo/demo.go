// Package demo embeds the snapshot of the demo cluster, which --demo reads.
package demo

import _ "embed"

// Cluster is a snapshot as kubectl gc snapshot writes it. make demo says how it was made.
//
//go:embed cluster.json
var Cluster []byte
