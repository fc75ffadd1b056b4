package reason

import "github.com/kubectl-gc/kubectl-gc/pkg/object"

// Why a step of a restoration ended as it did, besides the reasons of other runs.
var (
	AlreadyExists = fixed("AlreadyExists", "an object with this name exists already")
	// the object that would get references was not created
	NotCreated          = fixed("NotCreated", "it was not created")
	AddressReplaced     = fixed("AddressReplaced", "with another address, because the old one is taken")
	DefinitionNotServed = fixed("DefinitionNotServed", "created, but the API server does not serve its types yet")

	OwnerNotCreated = with[object.Reference]("OwnerNotCreated", "owner", "its owner %s was not created")
	// an owner of the object does not exist anymore, or waits for its dependents to be deleted
	OwnerGone             = with[object.Reference]("OwnerGone", "owner", "its owner %s no longer exists")
	ConflictingController = with[object.Reference]("ConflictingController", "owner", "%s controls it now")
	// the references were added, save for one to an owner that was not created
	PartlyLinked      = with[object.Reference]("PartlyLinked", "owner", "but its owner %s was not created")
	OwnerRereadFailed = failed("OwnerRereadFailed", "this tool could not read its owner again: ")
	BackupUnreadable  = failed("BackupUnreadable", "this tool could not read its backup: ")
	CreatedUnrecorded = failed("CreatedUnrecorded", "created, but not recorded: ")
	// the API server cannot try the step before another one is done
	DryRunImpossible = says("DryRunImpossible", "missing", func(missing Prerequisite) string {
		switch missing {
		case ItsNamespace:
			return "the API server cannot try it before its namespace exists"
		case ItsType:
			return "the API server cannot try it before its type is served"
		case Itself:
		}
		return "the API server cannot try it before it is created"
	})
)

// Prerequisite is what has to exist before a step can be tried.
type Prerequisite string

// The prerequisites.
const (
	ItsNamespace Prerequisite = "Namespace"
	ItsType      Prerequisite = "Type"
	Itself       Prerequisite = "Object"
)
