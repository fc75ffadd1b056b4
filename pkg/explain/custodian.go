package explain

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/simulate"
)

// finalizerController says who removes a finalizer, and when, as far as its name tells.
func finalizerController(finalizer string) string {
	switch who, when, known := simulate.FinalizerController(finalizer); {
	case when != "":
		return fmt.Sprintf("%s removes it when %s", who, when)
	case known:
		return fmt.Sprintf("%s has to remove it", who)
	case who != "":
		return fmt.Sprintf("the controller behind %s has to remove it", who)
	}
	return "its name does not say which controller has to remove it"
}
