package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// replacedIdentifiers are names that the program must not declare, each with its replacement. The
// case of the first letter does not matter.
var replacedIdentifiers = map[string]string{
	// collector and simulate
	"hand": "actor", "ours": "actorClient", "theirs": "actorControllerManager",
	"freeFinalizer": "actionRemoveFinalizer", "orphanChildren": "actionOrphanDependents", "culprit": "undecidableReference",
	"situation": "decisionInput", "weigh": "assess", "outlook": "assessment", "course": "result", "learn": "setObserved",
	"aftermath": "release", "afterward": "afterRelease", "owe": "a word of its package", "undisputed": "deterministic", "disputed": "nondeterministic",
	"tangled": "entangled", "sweep": "contentsDeletion", "swept": "contentsDeleted", "emptying": "contentsDeletion", "emptyings": "contentsDeletions",
	"custody": "finalizerControllers", "custodian": "finalizerController", "heed": "onStateChange", "takeUp": "requeueDeferred",
	"putOff": "deferred", "owesALook": "hasDeferredDependent", "outlived": "a word of its package", "homes": "byCoordinates", "goesBefore": "deletedBefore",
	// repair, explain, audit
	"mend": "repair", "mends": "repairs", "mended": "repaired", "mender": "planner", "told": "eventHistory", "namer": "referrer", "goesWith": "cascade", "goesAlong": "cascade",
	"panorama": "ruleContext", "hindrance": "blocker", "hindrances": "blockers", "tally": "counts",
	// plan
	"maker": "builder", "stay": "retained", "spare": "protect", "doubt": "uncertainty", "seal": "finalize", "sealed": "finalized", "renew": "revalidate",
	// execute
	"mirror": "liveModel", "census": "relist", "anew": "reread", "meet": "observe", "owed": "unfinishedDependents", "along": "contents", "onlooker": "waiter", "onlookers": "waiters",
	"rehearse": "dryRun", "rehearsal": "dryRun", "linger": "waitForDeletion", "seenOff": "waitForGone", "frozen": "requireUnchanged",
	// restore, backup
	"bearer": "referenceHolder", "strangers": "unrecordedObjects", "plainer": "withoutAllocatedFields", "rival": "conflictingController", "surroundings": "volumeContext",
	"torn": "truncated", "exposed": "worldWritable", "mendEnd": "repairTail",
	// cluster
	"look": "scan", "world": "discovery", "blind": "nothingReadableError", "chase": "resolveOwners", "inquiry": "accessReview", "leap": "a word of its package",
	"bounding": "limitingTransport", "examine": "readState", "traffic": "requestStats", "untold": "undetermined",
	// snapshot
	"inParts": "parallel", "reversioned": "withServedVersion", "unproven": "unverified",
	// cli
	"acting": "mutationFlags", "changing": "mutatingOptions", "reviver": "restoreRun", "revive": "restoreRun", "snagged": "stillBlocked",
	"foresee": "predict", "foretell": "predict",
	// output
	"toll": "deletionSummary", "fate": "a word of its package", "dialect": "a word of its package",
	// tests
	"mischief": "faultInjector", "errand": "command", "campaign": "faultRun",
}

// keptIdentifiers are exceptions, by file, each with the reason.
var keptIdentifiers = map[string]string{
	"pkg/reason/effect.go: Culprit": "the parameter culprit is part of the JSON contract",
}

// TestIdentifiersAreStandardTerms checks every name that the program declares. It skips
// tests, where words such as ours and theirs are plain English.
func TestIdentifiersAreStandardTerms(t *testing.T) {
	for _, root := range []string{"cmd", "pkg"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, id := range declared(file) {
				first := []rune(id.Name)
				first[0] = unicode.ToLower(first[0])
				name := filepath.ToSlash(strings.TrimPrefix(path, filepath.FromSlash("../../"))) + ": " + id.Name
				if now, old := replacedIdentifiers[string(first)]; old && keptIdentifiers[name] == "" {
					t.Errorf("%s: %s: say %s", files.Position(id.Pos()), id.Name, now)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// declared returns the names that a file declares: packages, types, functions, constants,
// variables, parameters and fields.
func declared(file *ast.File) []*ast.Ident {
	out := []*ast.Ident{file.Name}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			out = append(out, n.Name)
		case *ast.TypeSpec:
			out = append(out, n.Name)
		case *ast.ValueSpec:
			out = append(out, n.Names...)
		case *ast.Field:
			out = append(out, n.Names...)
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if id, named := left.(*ast.Ident); named && n.Tok == token.DEFINE {
					out = append(out, id)
				}
			}
		case *ast.RangeStmt:
			for _, left := range []ast.Expr{n.Key, n.Value} {
				if id, named := left.(*ast.Ident); named {
					out = append(out, id)
				}
			}
		}
		return true
	})
	return out
}
