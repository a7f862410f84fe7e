/** The master key of a development node: made at its first start, kept in the data folder. */
import { randomBytes } from "node:crypto";
import { link, mkdir, open, readFile, unlink } from "node:fs/promises";
import { join } from "node:path";
import { StartFailure } from "../../lib/start-failure.ts";
import { type MasterKey, masterKeyOf } from "./envelope.ts";

const fileName = "master-key";

/**
 * The key in `<folder>/master-key`; nodes that share the folder and start at once agree on one.
 * @throws StartFailure when the file holds something else
 */
export async function masterKeyFromFile(folder: string): Promise<MasterKey> {
  const file = join(folder, fileName);
  const text = (await read(file)) ?? (await create(folder, file));
  try {
    return masterKeyOf(text);
  } catch {
    throw new StartFailure(`${file} holds no key of 32 bytes in base64: restore it, or set SVC_MASTER_KEY.`);
  }
}

/**
 * Written whole under a name of its own, then linked: a name that exists is not linked over, so the first one
 * stands, and no node reads half of it.
 */
async function create(folder: string, file: string): Promise<string> {
  await mkdir(folder, { recursive: true });
  const draft = `${file}.${crypto.randomUUID()}`;
  await writeDurably(draft, `${randomBytes(32).toString("base64")}\n`);
  try {
    await link(draft, file);
    await syncFolder(folder);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
  return (await read(file)) ?? "";
}

async function read(file: string): Promise<string | null> {
  try {
    return (await readFile(file, "utf8")).trim();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw error;
  }
}

/** Readable for the owner only, and on the disk before anything is encrypted with it. */
async function writeDurably(file: string, text: string): Promise<void> {
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const codeOf = (error: unknown): unknown => (error instanceof Error && "code" in error ? error.code : null);
