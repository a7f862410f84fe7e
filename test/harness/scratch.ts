/** Directories for tests, removed by the preload once the tests are through. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

let root: string | undefined;

/** A fresh, empty directory. */
export function scratch(name: string): string {
  root ??= mkdtempSync(join(tmpdir(), "svc-test-"));
  return mkdtempSync(join(root, `${name}-`));
}

export function removeScratch(): void {
  if (root !== undefined) rmSync(root, { recursive: true, force: true });
  root = undefined;
}
