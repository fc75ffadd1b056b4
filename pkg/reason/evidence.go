package reason

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What a later read of the object of a finding showed.
var _ = register(NotProcessed{}, NotReadAgain{})

// NotProcessed means that the object was still as the scan showed it when it was read again.
type NotProcessed struct {
	After metav1.Duration `json:"after"` // the least time between the scan and that read
}

func (r NotProcessed) Message() string {
	return fmt.Sprintf("%s later it had not done so", r.After.Duration)
}

// NotReadAgain means that the object could not be read again.
type NotReadAgain struct {
	Detail string `json:"detail"` // the text of the error
}

func (r NotReadAgain) Message() string { return "the object could not be read again: " + r.Detail }
