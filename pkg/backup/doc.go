// Package backup stores the complete manifests of the objects that a run deletes,
// and reads them back.
//
// A backup is one folder per run:
//
//	records.jsonl      the header, which says which run it was; the steps of the plan; each object in two lines:
//	                   which it is, with the sha256 of its manifest, and the manifest as the API server sent it;
//	                   how each step ended; and when the run finished
//	restored.jsonl     what restorations did; absent before the first one
//
// What was saved before Folder.Sync returned nil survives a kill and a power
// failure, as far as the disk honors a sync. So call Sync before a DELETE. Lines are only appended,
// so what an interrupted run leaves is complete up to a line, see Backup.Truncated. Other damage is an error.
//
// Manifests are complete and include the data of Secrets. The folder has mode 0700
// and its files 0600; on Windows they inherit the permissions of the parent folder.
// Manifests also include uid, resourceVersion and owner references. Remove those
// before you create an object with kubectl: the garbage collector deletes an object
// whose owner was replaced.
//
// Open does not trust the folder. No line may exceed 16 MiB, and a manifest is returned only if it has the
// sha256 and the identity that the line before it states.
// There is no signature, so none of this protects against someone who can write to
// the folder. Strings are returned unescaped: use output/escape before printing them.
//
// The package only reads and writes files; callers pass in times.
package backup
