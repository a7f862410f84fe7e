/** How much disk an instance has written: its implicit workspace, its writable layer, and what it deleted but holds open. */
import { readdirSync, readlinkSync, statSync } from "node:fs";
import { EngineError } from "../instance.ts";
import { deletedButHeld, diskUsage } from "../process/supervisor/disk.ts";
import type { Engine } from "./engine.ts";

/** Below 5 s, the measuring itself included. */
export const diskCheckMs = 3_000;

export interface Measured {
  readonly container: string;
  /** Host directory, or null where only the writable layer counts. */
  readonly directory: string | null;
  /** A place on the file system of the volumes: what was deleted in one of them shows only here. */
  readonly besideVolumes: string;
}

/** @returns bytes; null when nothing can be told now */
export async function writtenBytes(
  engine: Engine,
  { container, directory, besideVolumes }: Measured,
): Promise<number | null> {
  try {
    const state = await engine.state(container, { size: true });
    if (state === null) return null;
    const pids = state.pid > 0 ? processesBeside(state.pid) : [];
    const workspace = (await diskUsage(directory === null ? [] : [directory], pids, [besideVolumes])) ?? 0;
    return workspace + (state.writtenBytes ?? 0) + (await deletedInLayer(state.pid, pids));
  } catch (error) {
    if (error instanceof EngineError) return null;
    throw error;
  }
}

/** Host processes in the process namespace of one of them. */
function processesBeside(pid: number): number[] {
  const namespaceOf = (name: number | string) => {
    try {
      return readlinkSync(`/proc/${name}/ns/pid`);
    } catch {
      return null;
    }
  };
  const own = namespaceOf(pid);
  if (own === null || own === namespaceOf("self")) return [];
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name) && namespaceOf(name) === own)
    .map(Number);
}

/** Deleted files on the container's own root that something still holds. */
async function deletedInLayer(pid: number, pids: readonly number[]): Promise<number> {
  const root = pid > 0 ? statSync(`/proc/${pid}/root/`, { throwIfNoEntry: false }) : undefined;
  return root === undefined ? 0 : deletedButHeld(new Set([root.dev]), pids);
}
