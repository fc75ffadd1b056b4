package escape_test

import (
	"bytes"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/output/escape"
)

func BenchmarkJSON(b *testing.B) {
	document := bytes.Repeat([]byte(`{"kind":"Pod","name":"web-5f6d8c9b7-2ftpd","namespace":"shöp"},`+"\n"), 1<<14)
	b.SetBytes(int64(len(document)))
	for b.Loop() {
		escape.JSON(document)
	}
}
