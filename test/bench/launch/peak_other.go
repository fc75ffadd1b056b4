//go:build !unix

package main

import "os"

// The peak memory is unknown on this system.
func peak(*os.ProcessState) int64 { return 0 }
