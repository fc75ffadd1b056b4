#!/bin/sh
# Runs every fuzz target below pkg for FUZZTIME (30s), one after the other, and fails if one of them
# does. go test saves a failing input below testdata/fuzz of the package.
failed=0
for package in $(go list ./pkg/...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz'); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" -fuzzminimizetime 1s "$package" || failed=1
	done
done
exit $failed
