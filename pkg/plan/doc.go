// Package plan says what a run will do before it does it: ordered steps with
// their reasons, what becomes of every object that they touch, and what stays
// blocked and by what.
//
// It runs the collector's model to its end and puts the course of it into
// words. It decides nothing itself, and knows no client, clock or terminal. A
// Plan is data that does not change once it is made.
package plan
