// Command controlplane builds and runs a real Kubernetes control plane for the
// tests of kubectl gc: etcd, kube-apiserver and kube-controller-manager, the
// latter with the garbage collector on or off, or not there at all.
//
//	controlplane build    builds the binaries once, prints the folder that holds them
//	controlplane run      runs a control plane until its stdin closes or it is signalled
//	controlplane up       starts one that outlives the shell, prints `export KUBECONFIG=…`
//	controlplane down     stops it
//
// # Versions
//
// go.mod is the only place that says which versions are built: its tool
// directives name the programs, its requirements their versions. It is embedded,
// so the command works from any folder. The program itself imports the standard
// library only, or its requirements would mix with those of Kubernetes.
//
// # Binaries
//
// They live in the user's cache folder, in kubectl-gc/controlplane/<key>, where
// the key covers go.mod, go.sum, the Go version and the build flags. The variable
// KUBECTL_GC_CONTROLPLANE_DIR names another folder: binaries found there that this
// command did not build are used as they are (another Kubernetes minor, say);
// otherwise the folder is filled, and refilled when the key changes.
//
// # run
//
// Once the control plane may be used, run prints one line of JSON on stdout (type
// ready); when it can't be, a line {"error": …} and exit code 1. Each line on stdin
// is a command (`collector on|off|absent`), answered by one line of JSON (type
// switched, or an error). An answered `collector on` means that the collector's
// workers run, not only that its process does.
//
// Everything a run owns is in one fresh folder, private to the user: keys, logs,
// etcd's data and socket, the kubeconfig. It is removed at the end (unless --keep).
// What a run that was killed left of it, the next run removes.
//
// The run ends, and its processes with it, when stdin closes, on SIGINT, SIGTERM
// or SIGHUP, and when one of the processes dies. On Linux the kernel kills the
// processes when the run itself is killed; elsewhere only `kill -9` of the run
// leaves them behind. Windows is not supported.
//
// # Safety
//
// Servers listen on loopback only, with a certificate authority of their own, and
// tokens that no other run has. The kubeconfig carries an extension named
// kubectl-gc-test that points to a marker file in the run's folder: test/testcluster
// refuses every kubeconfig without it. No process of a control plane sees the
// user's KUBECONFIG, nor any other variable that could point to a cluster.
package main
