// Package html writes one scan as a page that a browser shows without a server or network:
// the findings, every object with its owners and dependents, what a collection would do,
// and what could not be read. Equal values give equal bytes. The page is page.html with
// one style sheet and one script, joined from the files in their folders, and the data.
// The policy in its head allows only this script and this style sheet, by their hashes.
// Verdicts, reasons and sentences are those of the other formats. Text from the cluster is
// escaped here before it becomes data; the script makes text nodes of it and never markup.
package html
