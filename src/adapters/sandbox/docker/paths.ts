/**
 * Where a container's things lie on the host. A directory of this kind belongs to one container from its making to
 * its removal; one kept ready moves, directory and all, to the instance that it is given to.
 *
 *   containers/identity                 names this data directory towards the engine
 *   containers/<instance>/launch.json   whose it is, and which container; holds no secret
 *                         claim          the process that is handing it over
 *                         handing       written when that begins
 *                         assigned      written when the keeper has its assignment
 *                         verdict       why it was ended, when it did not end by itself
 *                         control/      in the container, read-only: the fifos, and the texts given as files
 *   warm/<id>/                          the same, for a container that waits: `workspace/` is its workspace,
 *                                       `owner` the process that keeps it ready
 */

import { chmodSync, existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { safeId } from "../../../lib/files/agent-files.ts";
import type { ExitReason } from "../instance.ts";

export class ContainerPaths {
  readonly instances: string;
  readonly warm: string;
  readonly programs: string;
  readonly gateway: string;
  readonly egress: string;
  readonly workspaces: string;
  /** Tells this data directory's containers from those of others on the same engine. */
  readonly identity: string;

  /** Makes what all containers share. @param dataDir absolute, and the same path for the engine */
  constructor(readonly dataDir: string) {
    this.instances = join(dataDir, "containers");
    this.warm = join(dataDir, "warm");
    this.programs = join(dataDir, "programs");
    this.gateway = join(dataDir, "gateway");
    this.egress = join(dataDir, "egress");
    this.workspaces = join(dataDir, "workspaces");
    for (const path of [this.instances, this.warm]) mkdirSync(path, { recursive: true, mode: 0o700 });
    for (const path of [this.programs, this.gateway, this.egress, this.workspaces]) {
      mkdirSync(path, { recursive: true });
      // Agents must be able to pass through here, under any umask of the service.
      chmodSync(path, 0o755);
    }
    this.identity = identityOf(join(this.instances, "identity"));
  }

  instance(instanceId: string): string {
    return join(this.instances, safeId(instanceId));
  }

  workspace(executionId: string): string {
    return join(this.workspaces, safeId(executionId));
  }
}

function identityOf(path: string): string {
  if (!existsSync(path)) {
    const draft = `${path}.${crypto.randomUUID()}`;
    writeFileSync(draft, crypto.randomUUID(), { mode: 0o600 });
    try {
      linkSync(draft, path);
    } catch (error) {
      // Another node was first.
      if (!existsSync(path)) throw error;
    }
    rmSync(draft);
  }
  return readFileSync(path, "utf8");
}

/** `launch.json` */
export interface LaunchRecord {
  readonly executionId: string;
  /** The container's name with the engine. */
  readonly container: string;
  readonly diskBytes: number;
  /** `NAME=value` that the image gives; null until it is known. */
  readonly imageEnvironment: readonly string[] | null;
  /** Host directory that counts as the instance's disk, beside its writable layer. */
  readonly measured: string | null;
  /** A command: of its output the end is kept. Absent: an agent's instance, of which it is the start and the end. */
  readonly isCommand?: boolean;
}

/** Why an instance was ended; the first to say counts. */
export type Verdict = Extract<ExitReason, "terminated" | "disk_exceeded">;

/** @returns false when there is a verdict already, or nothing left to judge */
export function writeVerdict(directory: string, verdict: Verdict): boolean {
  try {
    writeFileSync(join(directory, "verdict"), verdict, { flag: "wx", mode: 0o600 });
    return true;
  } catch {
    return false;
  }
}

export function readVerdict(directory: string): Verdict | null {
  try {
    const text = readFileSync(join(directory, "verdict"), "utf8");
    return text === "disk_exceeded" ? "disk_exceeded" : "terminated";
  } catch {
    return null;
  }
}

export const isAssigned = (directory: string) => existsSync(join(directory, "assigned"));
