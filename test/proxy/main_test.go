package proxy

import (
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	mostItems, huge = 100, mebibyte/16
	goleak.VerifyTestMain(m)
}
