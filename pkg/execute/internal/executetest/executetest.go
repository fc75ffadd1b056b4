// Package executetest is shared by the tests of planrun and recreate.
package executetest

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/pkg/execute"
	"github.com/kubectl-gc/kubectl-gc/pkg/reason"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
)

// Error is an execute.ClassifiedError.
type Error struct{ Class snapshot.ErrorClass }

func (e Error) Error() string { return "refused: " + string(e.Class) }

// Refusal implements execute.ClassifiedError.
func (e Error) Refusal() snapshot.ErrorClass { return e.Class }

// DescribeResult returns the status of a step, and the code and parameters of its reason.
func DescribeResult(r execute.Result) string {
	return strings.TrimSpace(string(r.Status) + " " + DescribeReason(r.Reason))
}

// DescribeReason returns the code and the parameters of a reason; "" if it is nil.
func DescribeReason(r reason.Reason) string {
	if r == nil {
		return ""
	}
	return strings.TrimSpace(string(reason.CodeOf(r)) + " " + parameters(reflect.ValueOf(r)))
}

// parameters returns the values in v that are not zero.
func parameters(v reflect.Value) string {
	switch {
	case v.IsZero():
		return ""
	case v.Kind() == reflect.Pointer:
		return parameters(v.Elem())
	}
	switch value := v.Interface().(type) {
	case reason.Nested:
		return DescribeReason(value.Reason)
	case reason.Gap:
		return value.String() + " (" + value.ErrorClass + ")"
	case fmt.Stringer:
		return value.String()
	}
	if v.Kind() != reflect.Struct {
		return fmt.Sprint(v.Interface())
	}
	var out []string
	for i := range v.NumField() {
		if text := parameters(v.Field(i)); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}
