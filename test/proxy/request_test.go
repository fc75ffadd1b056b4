package proxy

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestRequestInfoOf(t *testing.T) {
	for request, want := range map[string]requestInfo{
		"GET /api":                                       {class: discovery},
		"GET /apis/apps/v1":                              {class: discovery},
		"GET /api/v1/pods?limit=3":                       {class: list, resource: "pods"},
		"GET /api/v1/pods?continue=x":                    {class: list, resource: "pods", continued: true},
		"GET /api/v1/namespaces":                         {class: list, resource: "namespaces"},
		"GET /api/v1/namespaces/ns":                      {class: get, resource: "namespaces", name: "ns"},
		"GET /api/v1/namespaces/ns/pods":                 {class: list, resource: "pods"},
		"GET /apis/apps/v1/namespaces/ns/deployments/x":  {class: get, resource: "deployments", name: "x"},
		"GET /apis/apps/v1/deployments?watch=true":       {class: watch, resource: "deployments"},
		"DELETE /api/v1/namespaces/ns/configmaps/x":      {class: write, resource: "configmaps", name: "x"},
		"POST /apis/apps/v1/namespaces/ns/deployments":   {class: write, resource: "deployments"},
		"PATCH /apis/rbac.example.com/v1/clusterroles/x": {class: write, resource: "clusterroles", name: "x"},
	} {
		t.Run(request, func(t *testing.T) {
			var method, path string
			for i, c := range request {
				if c == ' ' {
					method, path = request[:i], request[i+1:]
				}
			}
			if got := requestInfoOf(httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}
