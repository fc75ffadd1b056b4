package e2e

import (
	"path/filepath"
	"strings"
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
		r := tool.gc("audit", "--contexts", "second,first", "--rule", "missing-owner").exits(t, 1).shows(t, " of 2 clusters. Complete scan.")
		var got []string
		for line := range strings.Lines(r.Stdout) {
			if f := strings.Fields(line); len(f) > 4 && (f[3] == ns || f[3] == far) {
				got = append(got, f[0]+" "+f[4])
			}
		}
		if diff := cmp.Diff([]string{"first ConfigMap/here", "second ConfigMap/there"}, got); diff != "" {
			t.Errorf("(-want +got)\n%s\n%s", diff, r.Stdout)
		}
	})
	t.Run("each report equals that of a single cluster", func(t *testing.T) {
		joined := tool.gc("audit", "--contexts", "first,second", "-o", "json", "--fail-on=never").exits(t, 0)
		r := decode[multiClusterReport](t, joined)
		for _, c := range r.Clusters {
			alone := decode[report](t, tool.gc("audit", "--context", c.Name, "-o", "json", "--fail-on=never").exits(t, 0))
			if diff := cmp.Diff(alone.Summary, c.Summary); diff != "" || !c.Answered || c.Complete != alone.Complete {
				t.Errorf("%s: (-alone +joined)\n%s", c.Name, diff)
			}
			var got []finding
			for _, f := range r.Findings {
				if f.Cluster == c.Name {
					f.Cluster = ""
					got = append(got, f)
				}
			}
			if diff := cmp.Diff(alone.Findings, got); diff != "" {
				t.Errorf("%s: (-alone +joined)\n%s", c.Name, diff)
			}
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
