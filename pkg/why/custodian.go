package why

import (
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/pkg/collector"
)

// whose says who takes a finalizer off, and when, as far as its name tells.
func whose(finalizer string) string {
	switch who, when, known := collector.Custodian(finalizer); {
	case when != "":
		return fmt.Sprintf("%s takes it off when %s", who, when)
	case known:
		return fmt.Sprintf("%s has to take it off", who)
	case who != "":
		return fmt.Sprintf("whoever runs %s has to take it off", who)
	}
	return "its name does not say who has to take it off"
}
