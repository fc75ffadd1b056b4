package cli

import "testing"

func TestCheckNamespaceName(t *testing.T) {
	for name, valid := range map[string]bool{"": true, "shop": true, "kube-system": true, "a,b": false, "-": false, "Shop": false, "a.b": false, "../x": false} {
		if err := CheckNamespaceName("namespace", name); (err == nil) != valid {
			t.Errorf("%q: %v", name, err)
		}
	}
}
