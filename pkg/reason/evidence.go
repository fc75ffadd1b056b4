package reason

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a later read of the object of a finding showed.
var (
	// the object was still as the scan showed it when it was read again: after is the least time between the two
	NotProcessed = says("NotProcessed", "after", func(after metav1.Duration) string {
		return fmt.Sprintf("%s later, the garbage collector had not done this", after.Duration)
	})
	NotReadAgain = with[string]("NotReadAgain", "detail", "this tool could not read the object again: %s")
)
