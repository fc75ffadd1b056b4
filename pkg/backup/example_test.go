package backup_test

import (
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
	"github.com/kubectl-gc/kubectl-gc/pkg/object"
)

// Back up what will be deleted, make that durable, and only then delete it.
func ExampleFolder() {
	root, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	folder, err := backup.Create(backup.Dir(root, "prod"), run, header, nil)
	if err != nil {
		panic(err)
	}
	defer folder.Close()

	live := []object.Object{
		{Identity: object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "b", UID: "2"}, ResourceVersion: "7"},
		{Identity: object.Identity{APIVersion: "v1", Kind: "Pod", Namespace: "shop", Name: "a", UID: "1"}, ResourceVersion: "8"},
	}
	for _, o := range live {
		if err := folder.Save(o, manifest(o)); err != nil {
			fmt.Println("not saved, so do not delete it:", err)
		}
	}
	if err := folder.Sync(); err != nil {
		fmt.Println("delete nothing:", err)
		return
	}

	saved, err := backup.Open(folder.Path())
	if err != nil {
		panic(err)
	}
	defer saved.Close()
	for _, e := range saved.Entries {
		fmt.Println(e.Object, e.ResourceVersion)
	}
	// Output:
	// Pod/a 8
	// Pod/b 7
}
