// Package backup keeps the complete manifests of what a run deletes, and reads
// them back.
//
// A backup is one folder a run:
//
//	index.json         what run it was; its end, once it came to one
//	plan.json          the plan, as the caller encoded it
//	<Kind.group>.json  manifests of one type, a line each, as the server sent them
//	objects.jsonl      where each manifest is, and its sha256
//	done.jsonl         what was done, in the order in which it ended
//	restored.jsonl     what restorations made of it; absent until there was one
//
// The contract: what was saved before Folder.Sync returned nil outlives a kill
// and a power cut, in as far as the disk keeps its word. So a DELETE belongs
// behind a Sync. A manifest is on the disk before the line that names it is
// written, and the folder never overwrites or shortens a line, so whatever cuts
// a run off leaves an end that can be told from damage: see Backup.Torn.
//
// Manifests hold everything, the data of Secrets too. The folder is for its
// owner alone, 0700 and its files 0600; on Windows it has the rights of the
// folder it is in. They also hold uid, resourceVersion and owner references:
// kubectl reads the files, but to create something from them those must go
// first, since a reference to an owner that was replaced is what the collector
// deletes for.
//
// A folder that is read is not trusted. No name in it leads out of it, no length
// in it is believed beyond the file's own, no line is longer than 16 MiB, and a
// manifest is answered only if it has the sha256 and is the object that the
// index says. None of this is proof against somebody who may write to the
// folder: there is no signature. Strings come out as they went in; see
// output/escape before they meet a terminal.
//
// The package knows files and nothing else of the world: moments are given.
package backup
