// A finding is its place in the columns, the gravest first.
const findings = data.findings;
const grades = ["error", "warning", "info"];

const ruleOf = (f) => data.rules[findings.rule[f]];
const gradeOf = (f) => grades[findings.severity[f]];
const objectOf = (f) => findings.object[f];
const briefOf = (f) => text(findings.brief[f]);
const effectOf = (f) => text(findings.effect[f]);
const messageOf = (f) => findings.message[f];
const repairOf = (f) => text(findings.repair[f]);
const causeOf = (f) => findings.group[f];
const problemOf = (group) => text(findings.problems[group]);

const consequences = {delete: "goes", unlink: "changes", stuck: "waits", unknown: "waits", none: "dim"};

// dangerOf says how what the collector does is coloured.
const dangerOf = (f) => consequences[text(findings.consequence[f])] ?? "dim";

const members = later(() => sparse(findings.members));

// membersOf are the objects of a cycle.
const membersOf = (f) => members().get(f) ?? [];

const speaking = later(() => {
	const out = new Map();
	const add = (n, f) => {
		if (!out.has(n)) {
			out.set(n, []);
		}
		if (out.get(n).at(-1) !== f) {
			out.get(n).push(f);
		}
	};
	for (let f = 0; f < findings.rule.length; f++) {
		add(objectOf(f), f);
		membersOf(f).forEach((n) => add(n, f));
	}
	return out;
});

// findingsOn are those that speak of an object.
const findingsOn = (n) => speaking().get(n) ?? [];

// linesOfFinding are the words of its row.
function linesOfFinding(f) {
	const n = objectOf(f);
	return [
		[["title", titled(n)], ["small", placeNamed(n)]],
		[["fact", briefOf(f)]],
		[["strong", "GC result: " + effectOf(f)], ["small", ruleOf(f).id]],
	];
}

// A search also looks in what the page of the object says about the finding.
const findingHays = later(() => findings.rule.map((_, f) =>
	[wordsOf(linesOfFinding(f)), gradeOf(f) + ":", messageOf(f), repairOf(f), uidOf(objectOf(f))].join(" ").toLowerCase()));

// pill is a word in its colour.
const pill = (word, tone) => element("span", {class: "pill " + tone}, word);
