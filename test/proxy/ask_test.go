package proxy

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestAskOf(t *testing.T) {
	for request, want := range map[string]ask{
		"GET /api":                                       {sort: discovery},
		"GET /apis/apps/v1":                              {sort: discovery},
		"GET /api/v1/pods?limit=3":                       {sort: list, resource: "pods"},
		"GET /api/v1/pods?continue=x":                    {sort: list, resource: "pods", continued: true},
		"GET /api/v1/namespaces":                         {sort: list, resource: "namespaces"},
		"GET /api/v1/namespaces/ns":                      {sort: get, resource: "namespaces", name: "ns"},
		"GET /api/v1/namespaces/ns/pods":                 {sort: list, resource: "pods"},
		"GET /apis/apps/v1/namespaces/ns/deployments/x":  {sort: get, resource: "deployments", name: "x"},
		"GET /apis/apps/v1/deployments?watch=true":       {sort: watch, resource: "deployments"},
		"DELETE /api/v1/namespaces/ns/configmaps/x":      {sort: write, resource: "configmaps", name: "x"},
		"POST /apis/apps/v1/namespaces/ns/deployments":   {sort: write, resource: "deployments"},
		"PATCH /apis/rbac.example.com/v1/clusterroles/x": {sort: write, resource: "clusterroles", name: "x"},
	} {
		t.Run(request, func(t *testing.T) {
			var method, path string
			for i, c := range request {
				if c == ' ' {
					method, path = request[:i], request[i+1:]
				}
			}
			if got := askOf(httptest.NewRequestWithContext(t.Context(), method, path, http.NoBody)); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
}
