package backup_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/kubectl-gc/kubectl-gc/pkg/backup"
)

// Save what is to be deleted, make it durable, and delete it then.
func ExampleFolder() {
	root, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(root)
	folder, err := backup.Create(backup.Dir(root, "prod"), run, header)
	if err != nil {
		panic(err)
	}
	defer folder.Close()

	live := []json.RawMessage{
		json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"b","uid":"2","resourceVersion":"7"}}`),
		json.RawMessage(`{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"shop","name":"a","uid":"1","resourceVersion":"8"}}`),
	}
	for _, manifest := range live {
		o, err := backup.ObjectOf(manifest)
		if err := errors.Join(err, folder.Save(o, manifest)); err != nil {
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
