/** How a program that replaces the bootstrap is run (docs/reference/gateway.md). */
import { extname } from "node:path";
import { isExecutable, isFile } from "../path-kind.ts";

const interpreters: Readonly<Record<string, readonly string[]>> = {
  ".py": ["python3", "python"],
  ".js": ["node", "bun"],
  ".mjs": ["node", "bun"],
  ".sh": ["sh"],
};

export type Command =
  | { readonly ok: true; readonly argv: readonly string[] }
  /** `code` is what a shell would exit with. */
  | { readonly ok: false; readonly code: 126 | 127; readonly reason: string };

/**
 * @param path       absolute
 * @param searchPath directories that an interpreter is looked for in, as in PATH
 */
export function commandFor(path: string, searchPath: string): Command {
  if (!path.startsWith("/") || !isFile(path)) return { ok: false, code: 127, reason: `no such program: ${path}` };
  if (isExecutable(path)) return { ok: true, argv: [path] };
  const candidates = interpreters[extname(path)];
  if (candidates === undefined) return { ok: false, code: 126, reason: `not executable: ${path}` };
  for (const name of candidates) {
    const interpreter = Bun.which(name, { PATH: searchPath });
    if (interpreter !== null) return { ok: true, argv: [interpreter, path] };
  }
  return { ok: false, code: 126, reason: `no interpreter for ${path}: ${candidates.join(" or ")} is not there` };
}
