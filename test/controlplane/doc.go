// Command controlplane builds and runs a real Kubernetes control plane for the tests of kubectl
// gc: etcd, kube-apiserver and kube-controller-manager. The garbage collector is on or off, or
// kube-controller-manager does not run at all. The command runs in the folder test/controlplane.
//
//	controlplane build     builds the binaries once and prints their folder
//	controlplane run       runs a control plane until its stdin closes or it receives a signal
//	controlplane up        starts one that outlives the shell, prints `export KUBECONFIG=…`
//	controlplane down      stops it
//
// # Versions
//
// go.mod determines what is built by default: its tool directives name the programs, and its
// requirements their versions. The command itself imports only the standard library; otherwise its
// requirements would mix with those of Kubernetes.
//
// With --version=MINOR, kube-apiserver and kube-controller-manager are those of an older version,
// which versions/MINOR.mod and versions/MINOR.sum determine in the same way. etcd and kubectl are
// always those of go.mod: older API servers work with them, and a test gets the same kubectl for
// every version.
//
// The binaries are in the user's cache folder, in kubectl-gc/controlplane/<version>-<key>, where the
// key covers go.mod, go.sum, the Go version and the build flags.
//
// # run
//
// When the control plane is ready, run prints one line of JSON on stdout (type ready); if it
// fails, a line {"error": …}, and it exits with 1. Each line on stdin is a command (`collector
// on|off|absent`, `restart kube-apiserver`, `kill kube-controller-manager`, or `corrupt KEY`, which
// breaks an object in etcd), answered by one line of JSON (type switched, or an error). The answer to
// `collector on` means that the collector's workers run, not only its process.
//
// Everything that a run owns is in one new folder, readable only by the user: keys, logs, etcd's
// data and socket, the kubeconfig. It is removed at the end. The next run removes what a killed run
// has left.
//
// The run ends, and its processes with it, when stdin closes, on SIGINT, SIGTERM or SIGHUP, and
// when one of the processes ends. On Linux the kernel kills the processes if the run itself is
// killed; elsewhere `kill -9` of the run leaves them behind. Windows is not supported.
//
// # Safety
//
// Servers listen on loopback only, with their own certificate authority and with tokens that no
// other run has. The kubeconfig has an extension named kubectl-gc-test that points to a marker
// file in the run's folder: test/testcluster refuses every kubeconfig without it. A run holds a lock
// on its marker, which has the run's process ID: down signals only a process that holds the lock. No
// process of a control plane gets the user's KUBECONFIG, or any other variable that could point to a
// cluster.
package main
