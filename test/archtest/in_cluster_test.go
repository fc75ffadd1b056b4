package archtest

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// podSpec is the part of a Pod that decides who gets the token of its service account.
type podSpec struct {
	AutomountServiceAccountToken *bool
	InitContainers, Containers   []container
	EphemeralContainers          []container
	Volumes                      []struct {
		Name      string
		Projected *struct {
			Sources []struct {
				ServiceAccountToken *struct{ Path string }
			}
		}
		Secret *struct{ SecretName string }
	}
}

type container struct {
	Name, Image  string
	Args         []string
	Env          []struct{ Name, Value string }
	Resources    struct{ Limits struct{ Memory string } }
	VolumeMounts []struct{ Name, MountPath string }
}

func (p podSpec) all() []container {
	return slices.Concat(p.InitContainers, p.Containers, p.EphemeralContainers)
}

// inClusterPods returns the Pod template of each variant in docs/in-cluster, rendered as
// kubectl apply -k does.
func inClusterPods(t *testing.T) map[string]podSpec {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "..", "docs", "in-cluster", "*", "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	pods := map[string]podSpec{}
	for _, file := range files {
		resources, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Dir(file))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range resources.Resources() {
			switch r.GetKind() {
			case "CronJob", "Deployment":
				type pod struct{ Template struct{ Spec podSpec } }
				var owner struct {
					Spec struct {
						pod
						JobTemplate struct{ Spec pod }
					}
				}
				if err := yaml.Unmarshal([]byte(r.MustYaml()), &owner); err != nil {
					t.Fatal(err)
				}
				spec := owner.Spec.Template.Spec
				if r.GetKind() == "CronJob" {
					spec = owner.Spec.JobTemplate.Spec.Template.Spec
				}
				pods[filepath.Base(filepath.Dir(file))] = spec
			case "Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Role", "RoleBinding", "NetworkPolicy", "Service", "PersistentVolumeClaim":
			default:
				t.Errorf("%s: may a %s have containers? This test does not know", file, r.GetKind())
			}
		}
	}
	if len(pods) != 5 {
		t.Fatalf("docs/in-cluster has %d variants with Pods, want 5", len(pods))
	}
	return pods
}

// oursInCluster is the name of this program's image in the kustomizations of docs/in-cluster.
const oursInCluster = "registry.example.com/kubectl-gc"

func TestOnlyOwnContainerMountsServiceAccountToken(t *testing.T) {
	for variant, pod := range inClusterPods(t) {
		if pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken {
			t.Errorf("%s: a token is mounted into every container", variant)
		}
		secret := map[string]bool{}
		for _, v := range pod.Volumes {
			secret[v.Name] = v.Secret != nil
			if v.Projected != nil {
				for _, source := range v.Projected.Sources {
					secret[v.Name] = secret[v.Name] || source.ServiceAccountToken != nil
				}
			}
		}
		var ours int
		for _, c := range pod.all() {
			for _, mount := range c.VolumeMounts {
				if !secret[mount.Name] {
					continue
				}
				ours++
				if name, _, _ := strings.Cut(c.Image, "@"); name != oursInCluster || c.Name != "audit" && c.Name != "controller" {
					t.Errorf("%s: the container %s with the image %s mounts the token", variant, c.Name, c.Image)
				}
				if want := "/var/run/secrets/kubernetes.io/serviceaccount"; mount.MountPath != want {
					t.Errorf("%s: the token is mounted at %s, and the program expects it at %s", variant, mount.MountPath, want)
				}
			}
		}
		if ours != 1 {
			t.Errorf("%s: the token is mounted %d times, want once", variant, ours)
		}
	}
}

// A tag can be moved to another image. The placeholder is not a valid digest, so a kubelet
// refuses it (InvalidImageName).
func TestInClusterImagesArePinnedByDigest(t *testing.T) {
	pinned := regexp.MustCompile(`^[a-z0-9./-]+@sha256:([0-9a-f]{64}|REPLACE-WITH-THE-DIGEST-OF-[A-Z-]+)$`)
	for variant, pod := range inClusterPods(t) {
		for _, c := range pod.all() {
			if !pinned.MatchString(c.Image) {
				t.Errorf("%s: the container %s has the image %s, want name@sha256:digest", variant, c.Name, c.Image)
			}
		}
	}
}

// Measured peaks are up to 1.6 times --max-memory, and Go collects garbage to stay below GOMEMLIMIT.
func TestInClusterMemoryLimitsLeaveRoom(t *testing.T) {
	bytes := func(quantity string) int64 {
		q, err := resource.ParseQuantity(strings.TrimSuffix(quantity, "B"))
		if err != nil {
			t.Fatalf("%q: %v", quantity, err)
		}
		return q.Value()
	}
	for variant, pod := range inClusterPods(t) {
		for _, c := range pod.all() {
			if name, _, _ := strings.Cut(c.Image, "@"); name != oursInCluster {
				continue
			}
			var most, goLimit string
			for _, a := range c.Args {
				if value, ok := strings.CutPrefix(a, "--max-memory="); ok {
					most = value
				}
			}
			for _, e := range c.Env {
				if e.Name == "GOMEMLIMIT" {
					goLimit = e.Value
				}
			}
			limit := c.Resources.Limits.Memory
			if most == "" || goLimit == "" || limit == "" || bytes(most)*16/10 > bytes(limit) || bytes(goLimit)*12/10 > bytes(limit) {
				t.Errorf("%s: --max-memory %q and GOMEMLIMIT %q do not fit into a limit of %q", variant, most, goLimit, limit)
			}
		}
	}
}
