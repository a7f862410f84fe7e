/**
 * How deep a template nests, found before it is parsed: the parser's time grows with the square of it. Follows the
 * lexer of Handlebars, so that nothing can hide from it in a string, a comment or behind an escape.
 */

/** Whether blocks, `else` chains or subexpressions nest deeper than `deepest`. Takes linear time. */
export function nestsDeeper(source: string, deepest: number): boolean {
  /** Levels that each open block adds: one, and one for every chained `else`. */
  const open: number[] = [];
  let depth = 0;
  for (let at = source.indexOf("{{"); at >= 0; ) {
    const end = isEscaped(source, at) ? at + 2 : endOf(source, at, deepest);
    if (end === null) return true;
    const tag = isEscaped(source, at) ? "" : source.slice(at, Math.min(end, at + 64));
    if (/^\{{2,4}~?\s*(?:#|\^\s*[^\s~}])/.test(tag)) {
      open.push(1);
      depth += 1;
    } else if (/^\{\{~?\s*else\s+[^\s~}]/.test(tag) && open.length > 0) {
      open.push((open.pop() ?? 0) + 1);
      depth += 1;
    } else if (/^\{{2,4}~?\s*\//.test(tag)) depth -= open.pop() ?? 0;
    if (depth > deepest) return true;
    at = source.indexOf("{{", end);
  }
  return false;
}

/** One backslash before it makes it text; two are one backslash of text. */
function isEscaped(source: string, at: number): boolean {
  return source[at - 1] === "\\" && source[at - 2] !== "\\";
}

/** Where the tag that begins here ends; null when its parentheses nest too deeply. */
function endOf(source: string, at: number, deepest: number): number | null {
  const comment = /^\{\{~?!(--)?/.exec(source.slice(at, at + 8));
  if (comment !== null) return after(source, comment[1] === undefined ? /\}\}/g : /--~?\}\}/g, at);
  const part = /["'[()]|\}\}/g;
  part.lastIndex = at + 2;
  let depth = 0;
  for (let match = part.exec(source); match !== null; match = part.exec(source)) {
    const [mark] = match;
    if (mark === "}}") return part.lastIndex;
    if (mark === "(") depth += 1;
    else if (mark === ")") depth -= 1;
    // A quotation that is never closed is none, and the tag is refused by the parser; the end is near enough.
    else part.lastIndex = closing(source, mark === "[" ? "]" : mark, part.lastIndex) ?? source.length;
    if (depth > deepest) return null;
  }
  return source.length;
}

/** Behind the mark that closes a quotation, escaped ones left out; null when there is none. */
function closing(source: string, mark: string, from: number): number | null {
  for (let at = source.indexOf(mark, from); at >= 0; at = source.indexOf(mark, at + 1)) {
    if (source[at - 1] !== "\\") return at + 1;
  }
  return null;
}

function after(source: string, end: RegExp, from: number): number {
  end.lastIndex = from;
  return end.test(source) ? end.lastIndex : source.length;
}

/** Characters of a template's tags: from each opening of braces to the next closing; one that never closes goes to the end. */
export function tagCharacters(source: string): number {
  let sum = 0;
  for (let from = source.indexOf("{{"); from >= 0; ) {
    const close = source.indexOf("}}", from);
    const end = close < 0 ? source.length : close + 2;
    sum += end - from;
    from = source.indexOf("{{", end);
  }
  return sum;
}
