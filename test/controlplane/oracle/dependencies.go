//go:build dependencies

package main

// The sources in _build import these modules. go mod tidy does not look there.
import (
	_ "gopkg.in/evanphx/json-patch.v4"
	_ "k8s.io/apimachinery/pkg/apis/meta/v1"
	_ "k8s.io/client-go/metadata"
)
