// Package html writes one scan as a page that a browser shows without a server and
// without a network: the findings, every object with its owners and dependents, what a
// pass of the collector would do, and what could not be read.
//
// Values in, bytes out: no client, no clock; equal values give equal bytes. The page is
// a skeleton (page.html) with one style sheet and one script, joined from the files of
// their folders, and the data. The policy in its head allows that very script and that
// very style sheet, by their hashes, and nothing else.
//
// The page decides nothing. Verdicts, consequences, reasons and sentences are those of
// collector, audit, plan and why, in the words in which the other printers have them.
// All text from the cluster is escaped here, before it becomes data; the script makes
// text nodes of it and never markup.
package html
