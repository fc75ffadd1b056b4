// Package oracle compares the predictions of this program with what upstream's garbage
// collector does: it draws random scenarios, has another program run upstream's collector on
// each of them in many orders of events, and reports where the program says otherwise.
//
// A failing scenario is printed in the format of Parse, reduced to what the failure needs.
package oracle
