/** What runs have done: their hosts are asked, by the ids that stand at the places of their targets. */

import type { Target } from "../../../../actors/edge/target.ts";
import { isEnd } from "../../../../actors/edge-host/command.ts";
import { edgeHost } from "../../../../actors/edge-host/host.ts";
import { go, offer, resolve, stop } from "../../../../actors/fleet-run/activities.ts";
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import type { Holding } from "../../../../actors/fleet-run/words.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { sideBySide } from "../../../lib/side-by-side.ts";
import { type Activity, type ActivityContext, implement, type Runtime, Terminal } from "../../../runtime/port.ts";
import { type Commands, commandId } from "../commands/port.ts";
import { type ResolutionOptions, type Resolved, resolveTarget } from "./asking/resolution.ts";
import type { RunRecords } from "./records.ts";

export interface FleetActivitiesOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: RunRecords;
  readonly commands: Pick<Commands, "statuses">;
  readonly resolution: ResolutionOptions;
  readonly holdsOf: (tenant: string) => Promise<readonly Holding[]>;
  /** Told of hosts that a run leaves out. */
  readonly skipping: (skipped: Resolved["skipped"]) => void;
}

/** Hosts that are asked at once. */
const atOnce = 128;
const tries = { retry: { attempts: 5, firstDelayMs: 500 } } as const;

interface Placed {
  readonly idx: number;
  readonly hostId: string;
  readonly commandId: string;
}

export function fleetActivities(options: FleetActivitiesOptions): readonly Activity[] {
  const { runtime, records, commands, resolution, holdsOf, skipping } = options;
  const hosts = runtime.of(edgeHost);

  async function stateOf({ tenant, key }: ActivityContext["actor"]) {
    const state = await runtime.of(fleetRun).at(tenant, key).read();
    if (state === null) throw new Terminal("not_found", "The run is gone");
    return state;
  }

  /** Which of the stored resolutions the run goes by: the later one, once there is one. */
  async function placed(
    actor: ActivityContext["actor"],
    indices: readonly number[],
    attempt: number,
  ): Promise<Placed[]> {
    const { tenant, key } = actor;
    const { resolution: which } = await stateOf(actor);
    const rows = await records.targets(tenant, key, which, indices);
    return rows.map(({ idx, node_id }) => ({ idx, hostId: node_id, commandId: commandId(key, idx, attempt) }));
  }

  /** Hosts remember the last ends alone: a portion that is handed over once more, much later, must start none again. */
  async function notEnded({ tenant }: ActivityContext["actor"], all: readonly Placed[]): Promise<readonly Placed[]> {
    const statuses = await commands.statuses(
      tenant,
      all.map(({ commandId }) => commandId),
    );
    return all.filter(({ commandId }) => !isEnd(statuses.get(commandId)));
  }

  return [
    implement(offer, { concurrency: 16, ...tries }, async (input, { actor }) => {
      const { indices, attempt, ...same } = input;
      const { tenant, key } = actor;
      const full: number[] = [];
      const all = await notEnded(actor, await placed(actor, indices, attempt));
      await sideBySide(all, atOnce, async ({ idx, hostId, commandId }) => {
        const body = { command_id: commandId, run_id: key, idx, attempt, ...same };
        const { outcome } = await hosts.at(tenant, hostId).ask("offer", body, { repeatable: true });
        if (outcome === "full") full.push(idx);
      });
      return { full: full.sort((one, other) => one - other) };
    }),

    implement(go, { concurrency: 16, ...tries }, async ({ indices, attempt }, { actor }) => {
      const waiting: number[] = [];
      await sideBySide(await placed(actor, indices, attempt), atOnce, async ({ idx, hostId, commandId }) => {
        const asked = hosts.at(actor.tenant, hostId).ask("go", { command_id: commandId }, { repeatable: true });
        if ((await asked).outcome === "waiting") waiting.push(idx);
      });
      return { waiting: waiting.sort((one, other) => one - other) };
    }),

    implement(stop, { concurrency: 16, ...tries }, async ({ indices, attempt, kind, reason }, { actor }) => {
      const { tenant } = actor;
      const all = await placed(actor, indices, attempt);
      await sideBySide(all, atOnce, async ({ hostId, commandId: command_id }) => {
        const host = hosts.at(tenant, hostId);
        if (kind === "withdraw") await host.tellCommitted("withdraw", { command_id });
        else await host.tellCommitted("cancel", { command_id, reason });
      });
      // Hosts that were never given theirs remember that they are not to start it, and tell of nothing.
      const known = await commands.statuses(
        tenant,
        all.map(({ commandId }) => commandId),
      );
      return { unknown: all.filter(({ commandId }) => !known.has(commandId)).map(({ idx }) => idx) };
    }),

    implement(resolve, { concurrency: 8, ...tries }, async (_, { actor }) => {
      const { tenant, key } = actor;
      const holds = [...(await holdsOf(tenant))];
      const known = await records.approved(key);
      if (known !== null) return { ...known, holds };
      const [{ policy }, target, approved] = await Promise.all([
        stateOf(actor),
        records.target(tenant, key),
        records.named(tenant, key),
      ]);
      if (target === null) throw new Terminal("not_found", "The run is gone");
      const meaning = (of: Target) => resolveTarget(resolution, tenant, of, policy, { approved, lenient: true });
      const resolved = await meaning(target)
        .catch((error: unknown) => {
          // Its group is gone: the run keeps the hosts that the group had.
          if (error instanceof Problem && error.code === "group_not_found") return meaning({ Nodes: [...approved] });
          throw error;
        })
        .catch((error: unknown) => {
          // It has grown beyond what a run may have: there is no host to run it on.
          if (error instanceof Problem && error.status < 500) return null;
          throw error;
        });
      skipping(resolved?.skipped ?? []);
      const none = { target, meansAll: false, eligible: [], queued: [], skipped: [] };
      return { ...(await records.approve(tenant, key, resolved ?? none)), holds };
    }),
  ];
}
