package completion

import (
	"os"
	"path/filepath"
	"testing"
)

// Packages install the shims in folder plugins.
func TestShippedShimsAreTheInstalledOnes(t *testing.T) {
	for _, system := range []string{"linux", "darwin", "windows"} {
		name, text := shim(system)
		shipped, err := os.ReadFile(filepath.Join("../../../plugins", name))
		if err != nil {
			t.Fatal(err)
		}
		if string(shipped) != text {
			t.Errorf("%s: plugins/%s holds %q, --install-shim writes %q", system, name, shipped, text)
		}
	}
}
