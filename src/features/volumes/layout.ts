/**
 * Where volumes lie on this host.
 *
 *   workspaces/<id>      what goes with a run: the implicit workspace (id of the execution), ephemeral volumes
 *   volumes/<id>         what stays: volumes of users and persistent volumes of agents
 *   volumes/.uploads/    files on their way into a volume
 *   volumes/.trash/      what was deleted from volumes and is still to be taken away
 *   volumes/.staged/     of copies of volumes of an object store, which lie in volumes/<id>: what they were in line with
 *   hidden/<execution>/  empty directories that stand in place of what a run may not see
 */

import { lstatSync } from "node:fs";
import { chown, lstat, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { MountPlan } from "../../../actors/execution/start/plan.ts";
import { isUuid } from "../../http/route.ts";
import { agentUser, safeId } from "../../lib/files/agent-files.ts";
import { overAgentsFiles } from "../../lib/processes/agents-programs.ts";

/** No upload takes this long between two of its bytes. */
const staleUploadMs = 3600_000;

export class VolumeLayout {
  readonly workspaces: string;
  readonly volumes: string;
  readonly hidden: string;

  /** @param dataDir absolute path @param storageRoot absolute path of what stays */
  constructor(dataDir: string, storageRoot: string = join(dataDir, "volumes")) {
    this.workspaces = join(dataDir, "workspaces");
    this.volumes = storageRoot;
    this.hidden = join(dataDir, "hidden");
  }

  /** Host directory of a volume of a run. */
  directoryOf({ storage_class, volume_id }: Pick<MountPlan, "storage_class" | "volume_id">): string {
    return storage_class === "ephemeral" ? this.workspace(volume_id) : this.volume(volume_id);
  }

  workspace(id: string): string {
    return join(this.workspaces, safeId(id));
  }

  volume(id: string): string {
    return join(this.volumes, safeId(id));
  }

  get uploads(): string {
    return join(this.volumes, ".uploads");
  }

  get trash(): string {
    return join(this.volumes, ".trash");
  }

  /** What is known of copies of volumes whose bytes lie elsewhere, and files on their way into those. */
  get staged(): string {
    return join(this.volumes, ".staged");
  }

  /** What crashes left of uploads. @param now Unix milliseconds */
  async removeOldUploads(now: number): Promise<void> {
    for (const name of await readdir(this.uploads).catch(() => [])) {
      const path = join(this.uploads, name);
      const old = now - (lstatSync(path, { throwIfNoEntry: false })?.mtimeMs ?? now) > staleUploadMs;
      if (old) await rm(path, { force: true });
    }
  }

  hiddenOf(executionId: string): string {
    return join(this.hidden, safeId(executionId));
  }
}

/** Makes a volume's directory, owned by the agents' user where this process may give it away. */
export async function makeVolumeDirectory(path: string): Promise<void> {
  const made = await mkdir(path, { recursive: true, mode: 0o755 });
  const { uid } = await lstat(path);
  if (process.getuid?.() === 0 && (made !== undefined || uid === 0)) await chown(path, agentUser, agentUser);
}

export function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

/** Ids of the directories in one of the layout's folders. */
export async function idsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  return names.filter((name) => isUuid(name) && name === name.toLowerCase());
}

export interface Usage {
  readonly bytes: number;
  readonly files: number;
  /** Files and everything else that takes a place of its own in the file system. */
  readonly entries: number;
}

/**
 * Sums up the sizes of all regular files, in a process of its own because neither their number nor their depth is
 * ours to choose. Links are not followed, other file systems not entered.
 */
export async function measure(path: string): Promise<Usage> {
  if (!isDirectory(path)) return { bytes: 0, files: 0, entries: 0 };
  const list =
    process.platform === "linux" ? ["-printf", "%y%s\\n"] : ["-type", "f", "-exec", "stat", "-f", "f%z", "{}", "+"];
  return overAgentsFiles(["find", path, "-xdev", ...list], summed);
}

/** @param output a line for each entry: the letter of its type and its size */
async function summed(output: ReadableStream<Uint8Array>): Promise<Usage> {
  let [bytes, files, entries, rest] = [0, 0, 0, ""];
  const decoder = new TextDecoder();
  for await (const chunk of output) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    entries += lines.length;
    for (const line of lines) {
      if (!line.startsWith("f")) continue;
      files += 1;
      bytes += Number(line.slice(1));
    }
  }
  return { bytes, files, entries };
}
