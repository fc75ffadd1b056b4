package stuck

import (
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
	"github.com/kubectl-gc/kubectl-gc/pkg/cmd/why"
)

func TestStuck(t *testing.T) {
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"lists deletions and exits with 0":                 {nil, cli.ExitDone, "PersistentVolumeClaim/import-scratch (dependent, held by example.com/hold)", "Explain one object: kubectl gc why"},
		"says that nothing is being deleted":               {[]string{"-n", "kube-system"}, cli.ExitDone, "Nothing is being deleted. Complete scan", ""},
		"lists only objects with the labels":               {[]string{"-l", "app=none"}, cli.ExitDone, "Nothing is being deleted. Complete scan", ""},
		"writes deletions as a document":                   {[]string{"-o", "json"}, cli.ExitDone, "\"kind\": \"TerminatingReport\"", ""},
		"names the objects that are being deleted":         {[]string{"-o", "name"}, cli.ExitDone, "job.batch/import\n", ""},
		"writes the answers of why about targets":          {[]string{"job/import", "-n", "shop", "-o", "json"}, cli.ExitDone, "\"kind\": \"Explanation\"", ""},
		"says that a target is not being deleted":          {[]string{"deployment/web", "-n", "shop"}, cli.ExitDone, "Deployment/web is not being deleted.\n", ""},
		"names the deletions in a namespace":               {[]string{"namespace/shop"}, cli.ExitDone, "Namespace/shop is not being deleted, but 2 objects in it are.\n  you can       see what holds them\n                  kubectl gc stuck -n shop", ""},
		"says what happens to a target that is to go":      {[]string{"secret/restored", "-n", "shop"}, cli.ExitDone, "next          The garbage collector will delete Secret/restored: ", ""},
		"says that an object is gone, which is no failure": {[]string{"job/none", "-n", "shop"}, cli.ExitDone, "Job/none in namespace shop does not exist, so nothing holds it.\nScanned", ""},
		"refuses targets with a selector":                  {[]string{"job/import", "-l", "app=web"}, cli.ExitUsage, "", "error: --selector cannot be combined with TYPE/NAME\n"},
		"refuses targets with several clusters":            {[]string{"job/import", "--contexts", "a"}, cli.ExitUsage, "", "error: --contexts cannot be combined with TYPE/NAME\n"},
		"refuses to watch targets":                         {[]string{"job/import", "--watch"}, cli.ExitUsage, "", "error: --watch cannot be combined with TYPE/NAME\n"},
		"refuses a type":                                   {[]string{"jobs"}, cli.ExitUsage, "", "error: \"jobs\" is a type: why explains single objects, given as TYPE/NAME\n"},
		"refuses metrics":                                  {[]string{"-o", "prometheus=x"}, cli.ExitUsage, "", "error: \"prometheus=x\" is not an output format"},
	} {
		t.Run(name, func(t *testing.T) {
			clitest.Run(t, New, append(c.args, "--from", clitest.DemoCluster)...).Expect(t, c.code, c.stdout, c.stderr)
		})
	}
}

func TestStuckSuggestsNoDeletionOfWhatIsNotBeingDeleted(t *testing.T) {
	for _, target := range []string{"namespace/shop", "secret/restored", "deployment/web"} {
		r := clitest.Run(t, New, target, "-n", "shop", "--from", clitest.DemoCluster)
		if strings.Contains(r.Stdout, "gc delete") || strings.Contains(r.Stdout, "deleting it") {
			t.Errorf("%s: %s", target, r.Stdout)
		}
	}
}

func TestStuckSaysOfATargetWhatWhySays(t *testing.T) {
	args := []string{"job/import", "-n", "shop", "--from", clitest.DemoCluster}
	if got, want := clitest.Run(t, New, args...), clitest.Run(t, why.New, args...); got != want {
		t.Errorf("stuck: %+v\nwhy: %+v", got, want)
	}
}
