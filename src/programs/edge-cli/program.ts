/** This program as a file: what a service starts, and what an update replaces. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./command/exit.ts";

/** Files inside a program that was built to a single one have this root. */
const isSingleFile = import.meta.dir.startsWith("/$bunfs/");

/** The words that start it, before a verb. */
export const programCommand = (): readonly string[] =>
  isSingleFile ? [programFile(), "edge"] : [process.execPath, join(import.meta.dir, "main.ts"), "edge"];

/** The file that an update replaces. @throws Failure `conflict` where the program runs from its sources */
export function programFile(): string {
  if (isSingleFile) return realpathSync(process.execPath);
  throw new Failure("conflict", "this program runs from its sources; only one that was built is updated", "not_built");
}
