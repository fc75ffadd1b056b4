package docs

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestShell(t *testing.T) {
	got, err := shell(t.Context(), t.TempDir(), []string{"PATH=/usr/bin:/bin"}, []string{
		"X=1", "echo $X", "echo no >&2; false",
		`test -t 0 && printf 'Delete 12 objects, change 0? Type the number of objects to delete: ' && read -r N && echo "read $N"`,
		`printf 'Create 1 object, link 0? Type yes: ' && read -r N && echo "read $N"`,
		"exit 3", "echo never",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []answer{
		{nil, 0},
		{[]string{"1"}, 0},
		{[]string{"no"}, 1},
		{[]string{"Delete 12 objects, change 0? Type the number of objects to delete: 12", "read 12"}, 0},
		{[]string{"Create 1 object, link 0? Type yes: yes", "read yes"}, 0},
		{[]string{}, 3},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(answer{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}
