/** This program as a file: what a service starts, and what an update replaces. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./command/exit.ts";

/** Files inside a program that was built to a single one have this root. */
const isSingleFile = import.meta.dir.startsWith("/$bunfs/");

/** The words that start it, before a verb. */
export const programCommand = (): readonly string[] =>
  isSingleFile
    ? [realpathSync(process.execPath), "edge"]
    : [process.execPath, join(import.meta.dir, "main.ts"), "edge"];

/** Defined by the build of `svc-edge` (release/build.ts), which alone is released; `svc` has these verbs as well. */
declare const SVC_EDGE_VERSION: string | undefined;

/** The file of this program that releases replace; null where it runs from its sources, or is the whole of `svc`. */
export const builtProgram = (): string | null =>
  isSingleFile && typeof SVC_EDGE_VERSION === "string" ? realpathSync(process.execPath) : null;

/** The file that an update replaces. @throws Failure `conflict` where the program runs from its sources */
export function programFile(): string {
  const program = builtProgram();
  if (program !== null) return program;
  throw new Failure("conflict", "only the program svc-edge is updated, once it was built as one file", "not_built");
}
