package discovery

import (
	"runtime"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/pkg/cluster/client"
)

func TestErrorsOmitCredentialPluginOutput(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("runs a shell")
	}
	for name, says := range map[string]string{
		"an answer of no kind":       `{"apiVersion":"client.authentication.k8s.io/v1","status":{"token":"hunter2"}}`,
		"an answer of no group":      `{"kind":"ExecCredential","status":{"token":"hunter2"}}`,
		"an answer of another group": `{"apiVersion":"v1","kind":"Secret","data":{"token":"hunter2"}}`,
		"a token that is no text":    `{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":["hunter2"]}}`,
		"no JSON":                    `hunter2`,
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.New(&rest.Config{Host: "http://127.0.0.1:1", ExecProvider: &clientcmdapi.ExecConfig{
				APIVersion: "client.authentication.k8s.io/v1", Command: "echo", Args: []string{says}, InteractiveMode: clientcmdapi.NeverExecInteractiveMode,
			}}, client.Config{})
			if err != nil {
				t.Fatal(err)
			}
			_, err = Discover(t.Context(), c)
			if err == nil || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
		})
	}
}
