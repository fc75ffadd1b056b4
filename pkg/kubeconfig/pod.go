package kubeconfig

import (
	"cmp"
	"net"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/client-go/tools/clientcmd/api"
)

// mounted is where a kubelet puts the credentials of a Pod's service account.
const mounted = "/var/run/secrets/kubernetes.io/serviceaccount"

// inCluster is the name of the one context of a Pod without a kubeconfig.
const inCluster = "in-cluster"

// pod is how a program in a Pod reaches the cluster that it runs in, as the Pod's
// service account; nil where this is no Pod, or one without a service account.
//
// It says what rest.InClusterConfig says, in the form of a kubeconfig: so that every
// flag means in a Pod what it means elsewhere. client-go's own fallback drops --as and
// --request-timeout. The token is read again from its file while it is in use, since
// the kubelet renews it.
func (f *Flags) pod() *api.Config {
	host, port := os.Getenv("KUBERNETES_SERVICE_HOST"), os.Getenv("KUBERNETES_SERVICE_PORT")
	token := filepath.Join(f.mounted, "token")
	if info, err := os.Stat(token); err != nil || info.IsDir() || host == "" || port == "" {
		return nil
	}
	user := &api.AuthInfo{TokenFile: token}
	if f.overrides.AuthInfo.Token != "" {
		user.TokenFile = "" // of the two, the file would win
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

// podNamespace is what kubectl takes for the namespace in a Pod; empty when nobody says.
func (f *Flags) podNamespace() string {
	of, _ := os.ReadFile(filepath.Join(f.mounted, "namespace"))
	return cmp.Or(os.Getenv("POD_NAMESPACE"), strings.TrimSpace(string(of)))
}
