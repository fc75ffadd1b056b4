// Package trace finds out, after the fact, who deleted an object: it puts together what an API
// server's audit log, the log of kube-controller-manager and an earlier scan say, and explains each
// deletion by the rules of the garbage collector. It guesses nothing: a deletion that the evidence does
// not explain is unexplained.
//
// The packages below read the logs; this one is pure.
package trace
