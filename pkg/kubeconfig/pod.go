package kubeconfig

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd/api"
)

// mounted is where a kubelet mounts the credentials of a Pod's service account.
const mounted = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster is the name of the one context of a Pod without a kubeconfig.
const inCluster = "in-cluster"

// pod returns the kubeconfig of a Pod: its own cluster, as its service account. It
// returns nil outside of a Pod and in a Pod without a service account.
//
// It corresponds to rest.InClusterConfig. As a kubeconfig it works with every flag, while
// client-go's own fallback ignores --as and --request-timeout. client-go reads the token
// file again in time, because the kubelet renews it.
func (f *Flags) pod() *api.Config {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	token := filepath.Join(f.mounted, "token")
	if info, err := os.Stat(token); err != nil || info.IsDir() || host == "" || port == "" {
		return nil
	}
	user := &api.AuthInfo{TokenFile: token}
	if f.overrides.AuthInfo.Token != "" {
		user.TokenFile = "" // it would override --token
	}
	config := api.NewConfig()
	config.Clusters[inCluster] = &api.Cluster{
		Server: "https://" + net.JoinHostPort(host, port), CertificateAuthority: filepath.Join(f.mounted, "ca.crt"),
	}
	config.AuthInfos[inCluster] = user
	config.Contexts[inCluster] = &api.Context{Cluster: inCluster, AuthInfo: inCluster, Namespace: f.podNamespace()}
	config.CurrentContext = inCluster
	return config
}

// podNamespace returns the namespace that kubectl uses in a Pod; empty if it is unknown.
func (f *Flags) podNamespace() string {
	mounted, _ := os.ReadFile(filepath.Join(f.mounted, "namespace"))
	return cmp.Or(os.Getenv("POD_NAMESPACE"), strings.TrimSpace(string(mounted)))
}
