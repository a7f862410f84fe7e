/** From the command of a `cmd.run` to the argv that is run. Never a shell unless the line asks for one. */

/**
 * With `args` (even none), `command` is one program. Without, it is split by POSIX quoting; a line
 * with unquoted shell syntax goes to `/bin/sh -c` as it is.
 * @returns null when the line names no program
 */
export function argvOf(command: string, args?: readonly string[]): { command: string; args: string[] } | null {
  if (args !== undefined) return { command, args: [...args] };
  const words = splitLine(command);
  if (words === "shell") return { command: "/bin/sh", args: ["-c", command] };
  const [program, ...rest] = words;
  return program === undefined || program === "" ? null : { command: program, args: rest };
}

/** Blanks, 'quoted', "quoted", an escaped character, plain characters. Anything else is for a shell. */
const piece = /([ \t]+)|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|\\([\s\S])|([^ \t\n'"\\;&|<>()$`*?[]+)/y;

/** POSIX word splitting without any expansion; `shell` when only a shell could do what the line says. */
function splitLine(line: string): string[] | "shell" {
  const words: string[] = [];
  let word: string | null = null;
  piece.lastIndex = 0;
  while (piece.lastIndex < line.length) {
    const [found, blanks, single, double, escaped, plain] = piece.exec(line) ?? [];
    if (found === undefined || (word === null && plain?.startsWith("~"))) return "shell";
    if (blanks === undefined) word = (word ?? "") + (single ?? plain ?? unescaped(double, escaped));
    else if (word !== null) {
      words.push(word);
      word = null;
    }
  }
  return word === null ? words : [...words, word];
}

/** A backslash before a line end removes both; within double quotes it escapes only what is special there. */
function unescaped(double: string | undefined, escaped: string | undefined): string {
  if (double === undefined) return escaped === "\n" ? "" : (escaped ?? "");
  return double.replace(/\\([$`"\\\n])/g, (_, char: string) => (char === "\n" ? "" : char));
}
