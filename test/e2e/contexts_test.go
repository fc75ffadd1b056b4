package e2e

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// toolWithContexts returns a tool whose kubeconfig has three contexts: "first" and "second" are
// admins of two clusters, and "limited" is a user of the first one.
func (s *scene) toolWithContexts(other *scene, user string) tool {
	s.Helper()
	config := clientcmdapi.NewConfig()
	for name, from := range map[string]struct {
		environment *environment
		context     string
	}{
		"first":   {s.environment, s.controlPlane.Context("admin")},
		"second":  {other.environment, other.controlPlane.Context("admin")},
		"limited": {s.environment, s.controlPlane.Context(user)},
	} {
		its, err := clientcmd.LoadFromFile(from.environment.controlPlane.Kubeconfig)
		s.must(err)
		context := its.Contexts[from.context]
		config.Clusters[name], config.AuthInfos[name] = its.Clusters[context.Cluster], its.AuthInfos[context.AuthInfo]
		config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	}
	path := filepath.Join(s.TempDir(), "kubeconfig")
	s.must(clientcmd.WriteToFile(*config, path))
	t := s.tool()
	t.env = append(t.env, "KUBECONFIG="+path)
	return t
}

// multiClusterReport is the report of an audit of several clusters.
type multiClusterReport struct {
	report
	Clusters []struct {
		Name, Server       string
		Answered, Complete bool
		Summary            summary
	} `json:"clusters"`
}

func TestMultipleContexts(t *testing.T) {
	s, other := newScene(t), withRealCollector.newScene(t)
	ns, far := s.namespace("contexts"), other.namespace("contexts")
	s.create(configMap(ns, "here", ownedBy(missingOwner())))
	other.create(configMap(far, "there", ownedBy(missingOwner())))
	tool := s.toolWithContexts(other, "dave")

	t.Run("both answer", func(t *testing.T) {
		r := decode[multiClusterReport](t, tool.gc("audit", "--contexts", "second,first", "--rule", "missing-owner", "-o", "json").exits(t, 1))
		got := map[string]string{}
		for _, f := range r.Findings {
			got[f.Object.Namespace] = f.Cluster + " " + f.Object.Name
		}
		if !r.Complete || len(r.Clusters) != 2 || got[ns] != "first here" || got[far] != "second there" {
			t.Errorf("complete %t, findings %v", r.Complete, got)
		}
	})
	t.Run("one lacks permission", func(t *testing.T) {
		r := tool.gc("audit", "--contexts", "all", "-o", "json", "--fail-on=never").exits(t, 0)
		r.warns(t, "warning: contexts first, limited use the same server", "warning: cluster limited: no answer: nothing could be read")
		got := decode[multiClusterReport](t, r)
		if got.Complete || len(got.Clusters) != 3 || got.Clusters[1].Name != "limited" || got.Clusters[1].Answered {
			t.Errorf("got %+v", got.Clusters)
		}
		if diff := cmp.Diff([]gap{{Cluster: "limited", Group: "*", Resource: "*", Reason: "forbidden", Message: got.Gaps[0].Message}}, got.Gaps); diff != "" {
			t.Errorf("gaps (-want +got)\n%s", diff)
		}
		tool.gc("audit", "--contexts", "first,limited", "--strict", "--fail-on=never").exits(t, 3)
		tool.gc("audit", "--contexts", "limited").exits(t, 2).warns(t, "error: nothing could be read", "hint: ")
	})
}
