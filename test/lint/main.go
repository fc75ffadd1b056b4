// Command lint runs the analyzers that are neither in go vet nor in staticcheck:
//
//	go vet -vettool=lint ./...
package main

import (
	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/nishanths/exhaustive/passes/exhaustive"
	"golang.org/x/tools/go/analysis/unitchecker"
)

func main() {
	unitchecker.Main(errorlint.NewAnalyzer(), exhaustive.Analyzer)
}
