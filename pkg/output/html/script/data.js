// The data of the page: columns, see document.go. All its text is escaped already, and
// shown as text.
const data = JSON.parse(byID("data").textContent);
byID("data").remove(); // it would be in memory twice

const text = (place) => data.texts[place];

// sparse makes a map of rows that begin with their key.
const sparse = (rows) => new Map(rows.map(([key, ...rest]) => [key, rest]));
