/** Which file a command names, found as a shell finds it. */
import { resolve } from "node:path";
import { isDirectory, isExecutable, isFile } from "./path-kind.ts";

export type Found =
  | { readonly ok: true; readonly path: string }
  /** `code` is what a shell would exit with. */
  | { readonly ok: false; readonly code: 126 | 127; readonly reason: string };

/**
 * @param name       a path when it holds a slash, else looked for in `searchPath`
 * @param searchPath directories as in PATH; an empty one is `cwd`
 * @param cwd        where the program will run
 */
export function findProgram(name: string, searchPath: string, cwd: string): Found {
  if (!isDirectory(cwd)) return { ok: false, code: 126, reason: `cannot enter ${cwd}` };
  const candidates = name.includes("/")
    ? [resolve(cwd, name)]
    : searchPath.split(":").map((directory) => resolve(cwd, directory, name));
  const there =
    name === "" ? [] : candidates.filter((path) => isFile(path) || (name.includes("/") && isDirectory(path)));
  const path = there.find((one) => isFile(one) && isExecutable(one));
  if (path !== undefined) return { ok: true, path };
  const code = there.length > 0 ? 126 : 127;
  return { ok: false, code, reason: `${name}: ${code === 126 ? "cannot be executed" : "not found"}` };
}
