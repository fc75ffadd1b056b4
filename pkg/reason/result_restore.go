package reason

import "github.com/kubectl-gc/kubectl-gc/pkg/object"

// Why a step of a restoration ended as it did, besides the reasons of other runs.
var (
	AlreadyExists = fixed("AlreadyExists", "another object of that name exists now")
	// the object that would get references was not created
	NotCreated          = fixed("NotCreated", "it was not created")
	AddressReplaced     = fixed("AddressReplaced", "with another address, because the old one is taken")
	DefinitionNotServed = fixed("DefinitionNotServed", "created, but the types that it defines are not served yet")

	OwnerNotCreated = with[object.Reference]("OwnerNotCreated", "owner", "its owner %s was not created")
	// an owner of the object does not exist any more, or waits for its dependents to be deleted
	OwnerGone             = with[object.Reference]("OwnerGone", "owner", "its owner %s no longer exists")
	ConflictingController = with[object.Reference]("ConflictingController", "owner", "%s controls it now")
	// the references were added, save for one to an owner that was not created
	PartlyLinked      = with[object.Reference]("PartlyLinked", "owner", "but its owner %s was not created")
	OwnerRereadFailed = failed("OwnerRereadFailed", "its owner could not be read again: ")
	BackupUnreadable  = failed("BackupUnreadable", "its backup could not be read: ")
	CreatedUnrecorded = failed("CreatedUnrecorded", "created, but not recorded: ")
	// the API server cannot try the step before another one is done
	DryRunImpossible = says("DryRunImpossible", "missing", func(missing Prerequisite) string {
		switch missing {
		case ItsNamespace:
			return "cannot be tried before its namespace exists"
		case ItsType:
			return "cannot be tried before its type is served"
		case Itself:
		}
		return "cannot be tried before it is created"
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
