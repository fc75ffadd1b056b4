package e2e

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// variants are the folders of docs/in-cluster with an audit, each a kustomization.
var variants = []string{"audit", "push", "textfile"}

func variantPath(name string) string { return filepath.Join("..", "..", "docs", "in-cluster", name) }

// apply applies a variant with the command of the page, and with the strictest validation.
func (s *scene) apply(variant string) {
	s.Helper()
	s.kubectl("apply", "--server-side", "--force-conflicts", "--validate=strict", "-k", variantPath(variant)).exits(s, 0)
}

// rendered returns the objects of a variant by their kinds.
func (s *scene) rendered(variant string) map[string]object {
	s.Helper()
	out := map[string]object{}
	for _, text := range strings.Split(s.kubectl("kustomize", variantPath(variant)).exits(s, 0).Stdout, "\n---\n") {
		o := object{&unstructured.Unstructured{}}
		s.must(yaml.UnmarshalStrict([]byte(text), &o.Object))
		out[o.GetKind()] = o
	}
	return out
}

// podOf returns a Pod as the CronJob of a variant creates it.
func (s *scene) podOf(variant string) object {
	s.Helper()
	cronJob := s.rendered(variant)["CronJob"]
	spec, found, err := unstructured.NestedMap(cronJob.Object, "spec", "jobTemplate", "spec", "template", "spec")
	if err != nil || !found {
		s.Fatalf("no Pod in the CronJob of %s: %v", variant, err)
	}
	return newObject("v1", "Pod", cronJob.GetNamespace(), "of-"+variant, withField("spec", spec))
}

func TestAuditManifestsAreAccepted(t *testing.T) {
	s := withServiceAccounts.newScene(t)
	for _, variant := range variants {
		t.Run(variant, func(t *testing.T) {
			s := s.forSubtest(t)
			s.apply(variant)
			level := "restricted"
			if variant == "textfile" {
				level = "privileged" // it writes to a folder of the node
			}
			if got := s.rendered(variant)["Namespace"].GetLabels()["pod-security.kubernetes.io/enforce"]; got != level {
				t.Errorf("the namespace enforces %q", got)
			}
			// Pod Security and the ServiceAccount plugin validate the Pod itself.
			pod := s.create(s.podOf(variant))
			if got := s.containersWithToken(pod); !slices.Equal(got, []string{"audit"}) {
				t.Errorf("the token is mounted into %q", got)
			}
			s.kubectl("create", "job", "--from=cronjob/gc-audit", "now-"+variant, "-n", "gc-audit", "--dry-run=server").exits(t, 0)
		})
	}
}

// containersWithToken returns the containers of a Pod in which the program finds the token of the
// Pod's service account, including those into which admission mounts one.
func (s *scene) containersWithToken(pod object) (containers []string) {
	s.Helper()
	volumes, _, _ := unstructured.NestedSlice(pod.Object, "spec", "volumes")
	tokens := map[any]bool{}
	for _, v := range volumes {
		volume := v.(map[string]any)
		tokens[volume["name"]] = strings.Contains(fmt.Sprint(volume["projected"]), "serviceAccountToken")
	}
	for _, field := range []string{"initContainers", "containers"} {
		all, _, _ := unstructured.NestedSlice(pod.Object, "spec", field)
		for _, c := range all {
			container := c.(map[string]any)
			mounts, _, _ := unstructured.NestedSlice(container, "volumeMounts")
			for _, m := range mounts {
				mount := m.(map[string]any)
				if !tokens[mount["name"]] {
					continue
				}
				containers = append(containers, fmt.Sprint(container["name"]))
				if mount["mountPath"] != "/"+mountedAt {
					s.Errorf("the token is mounted at %s", mount["mountPath"])
				}
			}
		}
	}
	return containers
}

func TestJobEndsWithExitCodeOfAudit(t *testing.T) {
	s := withServiceAccounts.newScene(t)
	s.apply("audit")
	for name, c := range map[string]struct {
		code int64
		ends string // the expected condition of the Job; empty: it starts another Pod
	}{
		"no findings":                {0, "Complete"},
		"findings":                   {1, "Failed"},
		"a failed audit is repeated": {2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.forSubtest(t)
			job := fmt.Sprintf("ends-%d", c.code)
			s.kubectl("create", "job", "--from=cronjob/gc-audit", job, "-n", "gc-audit").exits(t, 0)
			first := s.podsOf(job, 1)[0]
			s.terminatePod(first, c.code)
			if c.ends == "" {
				s.podsOf(job, 2)
				return
			}
			s.kubectl("wait", "--for=condition="+c.ends, "--timeout=25s", "job/"+job, "-n", "gc-audit").exits(t, 0)
			s.podsOf(job, 1)
		})
	}
}

// podsOf waits until a Job has created n Pods, and returns their names.
func (s *scene) podsOf(job string, n int) (names []string) {
	s.Helper()
	s.await(fmt.Sprintf("%d Pods of %s", n, job), func(context.Context) (bool, error) {
		names = strings.Fields(s.kubectl("get", "pods", "-n", "gc-audit", "-l", "job-name="+job, "-o", "jsonpath={.items[*].metadata.name}").Stdout)
		return len(names) >= n, nil
	})
	if len(names) != n {
		s.Errorf("%s has the Pods %q, want %d", job, names, n)
	}
	return names
}

// terminatePod writes the status that a kubelet writes when the only container of a Pod has
// terminated.
func (s *scene) terminatePod(pod string, code int64) {
	s.Helper()
	phase := "Failed"
	if code == 0 {
		phase = "Succeeded"
	}
	s.kubectl("patch", "pod", pod, "-n", "gc-audit", "--subresource=status", "-p", fmt.Sprintf(
		`{"status":{"phase":%q,"containerStatuses":[{"name":"audit","image":"i","imageID":"i","ready":false,"restartCount":0,`+
			`"state":{"terminated":{"exitCode":%d,"reason":"Ended","startedAt":"2026-11-20T08:00:00Z","finishedAt":"2026-11-20T08:00:01Z"}}}]}}`, phase, code)).exits(s, 0)
}

// TestAuditRunsInAnEmptyImage runs the program as the Pod would, without a kubelet: alone in a
// read-only root, with the service account where a kubelet mounts it, and with the environment
// variables of a Pod. The API server issued the token for that service account.
func TestAuditRunsInAnEmptyImage(t *testing.T) {
	s := withServiceAccounts.newScene(t)
	s.apply("audit")
	ns := s.namespace("watched")
	image := s.image("gc-audit")
	run := func(t *testing.T, args ...string) result {
		t.Helper()
		return s.forSubtest(t).runInImage(image, args...)
	}

	clean := run(t, "audit", "--strict", "-o", "json").exits(t, 0)
	if r := decode[report](t, clean); !r.Complete || r.Summary.Objects == 0 {
		t.Errorf("the scan is incomplete: %+v", r)
	}
	orphan := s.create(configMap(ns, "orphan", ownedBy(missingOwner())))
	table := run(t, "audit", "--strict").exits(t, 1).shows(t, "missing-owner", "Complete scan: ")
	if row := regexp.MustCompile(regexp.QuoteMeta(ns) + `: ConfigMap/orphan\b`); !row.MatchString(table.Stdout) {
		t.Errorf("no row matches %s:\n%s", row, table.Stdout)
	}

	metrics := filepath.Join(image, "metrics", "gc.prom")
	run(t, "audit", "--fail-on=never", "-o", "prometheus=/metrics/gc.prom").exits(t, 0)
	if text, err := os.ReadFile(metrics); err != nil || !strings.Contains(string(text), `kubectl_gc_audit_findings{rule="missing-owner",severity="error"} 1`) {
		t.Errorf("%v: %s", err, short(string(text)))
	}
	if r := run(t, "audit", "-o", "prometheus=/gc.prom"); r.Code != 2 || !strings.Contains(r.Stderr, "read-only file system") {
		t.Errorf("the root can be written to: %d %s", r.Code, r.Stderr)
	}
	// The program uses the Pod's namespace, the context is called in-cluster, and no connection
	// flag is ignored.
	s.create(configMap("gc-audit", "dependent", ownedBy(referenceTo(s.create(secret("gc-audit", "owner"))))))
	run(t, "tree").exits(t, 0).shows(t, "gc-audit ", "ConfigMap/dependent")
	run(t, "audit", "--contexts", "in-cluster", "-o", "jsonpath={.clusters[*].name}").exits(t, 1).shows(t, "in-cluster")
	run(t, "tree", "configmap/orphan", "-n", ns, "--as", "system:serviceaccount:default:default").exits(t, 2).warns(t, "cannot impersonate")

	s.requireUnchanged(orphan)

	// Use an invalid token.
	s.must(os.WriteFile(filepath.Join(image, mountedAt, "token"), []byte("expired"), 0o600))
	run(t, "audit").exits(t, 2).warns(t, "you are not logged in to https://", "log in")

	t.Run("so does the collector in service", func(t *testing.T) { s.forSubtest(t).testCollectorInImage(image, ns) })
}

// testCollectorInImage applies the Deployment of the collector, creates a Pod as it does, and runs
// the command of its container.
func (s *scene) testCollectorInImage(image, ns string) {
	s.Helper()
	s.apply("controller-claim")
	s.apply("controller")
	container := func(variant string) (pod object, args []string) {
		deployment := s.rendered(variant)["Deployment"]
		template, _, err := unstructured.NestedMap(deployment.Object, "spec", "template")
		s.must(err)
		pod = s.create(newObject("v1", "Pod", "gc-controller", "of-"+variant, withField("spec", template["spec"])))
		if got := s.containersWithToken(pod); !slices.Equal(got, []string{"controller"}) {
			s.Errorf("%s: the token is mounted into %q", variant, got)
		}
		containers, _, err := unstructured.NestedSlice(pod.Object, "spec", "containers")
		s.must(err)
		args, _, err = unstructured.NestedStringSlice(containers[0].(map[string]any), "args")
		s.must(err)
		return pod, args
	}
	container("controller-claim")
	_, args := container("controller")

	s.mountToken(image, "gc-controller")
	address := fmt.Sprintf("127.0.0.1:%d", s.unusedPort())
	args[slices.Index(args, "--metrics-bind-address=:8080")] = "--metrics-bind-address=" + address
	p := &process{scene: s, cmd: s.commandInImage(image, args...), stdout: &screen{}, stderr: &screen{}, ended: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	s.must(p.cmd.Start())
	go func() { p.ended <- p.cmd.Wait() }()
	p.awaitText(collecting)
	orphan := s.create(configMap(ns, "late-orphan", ownedBy(missingOwner())))
	s.awaitGone(orphan)
	if page := p.read("http://" + address + "/metrics"); !strings.Contains(page, "kubectl_gc_controller_leader 1\n") || !strings.Contains(page, "kubectl_gc_controller_gaps 0\n") {
		s.Errorf("the metrics are %s", short(page))
	}
	p.terminate().exits(s, 130)
	if text := p.stdout.String() + p.stderr.String(); strings.Contains(text, "warning") {
		s.Errorf("it warns: %s", text)
	}
	s.requireBackedUp(filepath.Join(image, "backup"), orphan)
}

// mountedAt is where a kubelet mounts the credentials of a service account.
const mountedAt = "var/run/secrets/kubernetes.io/serviceaccount"

// image returns the root of a container of the image that docs/in-cluster defines, with the files
// that a kubelet mounts for a service account. It skips the test, with a visible message, if the
// machine does not allow another root.
func (s *scene) image(account string) string {
	s.Helper()
	if out, err := exec.Command("unshare", "--user", "--map-root-user", "--mount", "true").CombinedOutput(); runtime.GOOS != "linux" || err != nil {
		s.Skipf("SKIPPED, NOT TESTED: no root of its own can be made for a process here: %v %s", err, out)
	}
	root := s.TempDir()
	program, err := os.ReadFile(filepath.Join(bin, "kubectl-gc"))
	s.must(err)
	s.must(os.WriteFile(filepath.Join(root, "kubectl-gc"), program, 0o755))
	s.mountToken(root, account)
	for _, volume := range []string{"metrics", "backup"} {
		s.must(os.Mkdir(filepath.Join(root, volume), 0o755))
	}
	s.must(os.Chmod(filepath.Join(root, "backup"), 0o777)) // as a kubelet makes an emptyDir
	return root
}

// mountToken writes what a kubelet mounts for a service account, whose namespace has its name.
func (s *scene) mountToken(root, account string) {
	s.Helper()
	for name, content := range map[string]string{
		"token":     s.kubectl("create", "token", account, "-n", account).exits(s, 0).Stdout,
		"ca.crt":    string(s.config.CAData),
		"namespace": account,
	} {
		path := filepath.Join(root, mountedAt, name)
		s.must(errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(strings.TrimSpace(content)), 0o600)))
	}
}

// enter runs a command with another root, given as the first argument. Only /metrics and
// /backup are writable, and there is no /proc or /dev.
const enter = `set -e
root=$1; shift
mount --bind "$root" "$root"
mount --bind "$root/metrics" "$root/metrics"
mount --bind "$root/backup" "$root/backup"
mount -o remount,bind,ro "$root"
exec chroot "$root" "$@"`

// commandInImage returns a command that runs the program in its image.
func (s *scene) commandInImage(root string, args ...string) *exec.Cmd {
	s.Helper()
	server, err := url.Parse(s.controlPlane.Server)
	s.must(err)
	cmd := exec.CommandContext(s.Context(), "unshare", append([]string{"--user", "--map-root-user", "--mount", "sh", "-c", enter, "sh", root, "/kubectl-gc"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH") + ":/usr/sbin:/sbin", "KUBERNETES_SERVICE_HOST=" + server.Hostname(), "KUBERNETES_SERVICE_PORT=" + server.Port()}
	return cmd
}

// runInImage runs the program in its image.
func (s *scene) runInImage(root string, args ...string) result {
	s.Helper()
	cmd := s.commandInImage(root, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	r := result{Stdout: stdout.String(), Stderr: stderr.String(), line: args}
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		r.Code = exit.ExitCode()
	} else {
		s.must(err)
	}
	return r
}
