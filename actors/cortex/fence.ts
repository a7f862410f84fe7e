/** Code in an answer. */

/**
 * The content of the first fenced block of a Markdown text; null where there is none. A block that is not closed goes to
 * the end of the text, as one does whose answer was cut.
 */
export function firstFencedBlock(text: string): string | null {
  const lines = text.split(/\r?\n/);
  const from = lines.findIndex((line) => openingOf(line) !== null);
  const fence = openingOf(lines[from] ?? "");
  if (fence === null) return null;
  const rest = lines.slice(from + 1);
  const to = rest.findIndex((line) => closes(line, fence));
  return (to === -1 ? rest : rest.slice(0, to)).join("\n");
}

/** The marks that a line opens a block with. */
function openingOf(line: string): string | null {
  const [, marks = null, info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
  return marks?.startsWith("`") && info.includes("`") ? null : marks;
}

function closes(line: string, fence: string): boolean {
  const [, marks = ""] = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line) ?? [];
  return marks.length >= fence.length && marks[0] === fence[0];
}
