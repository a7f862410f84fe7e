/**
 * Puts a program in the place of another one, so that a process that dies at any moment leaves a program that works:
 * the name always means the whole former or the whole new file.
 */
import { chmodSync, constants, copyFileSync, linkSync, type Stats } from "node:fs";
import { type FileHandle, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { ProgramFile } from "../../../../../actors/edge/release.ts";
import { identify, isAlive, type ProcessIdentity } from "../../../../lib/processes/process-table.ts";
import { Failure } from "../command/exit.ts";

export interface InstallOptions {
  /** Absolute, without links. */
  readonly program: string;
  readonly file: Pick<ProgramFile, "size" | "sha256">;
  /** What the new program must say of itself. */
  readonly version: string;
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Called before the rename: what must be known should this process die right after it. */
  readonly before?: (() => Promise<void>) | undefined;
  /** Called at each step by its name. */
  readonly reached?: ((step: InstallStep) => void) | undefined;
}
export type InstallStep = "locked" | "begun" | "downloaded" | "probed" | "kept" | "renamed";

const previousOf = (program: string): string => `${program}.previous`;
const draftOf = (program: string): string => `${program}.next`;
const lockOf = (program: string): string => `${program}.update-lock`;

const probeMs = 20_000;

/**
 * The former program stays as `<program>.previous`.
 *
 * @throws Failure `authentication` for a wrong size, digest or version, `conflict` when the place is not writable or
 *   another update is under way, and what `pieces` throws; then the program is untouched
 */
export async function installProgram(options: InstallOptions): Promise<void> {
  const { program, file, version, pieces, before, reached = () => {} } = options;
  const former = await writable(program, () => stat(program));
  await writable(program, () => lock(program));
  try {
    reached("locked");
    await download(draftOf(program), program, file, pieces, former, reached);
    reached("downloaded");
    await probe(draftOf(program), version);
    reached("probed");
    await writable(program, async () => {
      await keepFormer(program);
      reached("kept");
      await before?.();
      await rename(draftOf(program), program);
      await syncFolder(program);
    });
    reached("renamed");
  } finally {
    await rm(draftOf(program), { force: true }).catch(() => {});
    await rm(lockOf(program), { force: true }).catch(() => {});
  }
}

/**
 * Puts the former program back. The new one is gone then.
 * @returns false when there is no former one: it was put back before
 */
export async function putBack(program: string): Promise<boolean> {
  try {
    await rename(previousOf(program), program);
    await syncFolder(program);
    return true;
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw notWritable(program, error);
  }
}

/** One update of a program at a time. What a process left that has died counts for nothing. */
async function lock(program: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const file = await open(lockOf(program), "wx", 0o600);
      await file.writeFile(JSON.stringify(identify(process.pid)));
      await file.close();
      return;
    } catch (error) {
      if (!isCode(error, "EEXIST")) throw error;
      const holder = await Bun.file(lockOf(program))
        .json()
        .catch(() => null);
      if (attempt > 1 || (holder !== null && isAlive(holder as ProcessIdentity)))
        throw new Failure("conflict", `another update of ${program} is under way`, "update_under_way");
      await rm(lockOf(program), { force: true });
    }
  }
}

async function download(
  draft: string,
  program: string,
  { size, sha256 }: InstallOptions["file"],
  pieces: AsyncIterable<Uint8Array>,
  former: Stats,
  reached: (step: InstallStep) => void,
): Promise<void> {
  await writable(program, () => rm(draft, { force: true }));
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL;
  const file: FileHandle = await writable(program, () => open(draft, flags, 0o700));
  try {
    reached("begun");
    const hash = new Bun.CryptoHasher("sha256");
    let written = 0;
    for await (const piece of pieces) {
      written += piece.length;
      if (written > size) throw wrong(`the program is larger than the ${size} bytes that the release says`);
      hash.update(piece);
      await writable(program, () => file.writeFile(piece));
    }
    if (written !== size) throw wrong(`the program has ${written} bytes, the release says ${size}`);
    if (hash.digest("hex") !== sha256) throw wrong("the program's digest is not the one that the release says");
    await writable(program, () => file.sync());
  } finally {
    await file.close();
  }
  chmodSync(draft, (former.mode & 0o777) | 0o100);
}

/** It starts on this machine, and is what the release says. @throws Failure `authentication` */
async function probe(draft: string, version: string): Promise<void> {
  let said = "";
  try {
    const child = Bun.spawn([draft, "--version"], {
      env: { PATH: "/usr/bin:/bin" },
      stdio: ["ignore", "pipe", "ignore"],
      timeout: probeMs,
      killSignal: "SIGKILL",
    });
    said = (await new Response(child.stdout).text()).slice(0, 256).trim();
    await child.exited;
  } catch (error) {
    throw wrong(`the new program does not start: ${error instanceof Error ? error.message : error}`);
  }
  if (said !== version) throw wrong(`the new program says it is ${said || "nothing"}, the release says ${version}`);
}

/** Under its second name the former file lives on when the first one means another. */
async function keepFormer(program: string): Promise<void> {
  const kept = `${previousOf(program)}.draft`;
  await rm(kept, { force: true });
  try {
    linkSync(program, kept);
  } catch {
    // A file system without a second name for a file.
    copyFileSync(program, kept);
  }
  await rename(kept, previousOf(program));
  // Where both names were of one file already, a rename leaves both.
  await rm(kept, { force: true });
}

/** A rename counts once its folder is on the disk. */
async function syncFolder(program: string): Promise<void> {
  const folder = await open(dirname(program), "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function writable<T>(program: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof Failure ? error : notWritable(program, error);
  }
}

const notWritable = (program: string, error: unknown): Failure => {
  const reason = error instanceof Error ? error.message : String(error);
  return new Failure("conflict", `${program} cannot be replaced: ${reason}`, "program_not_writable");
};
const wrong = (message: string): Failure => new Failure("authentication", message, "bad_program");
const isCode = (error: unknown, code: string): boolean =>
  error instanceof Error && "code" in error && error.code === code;
