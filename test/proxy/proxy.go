package proxy

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubectl-gc/kubectl-gc/test/testcluster"
)

// Proxy is a running proxy.
type Proxy struct{ server *httptest.Server }

// Start starts a proxy that listens until Close. behave returns the handler of all requests;
// its argument forwards a request to the control plane, as admin whatever its credentials.
func Start(kubeconfig string, behave func(through http.Handler) http.Handler) (*Proxy, error) {
	if err := testcluster.RequireTestCluster(kubeconfig); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w", err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		return nil, fmt.Errorf("connect to the control plane: %w", err)
	}
	through := &httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(server)
			r.Out.Header.Del("Authorization")
		},
		// Do not log injected errors.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	listening := httptest.NewUnstartedServer(behave(through))
	listening.EnableHTTP2 = true
	listening.Config.ConnContext = withConnection
	listening.StartTLS()
	return &Proxy{listening}, nil
}

// Close stops the proxy and its open requests.
func (p *Proxy) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// WriteKubeconfig writes a kubeconfig with the proxy as its only server. The token is not
// valid anywhere, and may be empty.
func (p *Proxy) WriteKubeconfig(path, token string) error {
	config := clientcmdapi.NewConfig()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.server.Certificate().Raw})
	config.Clusters["front"] = &clientcmdapi.Cluster{Server: p.server.URL, CertificateAuthorityData: authority}
	config.Contexts["front"] = &clientcmdapi.Context{Cluster: "front"}
	if token != "" {
		config.AuthInfos["front"] = &clientcmdapi.AuthInfo{Token: token}
		config.Contexts["front"].AuthInfo = "front"
	}
	config.CurrentContext = "front"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("write kubeconfig %s: %w", path, err)
	}
	return nil
}

// connectionKey is the context key for the connection of a request.
type connectionKey struct{}

// withConnection adds the connection to the context of its requests.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// ResetConnection resets the connection, with all other requests on it.
func ResetConnection(_ http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(connectionKey{}).(*tls.Conn); ok {
		if tcp, ok := c.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // sends RST instead of FIN
			_ = tcp.Close()
		}
	}
	panic(http.ErrAbortHandler)
}

// Rule responds to matching requests.
type Rule struct {
	Matches func(*http.Request) bool
	Answer  http.HandlerFunc
}

// FirstMatch returns a handler that uses the first matching rule, or else rest.
func FirstMatch(rules []Rule, rest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, rule := range rules {
			if rule.Matches(r) {
				rule.Answer(w, r)
				return
			}
		}
		rest.ServeHTTP(w, r)
	})
}
