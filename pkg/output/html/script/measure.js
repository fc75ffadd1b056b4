// The height of a row follows from its text, so that all of it can be read and only the rows
// in sight have to be there. A cell is a style and a text, or texts below each other. Cells
// stand beside each other while there is room, and text wraps at spaces.
const styles = {
	title: {font: "600 14px", high: 21, extra: 0},
	fact: {font: "400 13px", high: 19.5, extra: 0},
	strong: {font: "600 12.5px", high: 18.75, extra: 0},
	small: {font: "400 12.5px", high: 18.75, extra: 0},
	pill: {font: "600 12px", high: 21, extra: 18},
	card: {font: "600 14px", high: 34, extra: 42},
	turnable: {font: "600 14px", high: 34, extra: 66},
	said: {font: "600 13px", high: 17, extra: 0},
};
const ruler = document.createElement("canvas").getContext("2d");
const typeface = getComputedStyle(document.body).fontFamily;

// glyphOf measures a letter.
function glyphOf(style, letter) {
	ruler.font = styles[style].font + " " + typeface;
	return ruler.measureText(letter).width;
}

function widthOf(style, said) {
	const glyphs = styles[style].glyphs ??= [];
	let sum = 1;
	for (let i = 0; i < said.length; i++) {
		sum += glyphs[said.charCodeAt(i)] ??= glyphOf(style, said[i]);
	}
	return sum;
}

// linesOf is how many lines a text needs.
function linesOf(style, said, width) {
	if (widthOf(style, said) <= width) {
		return 1;
	}
	let lines = 1, used = 0;
	for (const word of said.split(/(?<= |[-\/](?!\d))/)) { // where browsers break lines
		const wide = widthOf(style, word);
		if (used > 0 && used + wide > width) {
			lines++;
			used = 0;
		}
		used += wide;
		while (used > width) { // a word that is longer than a line breaks anywhere
			lines++;
			used -= width;
		}
	}
	return lines;
}

// heightOf is the height of cells beside each other.
function heightOf(cells, width, gap = 8) {
	let total = 0, used = 0, high = 0;
	for (const [style, said] of cells.filter(([, said]) => said.length > 0)) {
		const {extra, high: line} = styles[style], room = width - extra, texts = [said].flat();
		const lines = texts.reduce((sum, t) => sum + linesOf(style, t, room), 0), wide = extra + Math.min(room, Math.max(...texts.map((t) => widthOf(style, t))));
		if (used > 0 && used + gap + wide > width) {
			total += high;
			used = high = 0;
		}
		used += (used > 0 ? gap : 0) + wide;
		high = Math.max(high, lines * line);
	}
	return total + high;
}

// wordsOf are the words of the lines of a row, for a search.
const wordsOf = (lines) => lines.flat().map(([, said]) => said).join(" ");
