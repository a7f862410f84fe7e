/** Reads the project's own sources for the rules of the house. */

import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

const root = join(import.meta.dir, "../..");

export interface Source {
  /** Path from the project's root. */
  readonly path: string;
  readonly text: string;
  /** Specifiers as written, type-only imports included. */
  readonly imports: readonly string[];
}

/** Every TypeScript file under the folders. */
export async function readSources(...folders: string[]): Promise<Source[]> {
  const paths = folders.flatMap((folder) => [...new Glob(`${folder}/**/*.{ts,tsx}`).scanSync(root)]).sort();
  return Promise.all(
    paths.map(async (path) => {
      const text = await Bun.file(join(root, path)).text();
      return { path, text, imports: importsOf(text) };
    }),
  );
}

/** The specifiers of static, dynamic and re-exporting imports. */
export function importsOf(text: string): string[] {
  const pattern = /(?:\bfrom|^import|\bimport\s*\(|\bimport\()\s*"([^"]+)"/gm;
  return [...text.matchAll(pattern)].map((match) => match[1] ?? "");
}

/** The file that a relative import means, from the project's root; null for packages. */
export function resolveImport(importer: string, specifier: string): string | null {
  return specifier.startsWith(".") ? normalize(join(dirname(importer), specifier)) : null;
}
