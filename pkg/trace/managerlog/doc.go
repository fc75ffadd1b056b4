// Package managerlog reads what kube-controller-manager's log says about its garbage collector, as
// klog text or JSON, of Kubernetes 1.13 to 1.37.
//
// What a log can show depends on its level (--v); most installations have 2. All lines are from
// pkg/controller/garbagecollector, the level is the same in all releases:
//
//	level  line               knows of the object                 since
//	0      Started            -
//	2      Processes          all; from 1.19 to 1.26 not its apiVersion; as JSON since 1.27 not its kind
//	2      Deletes            as above
//	2      RemovesReference   all; as JSON since 1.27 not its kind
//	2      OwnerElsewhere     as above, the same of the owner     1.20
//	2      OwnerInForeground  as above, the same of the owner
//	5      OwnerNotFound      before 1.27 only its UID
//	5      OwnerKnownAbsent   before 1.27 only its UID
//	5      OwnerWaits         all; as JSON not its kind           1.28
//	5      Gone               all                                 1.20
//
// So a log at level 2 has what the collector deleted, and of the owners only those that are deleted in the
// foreground or that it knows to be in another namespace. The lines about an absent owner name it as the reference does; before 1.27 without its UID.
//
// Before 1.27 klog did not escape a line break in the name or the UID of an owner, so whoever could create an
// object could write lines of this log.
package managerlog
