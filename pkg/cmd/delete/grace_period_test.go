package delete

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-gc/kubectl-gc/pkg/cli"
	"github.com/kubectl-gc/kubectl-gc/pkg/cli/clitest"
)

// pods are a Pod on a node, one that its kubelet did not stop in time, and one without a node.
const pods = `{"apiVersion": "v1", "kind": "List", "items": [
{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "runs", "uid": "1", "resourceVersion": "1"},
 "spec": {"nodeName": "lost"}, "status": {"phase": "Running"}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "stuck", "uid": "2", "resourceVersion": "1",
 "deletionTimestamp": "2020-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30}, "spec": {"nodeName": "lost"}, "status": {"phase": "Running"}},
{"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "unscheduled", "uid": "3", "resourceVersion": "1"}}]}`

func podsFile(t *testing.T) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pods.json")
	if err := os.WriteFile(file, []byte(pods), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestGracePeriod(t *testing.T) {
	const nothing = " changes nothing here: it applies only to requested Pods that a kubelet has to stop."
	for name, c := range map[string]struct {
		args           []string
		code           int
		stdout, stderr string
	}{
		"waits for the kubelet without a flag":                    {[]string{"pod/runs"}, cli.ExitDone, "requested; must stop first (grace period)\n", ""},
		"takes a negative period for each Pod's own":              {[]string{"pod/runs", "--grace-period=-5"}, cli.ExitDone, "requested; must stop first (grace period)\n", ""},
		"shows the requested period":                              {[]string{"pod/runs", "--grace-period=90"}, cli.ExitDone, "requested; with a grace period of 90s; must stop first (grace period)\n", ""},
		"takes --now for a second":                                {[]string{"pod/runs", "--now"}, cli.ExitDone, "requested; with a grace period of 1s; must stop first (grace period)\n", ""},
		"shows that --force does not wait":                        {[]string{"pod/runs", "--force"}, cli.ExitDone, "requested; removed without waiting for its kubelet, so its containers may keep running\n", "warning: --force does not wait for confirmation that the Pods have stopped: their containers may continue to run on the node indefinitely\n"},
		"takes --force together with --grace-period=0":            {[]string{"pod/runs", "--force", "--grace-period=0"}, cli.ExitDone, "requested; removed without waiting for its kubelet", "warning: --force"},
		"removes a Pod with --force that does not stop":           {[]string{"pod/stuck", "--force"}, cli.ExitDone, "requested, although it is already being deleted; removed without waiting for its kubelet", "warning: --force"},
		"cannot complete the deletion of such a Pod otherwise":    {[]string{"pod/stuck", "--now"}, cli.ExitDone, "has been past its grace period", ""},
		"says that --force changes nothing without a kubelet":     {[]string{"pod/unscheduled", "--force"}, cli.ExitDone, "--force" + nothing, ""},
		"says that --now changes nothing for other objects":       {[]string{"pod/unscheduled", "--now"}, cli.ExitDone, "--now" + nothing, ""},
		"says that a longer period does not help a stopping Pod":  {[]string{"pod/stuck", "--grace-period=60"}, cli.ExitDone, "--grace-period" + nothing, ""},
		"refuses --grace-period=0 without --force":                {[]string{"pod/runs", "--grace-period=0"}, cli.ExitUsage, "", "error: --grace-period=0 needs --force: it removes Pods without waiting for their kubelets\nhint: to give them 1 second to stop, use --now\n"},
		"refuses --now together with --grace-period":              {[]string{"pod/runs", "--now", "--grace-period=5"}, cli.ExitUsage, "", "error: --now cannot be combined with --grace-period\n"},
		"refuses --force together with --now":                     {[]string{"pod/runs", "--force", "--now"}, cli.ExitUsage, "", "error: --force cannot be combined with --now or with a --grace-period above 0\n"},
		"refuses --force together with a period that is not zero": {[]string{"pod/runs", "--force", "--grace-period=1"}, cli.ExitUsage, "", "error: --force cannot be combined with --now or with a --grace-period above 0\n"},
	} {
		t.Run(name, func(t *testing.T) {
			r := clitest.Run(t, New, append([]string{"--from", podsFile(t), "--dry-run", "-n", "shop"}, c.args...)...)
			if c.stderr == "" && !strings.Contains(r.Stderr, "--force") { // other warnings are those of a file
				c.stderr = r.Stderr
			}
			r.Expect(t, c.code, c.stdout, c.stderr)
		})
	}
}

func TestDigestCoversTheGracePeriod(t *testing.T) {
	seen := map[string]string{}
	for _, flags := range []string{"", "--now", "--grace-period=5", "--force"} {
		out := clitest.Run(t, New, append([]string{"--from", podsFile(t), "--dry-run", "-n", "shop", "pod/runs"}, strings.Fields(flags)...)...).Stdout
		digest := regexp.MustCompile(`digest ([0-9a-f]{16})`).FindStringSubmatch(out)
		if digest == nil {
			t.Fatalf("%q: no digest in %q", flags, out)
		}
		if other, known := seen[digest[1]]; known {
			t.Errorf("%q has the digest of %q", flags, other)
		}
		seen[digest[1]] = flags
	}
}
