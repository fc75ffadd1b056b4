// Package backup stores the complete manifests of the objects that a run deletes,
// and reads them back.
//
// A backup is one folder per run:
//
//	index.json         which run it was, and when it finished
//	steps.jsonl        the steps of the plan
//	objects.jsonl      for each object two lines: which it is, with the sha256 of its manifest,
//	                   and the manifest as the API server sent it
//	done.jsonl         how each step ended, in that order
//	restored.jsonl     what restorations did; absent before the first one
//
// What was saved before Folder.Sync returned nil survives a kill and a power
// failure, as far as the disk honors a sync. So call Sync before a DELETE. No line is
// overwritten or shortened, so what an interrupted run leaves differs from
// damage: see Backup.Truncated.
//
// Manifests are complete and include the data of Secrets. The folder has mode 0700
// and its files 0600; on Windows they inherit the permissions of the parent folder.
// Manifests also include uid, resourceVersion and owner references. Remove those
// before you create an object with kubectl: the garbage collector deletes an object
// whose owner was replaced.
//
// Open does not trust the folder. No length is
// believed beyond the size of the file, no line may exceed 16 MiB, and a manifest is
// returned only if it has the sha256 and the identity that objects.jsonl states.
// There is no signature, so none of this protects against someone who can write to
// the folder. Strings are returned unescaped: use output/escape before printing them.
//
// The package only reads and writes files; callers pass in times.
package backup
