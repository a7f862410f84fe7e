/** Where in a manifest's text a finding is. */
import { isMap, isPair, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { Finding } from "../../../kit/code/editor.tsx";

/** A finding as the node tells it: `spec.states.A.transitions.0.target`. */
interface Told {
  readonly path: string;
  readonly message: string;
}

/** The findings at their lines; what has no place in the text stands at its first line. */
export function findingsAt(text: string, issues: readonly Told[], warnings: readonly Told[]): Finding[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: "silent" });
  const lineOf = (path: string): number => {
    const offset = placeOf(
      document.contents,
      path.split(/[.[\]]+/).filter((part) => part !== ""),
    );
    return offset === null ? 1 : lines.linePos(offset).line;
  };
  return [
    ...issues.map(({ path, message }) => ({ line: lineOf(path), message, severity: "error" as const })),
    ...warnings.map(({ path, message }) => ({ line: lineOf(path), message, severity: "warning" as const })),
  ];
}

/** The offset of the deepest part of the path that the text has. */
function placeOf(root: unknown, path: readonly string[]): number | null {
  let node: unknown = root;
  let found: number | null = null;
  for (const part of path) {
    if (isMap(node)) {
      // Names may have dots in them: no state has, but labels may.
      const pair = node.items.find(
        (item) => isPair(item) && String((item.key as Node | null)?.toString() ?? "") === part,
      );
      if (pair === undefined) return found;
      found = (pair.key as Node | null)?.range?.[0] ?? found;
      node = pair.value;
    } else if (isSeq(node)) {
      const item = node.items[Number(part)] as Node | undefined;
      if (item === undefined) return found;
      found = item.range?.[0] ?? found;
      node = item;
    } else return found;
  }
  return found;
}
