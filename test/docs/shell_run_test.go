package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestShell(t *testing.T) {
	got, err := shell(t.Context(), t.TempDir(), []string{"PATH=/usr/bin:/bin"}, []string{
		"X=1", "echo $X", "echo no >&2; false",
		`test -t 0 && printf 'Delete 12 objects on prod? Type 12 to confirm: ' && read -r N && echo "read $N"`,
		`printf 'Create 1 object on prod? Type yes to confirm: ' && read -r N && echo "read $N"`,
		"exit 3", "echo never",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []answer{
		{nil, 0},
		{[]string{"1"}, 0},
		{[]string{"no"}, 1},
		{[]string{"Delete 12 objects on prod? Type 12 to confirm: 12", "read 12"}, 0},
		{[]string{"Create 1 object on prod? Type yes to confirm: yes", "read yes"}, 0},
		{[]string{}, 3},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
