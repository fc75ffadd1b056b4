package trust

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/test/apiserver"
)

// nodeScene has a Node that a missing owner makes garbage, two Pods on it, and one elsewhere.
func nodeScene(t *testing.T) (s *Server, u *user, node *Object) {
	nodes := apiserver.Namespaced("", "nodes", "Node")
	nodes.Namespaced = false
	s = NewServer(t)
	s.Serve(nodes, apiserver.Pods)
	node = s.Add(ownedBy(nodes.Object("", "worker"), missingOwner(nodes)))
	for name, on := range map[string]string{"bare": "worker", "managed": "worker", "elsewhere": "other"} {
		pod := apiserver.Pods.Object("shop", name)
		pod.Fields = map[string]any{"spec": map[string]any{"nodeName": on}}
		s.Add(pod)
	}
	return s, newUser(t, s), node
}

// kubernetes/kubernetes#84485: whoever deletes a Node deletes its Pods, by whatever command.
func TestKubernetes84485EveryDeletionOfANodeNamesItsPods(t *testing.T) {
	t.Parallel()
	for _, command := range [][]string{{"collect"}, {"delete", "node/worker", "--client-side"}} {
		s, u, node := nodeScene(t)
		preview := u.runs(append(command, "--dry-run")...).exits(0).stdout
		for _, want := range []string{"Pod/bare ", "Pod/managed ", "about a minute after Node/worker is gone", "2 more"} {
			if !strings.Contains(preview, want) || strings.Contains(preview, "elsewhere") {
				t.Errorf("the preview of %q does not say %q:\n%s", command, want, preview)
			}
		}
		u.runs(append(command, "--yes", "--max-deletes", "2")...).exits(4)
		requireKept(t, s, node)
		done := u.runs(append(command, "--yes")...).exits(0).stdout
		if want := "deleted 1 of 3"; !strings.Contains(done, want) || !strings.Contains(done, "; 2 to go about a minute after the Node is gone; a scan afterwards found nothing left to do") {
			t.Errorf("the report of %q does not say %q:\n%s", command, want, done)
		}
	}
}
