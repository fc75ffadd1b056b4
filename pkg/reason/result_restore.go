package reason

import "github.com/kubectl-gc/kubectl-gc/pkg/object"

// Why a step of a restoration ended as it did, besides the reasons of other runs.
var (
	// another object has the name of the one to create
	AlreadyExists = fixed("AlreadyExists", "another object of that name exists now")
	// the object that would get references was not created
	NotCreated = fixed("NotCreated", "it was not created")
	// the object was created with a new address, as another object has the old one
	AddressReplaced = fixed("AddressReplaced", "with another address, because the old one is taken")
	// the object was created, and the API server does not yet serve the types that it defines
	DefinitionNotServed = fixed("DefinitionNotServed", "created, but the types that it defines are not served yet")

	// an owner of the object was not created, so it would refer to nothing
	OwnerNotCreated = with[object.Reference]("OwnerNotCreated", "owner", "its owner %s was not created")
	// an owner of the object does not exist any more, or waits for its dependents to be deleted
	OwnerGone = with[object.Reference]("OwnerGone", "owner", "its owner %s no longer exists")
	// another owner controls the object now
	ConflictingController = with[object.Reference]("ConflictingController", "owner", "%s controls it now")
	// the references were added, save for one to an owner that was not created
	PartlyLinked      = with[object.Reference]("PartlyLinked", "owner", "but its owner %s was not created")
	OwnerRereadFailed = failed("OwnerRereadFailed", "its owner could not be read again: ")
	// the manifest of the object could not be read from the backup
	BackupUnreadable = failed("BackupUnreadable", "its backup could not be read: ")
	// the object was created, and the backup could not record that
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
