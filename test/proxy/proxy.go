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

// Proxy is one that listens.
type Proxy struct{ server *httptest.Server }

// Start listens until Close. behave answers what comes; through, which it is
// given, hands a request on to the control plane as its admin, whoever sent it.
func Start(kubeconfig string, behave func(through http.Handler) http.Handler) (*Proxy, error) {
	if err := testcluster.RequireOurs(kubeconfig); err != nil {
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
		// What breaks here on purpose is not worth a log.
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	listening := httptest.NewUnstartedServer(behave(through))
	listening.EnableHTTP2 = true
	listening.Config.ConnContext = withConnection
	listening.StartTLS()
	return &Proxy{listening}, nil
}

// Close ends what is under way.
func (p *Proxy) Close() {
	p.server.CloseClientConnections()
	p.server.Close()
}

// WriteKubeconfig writes one that leads here and nowhere else. The token opens
// nothing, and may be empty.
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

// connectionKey is the key of the connection on which a request came.
type connectionKey struct{}

// withConnection lets a request know its connection.
func withConnection(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, c)
}

// ResetConnection breaks the connection off, with everything else that is under way on it.
func ResetConnection(_ http.ResponseWriter, r *http.Request) {
	if c, ok := r.Context().Value(connectionKey{}).(*tls.Conn); ok {
		if tcp, ok := c.NetConn().(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // no farewell; the test goes on if there is one
			_ = tcp.Close()
		}
	}
	panic(http.ErrAbortHandler)
}

// Rule answers those requests that it is about.
type Rule struct {
	Matches func(*http.Request) bool
	Answer  http.HandlerFunc
}

// FirstMatch lets the first rule that is about a request answer it, or else rest.
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
