/**
 * Where an instance's things lie. Everything needed to find an instance again, its output and its end
 * included, is a file in its directory, so any node on the same data directory can go on with it.
 *
 *   instances/<instance>/launch.json      what to run, written before anything runs; holds the token
 *                        claim            made exclusively by the process that decides: a supervisor that
 *                                         will run it, or a node that found it never started
 *                        supervisor.json  the supervisor's process, once it can be signalled
 *                        stdout.<offset>  output in segments named by their first byte's place
 *                        end.json         a request to end, with the grace
 *                        exit.json        how it ended; written last
 *   workspaces/<execution>/               behind `/workspace`
 *                        prompt, startup  texts that the program gets as files
 *   gateway/t-<tenant>/<node>.sock        the nodes' gateway sockets, mode 0666 (tokens guard them)
 *   egress/t-<tenant>/<node>.sock         the nodes' egress proxies' sockets, likewise
 */

import { chmodSync, closeSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { safeId } from "../../../lib/files/agent-files.ts";
import { lacksRoom } from "../../../lib/files/disk-room.ts";
import type { ProcessIdentity } from "../../../lib/processes/process-table.ts";
import type { ExitReason, InstanceLimits } from "../instance.ts";
import type { CgroupParents } from "./cgroup.ts";

export class Layout {
  readonly instances: string;
  readonly workspaces: string;
  readonly gateway: string;
  readonly egress: string;
  readonly etc: string;
  /** Around the volumes, what hides files from a run, and the commands' directories. */
  readonly folders: readonly string[];

  /** @param dataDir absolute path */
  constructor(readonly dataDir: string) {
    this.instances = join(dataDir, "instances");
    this.workspaces = join(dataDir, "workspaces");
    this.gateway = join(dataDir, "gateway");
    this.egress = join(dataDir, "egress");
    this.etc = join(dataDir, "sandbox-etc");
    this.folders = ["volumes", "hidden", "commands"].map((name) => join(dataDir, name));
  }

  instance(instanceId: string): string {
    return join(this.instances, safeId(instanceId));
  }

  workspace(executionId: string): string {
    return join(this.workspaces, safeId(executionId));
  }
}

/** What the supervisor is told; `launch.json`. */
export interface LaunchPlan {
  readonly instanceId: string;
  readonly executionId: string;
  /** Host directory whose content counts as the instance's disk; null when only what it deleted and holds does. */
  readonly measured: string | null;
  readonly limits: InstanceLimits;
  readonly cgroups: CgroupParents | null;
  /** True when the command is bubblewrap, whose end ends everything inside. */
  readonly contained: boolean;
  /** What the supervisor runs; holds no secret, for the whole machine can read it in the process list. */
  readonly command: readonly string[];
  /** Bubblewrap's options, which the command reads from a descriptor; null without bubblewrap. */
  readonly options: string | null;
  /** File of the filter of system calls; null for none. */
  readonly filter: string | null;
  /** Absolute; bounds what `sources` may be, and lies on the file system that the instance writes to. */
  readonly dataDir: string;
  /** What is mounted: paths without a link in them. */
  readonly sources: readonly string[];
  /** Those of them that are directories which an operator opens; absent: none. */
  readonly hostSources?: readonly string[];
  /** The command gets them as descriptors from `descriptors.firstSource` on; else they are only looked at. */
  readonly mountsOpened: boolean;
  /** Shell text that the command reads from descriptor 3 to become the program with its environment. */
  readonly start: string;
  /** A command: of its output the end is kept. Absent: an agent's instance, of which it is the start and the end. */
  readonly isCommand?: boolean;
  /** `NAME=value` that only this execution's processes carry, where no namespace holds them together. */
  readonly mark: string | null;
  /** Host user and group of the program where that is not the service's own. */
  readonly owner: number | null;
  /** File behind standard input, or null for none. */
  readonly stdin: string | null;
}

/** Host paths of what instances run. */
export interface ProgramFiles {
  readonly bun: string;
  readonly bootstrap: string;
  readonly init: string;
  readonly hand: string;
  /** Run instead of the bootstrap. */
  readonly program?: readonly string[];
}

export interface PlannedLaunch {
  readonly plan: LaunchPlan;
  /** Files to write beside the plan: name → content. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables that could not be handed over. */
  readonly leftOut: readonly string[];
}

/** `supervisor.json` */
export interface SupervisorRecord extends ProcessIdentity {
  /** Control groups of this instance, for the cleanup after a dead supervisor. */
  readonly cgroups: readonly string[];
}

/** `end.json` */
export interface TerminationRequest {
  readonly graceMs: number;
}

/** `exit.json` */
export interface ExitRecord {
  readonly reason: ExitReason;
  readonly exitCode: number | null;
}

/**
 * Takes the decision over an instance's start; false when another process has it.
 * @throws when there is no room for it, and nothing was taken
 */
export function takeClaim(directory: string): boolean {
  try {
    // Empty, so that it is there as a whole or not at all.
    closeSync(openSync(join(directory, "claim"), "wx", 0o600));
    return true;
  } catch (error) {
    if (lacksRoom(error)) throw error;
    return false;
  }
}

/**
 * Makes the directories that all instances share. Those around the workspaces and volumes are closed to the agents'
 * user, in spite of the modes that they had before: should one of them ever be mounted, nothing in it can be reached.
 */
export function prepareLayout(layout: Layout): void {
  for (const path of [layout.instances, layout.workspaces, ...layout.folders]) {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    chmodSync(path, 0o700);
  }
  for (const path of [layout.gateway, layout.egress, layout.etc]) {
    mkdirSync(path, { recursive: true });
    // For every umask of the service.
    chmodSync(path, 0o755);
  }
}
