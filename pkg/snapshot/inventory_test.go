package snapshot_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-gc/kubectl-gc/pkg/object"
	"github.com/kubectl-gc/kubectl-gc/pkg/snapshot"
	st "github.com/kubectl-gc/kubectl-gc/pkg/snapshot/snapshottest"
)

// storedRelease returns the Secret in which Helm 3 and 4 store a release.
func storedRelease(t *testing.T, release string) string {
	t.Helper()
	var packed bytes.Buffer
	zip := gzip.NewWriter(&packed)
	if _, err := zip.Write([]byte(release)); err != nil {
		t.Fatal(err)
	}
	if err := zip.Close(); err != nil {
		t.Fatal(err)
	}
	once := base64.StdEncoding.EncodeToString(packed.Bytes())
	return `{"type":"helm.sh/release.v1","data":{"release":"` + base64.StdEncoding.EncodeToString([]byte(once)) + `"}}`
}

func TestInventoryOf(t *testing.T) {
	flux := st.WithFinalizers("finalizers.fluxcd.io")
	kustomization := st.Object("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "flux-system/apps", flux)
	release := st.Object("helm.toolkit.fluxcd.io/v2", "HelmRelease", "shop/db", flux)
	history := `{"status":{"storageNamespace":"shop","history":[{"name":"db","version":1},{"name":"db","version":2}]}}`
	application := st.Object("argoproj.io/v1alpha1", "Application", "argocd/shop", st.WithFinalizers("resources-finalizer.argocd.argoproj.io/background"))
	role, settings := st.Object("rbac.authorization.k8s.io/v1", "ClusterRole", "system:reader"), st.ConfigMap("shop/settings")
	one, two, ten := st.Secret("shop/sh.helm.release.v1.db.v1"), st.Secret("shop/sh.helm.release.v1.db.v2"), st.Secret("shop/sh.helm.release.v1.db.v10")
	for name, c := range map[string]struct {
		of            object.Object
		whole, secret string   // an empty secret: it does not exist
		members       []string // in the order of their identities
		unread        int
		fails         bool
	}{
		"colons in names, cluster scope and absent objects": {
			of: kustomization, whole: `{"spec":{"prune":true},"status":{"inventory":{"entries":[{"id":"_system__reader_rbac.authorization.k8s.io_ClusterRole","v":"v1"},{"id":"shop_settings__ConfigMap","v":"v1"},{"id":"shop_absent__ConfigMap","v":"v1"}]}}}`,
			members: []string{"ClusterRole/system:reader", "ConfigMap/settings"},
		},
		"a type that could not be listed": {
			of: kustomization, whole: `{"spec":{"prune":true},"status":{"inventory":{"entries":[{"id":"shop_web__Service","v":"v1"}]}}}`, unread: 1,
		},
		"a malformed entry":       {of: kustomization, whole: `{"spec":{"prune":true},"status":{"inventory":{"entries":[{"id":"shop-settings","v":"v1"}]}}}`, fails: true},
		"a field of another type": {of: kustomization, whole: `{"spec":{"prune":"yes"}}`, fails: true},
		"no JSON":                 {of: application, whole: `{`, fails: true},
		"a namespace of a cluster-scoped object, and the same object twice": {
			of: application, whole: `{"spec":{"destination":{"name":"in-cluster"}},"status":{"history":[{"id":1}],"resources":[{"group":"rbac.authorization.k8s.io","version":"v1","kind":"ClusterRole","namespace":"shop","name":"system:reader"},{"group":"rbac.authorization.k8s.io","version":"v1beta1","kind":"ClusterRole","name":"system:reader"}]}}`,
			members: []string{"ClusterRole/system:reader"},
		},
		"a release, its revisions, and a list": {
			of: release, whole: history, secret: storedRelease(t, `{"namespace":"shop","manifest":"---\n# Source: a\n---\nkind: List\napiVersion: v1\nitems:\n- kind: ConfigMap\n  apiVersion: v1\n  metadata: {name: settings}\n"}`),
			members: []string{"ConfigMap/settings", "Secret/sh.helm.release.v1.db.v1", "Secret/sh.helm.release.v1.db.v2"},
		},
		"a release that is not compressed, as of old":  {of: release, whole: history, secret: `{"data":{"release":"` + base64.StdEncoding.EncodeToString([]byte("eyJtYW5pZmVzdCI6IiJ9")) + `"}}`, members: []string{"Secret/sh.helm.release.v1.db.v1", "Secret/sh.helm.release.v1.db.v2"}},
		"a release that somebody else has uninstalled": {of: release, whole: history},
		"a release that is not installed":              {of: release, whole: `{"status":{}}`},
		"a release that is no base64":                  {of: release, whole: history, secret: `{"data":{"release":"JSUl"}}`, fails: true},
		"a release that unpacks without an end":        {of: release, whole: history, secret: storedRelease(t, `{"manifest":"`+strings.Repeat(" ", 80<<20)+`"}`), fails: true},
		"a manifest that is no YAML":                   {of: release, whole: history, secret: storedRelease(t, `{"manifest":"kind: [}"}`), fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			in, err := snapshot.InventoryOf(&c.of, func(i object.Identity) (json.RawMessage, error) {
				switch {
				case i == c.of.Identity:
					return json.RawMessage(c.whole), nil
				case c.secret == "":
					return nil, nil
				case i.Name != two.Name:
					return nil, errors.New("asked for " + i.String())
				}
				return json.RawMessage(c.secret), nil
			})
			if (err != nil) != c.fails || c.fails != (in.Unknown != "") {
				t.Fatalf("fails with %v, and is %+v", err, in)
			}
			s := st.New(st.Listing(c.of, role, settings, one, two, ten), st.Unreadable("services", snapshot.Forbidden))
			if in = s.WithInventories(map[types.UID]*snapshot.Inventory{c.of.UID: in}).Inventories[c.of.UID]; in.Unread != c.unread {
				t.Errorf("%d unread, want %d", in.Unread, c.unread)
			}
			var members []string
			for _, m := range in.Members {
				members = append(members, m.String())
			}
			if !slices.IsSorted(members) || !cmp.Equal(c.members, members) {
				t.Errorf("got %v, want %v", members, c.members)
			}
		})
	}
}

// Every field may be hostile.
func FuzzInventoryOf(f *testing.F) {
	f.Add([]byte(`{"spec":{"prune":true},"status":{"inventory":{"entries":[{"id":"a_b_c_D","v":"v1"},{"id":"___"}]},"history":[{"name":"x","version":9223372036854775807}],"storageNamespace":"a","helmChart":"a/b"}}`), []byte(`{"data":{"release":"ZTMwPQ=="}}`))
	kinds := [][2]string{{"argoproj.io/v1alpha1", "Application"}, {"kustomize.toolkit.fluxcd.io/v1", "Kustomization"}, {"helm.toolkit.fluxcd.io/v2", "HelmRelease"}, {"example.com/v1", "Claim"}}
	f.Fuzz(func(t *testing.T, whole, secret []byte) {
		for _, kind := range kinds {
			o := st.Object(kind[0], kind[1], "a/b", st.WithFinalizers("finalizers.fluxcd.io", "resources-finalizer.argocd.argoproj.io"))
			if kind[1] == "Claim" {
				o.Finalizers = []string{"finalizer.apiextensions.crossplane.io"}
			}
			in, err := snapshot.InventoryOf(&o, func(i object.Identity) (json.RawMessage, error) {
				if i.UID != "" {
					return whole, nil
				}
				return secret, nil
			})
			if (err != nil) != (in.Unknown != "") {
				t.Errorf("%v, but %+v", err, in)
			}
			st.New(st.Listing(o)).WithInventories(map[types.UID]*snapshot.Inventory{o.UID: in})
		}
	})
}
