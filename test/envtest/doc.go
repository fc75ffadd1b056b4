// Package envtest is a small operator and its test with controller-runtime's envtest, where owner
// references do nothing until package gctest collects garbage. It is a separate module, so that the
// program does not depend on controller-runtime.
package envtest
