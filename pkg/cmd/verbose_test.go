package cmd

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
)

// A backup reads whole objects, Secrets too, so no log may contain a body.
func TestNoVerbosityLogsBodiesOrTokens(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,"data":{"password":"aHVudGVyMg=="}}`)
	}))
	t.Cleanup(server.Close)
	config := clientcmdapi.NewConfig()
	config.Clusters["c"] = &clientcmdapi.Cluster{Server: server.URL}
	config.AuthInfos["a"] = &clientcmdapi.AuthInfo{Token: "bearer-of-this"}
	config.Contexts["x"] = &clientcmdapi.Context{Cluster: "c", AuthInfo: "a"}
	config.CurrentContext = "x"
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, file); err != nil {
		t.Fatal(err)
	}
	for level, names := range map[string]bool{"0": false, "6": true, "7": true, "8": true, "9": true, "10": true} {
		var stderr bytes.Buffer
		s := cli.Streams{In: strings.NewReader(""), Out: io.Discard, Err: &stderr, Getenv: os.Getenv, Now: time.Now}
		Main(context.Background(), []string{"audit", "--kubeconfig", file, "-v", level}, s)
		for _, secret := range []string{"aHVudGVyMg==", "bearer-of-this"} {
			if strings.Contains(stderr.String(), secret) {
				t.Errorf("-v=%s shows %s: %s", level, secret, &stderr)
			}
		}
		if strings.Contains(stderr.String(), "/api") != names {
			t.Errorf("-v=%s: %s", level, &stderr)
		}
	}
}
