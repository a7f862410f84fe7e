/** Here-documents of a shell script: what ends one, and where it ends. */

export const hereDocument = "inside a here-document";

export interface HereDocument {
  readonly delimiter: string;
  /** Its body is not expanded. */
  readonly quoted: boolean;
  /** Of `<<-`: tabs at the beginning of a line do not count. */
  readonly tabs: boolean;
}

const piece = /(?:[^\s\0'"\\`$;&|<>()]|'[^'\n\0]*'|"[^"\\`$\n\0]*"|\\[^\n\0])+/y;

/**
 * The operator at `at`, with its delimiter.
 *
 * @returns null when not every shell would read the same delimiter
 */
export function hereDocumentAt(text: string, at: number): (HereDocument & { readonly end: number }) | null {
  const tabs = text[at + 2] === "-";
  const word = /[ \t]*/y;
  word.lastIndex = at + (tabs ? 3 : 2);
  word.test(text);
  piece.lastIndex = word.lastIndex;
  const [written = ""] = piece.exec(text) ?? [];
  const end = word.lastIndex + written.length;
  const next = text[end];
  if (written === "" || written.startsWith("#")) return null;
  if (next !== undefined && !" \t\n;&|<>()".includes(next)) return null;
  const delimiter = written.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, one) => single ?? double ?? one);
  return { delimiter, quoted: delimiter !== written, tabs, end };
}

/**
 * Behind the line that ends a body beginning at `begin`; the end of the text when no line does.
 *
 * @returns null when not every shell would end it there
 */
export function bodyEnd(text: string, begin: number, { delimiter, quoted, tabs }: HereDocument): number | null {
  for (let line = begin; line < text.length; ) {
    const end = text.indexOf("\n", line);
    const written = text.slice(line, end < 0 ? text.length : end);
    const next = end < 0 ? text.length : end + 1;
    if ((tabs ? written.replace(/^\t+/, "") : written) === delimiter) {
      return quoted || isPlain(text.slice(begin, line)) ? next : null;
    }
    line = next;
  }
  return text.length;
}

/** Some shells look for the end of a substitution before they look for the end of the body. */
function isPlain(body: string): boolean {
  if (body.includes("\\\n")) return false;
  const rest = body
    .replace(/\\./gs, "")
    .replace(/\$\{\w+\}/g, "")
    .replace(/\$\([^()'"`\\$#<{}\n]*\)/g, "");
  return !/`|\$\(|\$\{/.test(rest);
}
