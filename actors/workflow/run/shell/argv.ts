/**
 * Commands given as a list: no shell reads them, unless the program is one. Then the argument that it takes as a script
 * is treated like a text (docs/reference/workflows.md).
 */

/** One element, rendered or with marks in place of its values. */
export interface Argument {
  readonly text: string;
  readonly hasValues: boolean;
}

export type ScriptPlace =
  /** Null: the list has no script. */
  | { readonly index: number | null }
  /** It cannot be told for certain which element the shell would take for one. */
  | { readonly unsafe: string };

const shells = new Set(["sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"]);
const applets = new Set(["sh", "ash", "hush", "bash"]);
/** Of bash and zsh; bash takes them with one dash as well. */
const longOptions = new Set([
  "debug",
  "debugger",
  "dump-po-strings",
  "dump-strings",
  "help",
  "login",
  "noediting",
  "noprofile",
  "norc",
  "posix",
  "pretty-print",
  "protected",
  "restricted",
  "verbose",
  "version",
  "wordexp",
]);
const longOptionsWithArgument = new Set(["rcfile", "init-file", "emulate"]);

/** Which element of a list a shell would take for a script. */
export function scriptPlace(list: readonly Argument[]): ScriptPlace {
  const program = list[0]?.text.split("/").at(-1) ?? "";
  if (!shells.has(program)) return { index: null };
  if (program === "busybox") return applets.has(list[1]?.text ?? "") ? behindOptions(list, 2) : { index: null };
  return behindOptions(list, 1);
}

function behindOptions(list: readonly Argument[], first: number): ScriptPlace {
  const seen = { takesScript: false, unknown: false };
  let at = first;
  for (let option = list[at]; option !== undefined && /^[-+]/.test(option.text); option = list[at]) {
    if (option.hasValues) return { unsafe: "in an option of the shell" };
    at += 1;
    if (option.text === "--" || option.text === "-") break;
    at += readOption(option.text, seen);
  }
  if (seen.unknown && list.slice(at).some(({ hasValues }) => hasValues)) {
    return { unsafe: "behind an option of the shell that is not known" };
  }
  return { index: seen.takesScript && at < list.length ? at : null };
}

/** @returns how many of the elements behind it belong to it */
function readOption(option: string, seen: { takesScript: boolean; unknown: boolean }): number {
  const long = longNameOf(option);
  if (long === null) {
    if (option.includes("c")) seen.takesScript = true;
    return option.match(/o/gi)?.length ?? 0;
  }
  if (longOptionsWithArgument.has(long)) return 1;
  if (!longOptions.has(long)) seen.unknown = true;
  return 0;
}

function longNameOf(option: string): string | null {
  if (option.startsWith("--")) return option.slice(2);
  const name = option.slice(1);
  return option.startsWith("-") && (longOptions.has(name) || longOptionsWithArgument.has(name)) ? name : null;
}
