/** What belongs to tool servers on a host, and what killed nodes left of them. */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Instances } from "../../adapters/sandbox/port.ts";
import { isUuid } from "../../http/route.ts";
import type { HeldByRuns } from "../executions/port.ts";
import { ownerOf } from "./permission.ts";
import type { ToolServerRecords } from "./records.ts";

/** A folder is made a moment before its sandbox is on record, ms. */
const youngMs = 300_000;

export interface Leftovers extends HeldByRuns {
  /** Names of the folders that no program works with. */
  folders(directory: string): Promise<string[]>;
}

/** Sandboxes are launched under the ids of their servers, as if those were runs. */
export function leftovers(
  records: Pick<ToolServerRecords, "held">,
  instances: Pick<Instances, "inspect">,
  /** Unix milliseconds. */
  now: () => number,
): Leftovers {
  return {
    async known(ids) {
      const held = await records.held(ids.filter(isUuid));
      return held.map((server) => ({ id: server.id, tenant: ownerOf(server), ended_at: null }));
    },

    async wantedInstances(_tenant, ids) {
      const held = await records.held(ids.filter(isUuid));
      return new Set(held.flatMap(({ sandboxes }) => sandboxes));
    },

    async folders(directory) {
      const left: string[] = [];
      for (const name of (await readdir(directory).catch(() => [])).filter(isUuid)) {
        const made = await stat(join(directory, name)).catch(() => null);
        if (made === null || now() - made.mtimeMs < youngMs) continue;
        if ((await instances.inspect(name)) !== "running") left.push(name);
      }
      return left;
    },
  };
}
