/** Where in a YAML text a finding belongs: the service names a path, the editor needs a line. */
import { isMap, isNode, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { Issue } from "../../../programs/client/errors.ts";
import type { Finding } from "../../kit/code/editor.tsx";

type Found = Pick<Issue, "path" | "message"> & { readonly line?: number | null };

/** `spec.tools[0].name` → `["spec", "tools", "0", "name"]` */
const partsOf = (path: string): string[] => path.split(/[.[\]]+/).filter((part) => part !== "");

/**
 * @param found findings as the service tells them
 * @returns each at its line; one whose path is not in the text, at the nearest part that is
 */
export function located(text: string, found: readonly Found[], severity: Finding["severity"] = "error"): Finding[] {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return found.map(({ path, message, line }) => ({
    line: line ?? lineOf(document.contents, partsOf(path), lines),
    message: path === "" ? message : `${path}: ${message}`,
    severity,
  }));
}

/** What the text itself is wrong in, before the service sees it. */
export function brokenIn(text: string): Finding[] {
  const lines = new LineCounter();
  return parseDocument(text, { lineCounter: lines }).errors.map(({ message, pos }) => ({
    line: lines.linePos(pos[0]).line,
    message: message.split("\n")[0] ?? message,
    severity: "error",
  }));
}

function lineOf(root: unknown, parts: readonly string[], lines: LineCounter): number {
  let at: unknown = root;
  let offset = isNode(root) ? (root.range?.[0] ?? 0) : 0;
  for (const part of parts) {
    const next = below(at, part);
    if (next === null) break;
    offset = next.offset ?? offset;
    at = next.value;
  }
  return Math.max(1, lines.linePos(offset).line);
}

function below(at: unknown, part: string): { readonly value: unknown; readonly offset: number | undefined } | null {
  if (isMap(at)) {
    const pair = at.items.find(({ key }) => isScalar(key) && String(key.value) === part);
    return pair === undefined ? null : { value: pair.value, offset: (pair.key as Node).range?.[0] };
  }
  if (!isSeq(at)) return null;
  const value = at.items[Number(part)];
  return isNode(value) ? { value, offset: value.range?.[0] } : null;
}
