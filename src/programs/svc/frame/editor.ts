/** A text in the person's own editor. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure, usageFailure } from "../process/exit.ts";
import { type Io, variable } from "../process/io.ts";

const fileMode = 0o600;

export interface Edited {
  readonly text: string;
  /** Where it lies until it is discarded: a refused edit is not lost. */
  readonly path: string;
  readonly discard: () => Promise<void>;
}

/**
 * Opens `$VISUAL` or `$EDITOR`, else `vi`.
 * @param name of the file, whose ending editors go by
 * @throws Failure `usage` without a terminal, `failed` where the editor fails
 */
export async function edited(io: Io, name: string, text: string): Promise<Edited> {
  const editor = variable(io, "VISUAL") ?? variable(io, "EDITOR");
  if (!io.isInteractive && editor === null)
    throw usageFailure(
      "There is no terminal to edit at",
      "`svc agents get NAME --manifest` and `svc agents deploy FILE` do it without one.",
    );
  const folder = await mkdtemp(join(variable(io, "TMPDIR") ?? tmpdir(), "svc-edit-"));
  const path = join(folder, name);
  await writeFile(path, text, { mode: fileMode });
  // An editor may have options of its own.
  const code = await io.start(["/bin/sh", "-c", `${editor ?? "vi"} "$0"`, path]);
  if (code !== 0) {
    await rm(folder, { recursive: true, force: true });
    throw new Failure("failed", `The editor ended with ${code ?? "an error"}; nothing was changed`);
  }
  const discard = () => rm(folder, { recursive: true, force: true });
  return { text: await readFile(path, "utf8"), path, discard };
}
