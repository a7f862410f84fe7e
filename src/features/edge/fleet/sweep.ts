/** What is done about runs now and then: held up with their tenants, erased once they are old, ended and erased with them. */
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import type { Holding } from "../../../../actors/fleet-run/words.ts";
import type { Tenants } from "../../../identity/tenants/tenants.ts";
import { repeatedly } from "../../../lib/timers.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Commands } from "../commands/port.ts";
import type { RunStreams } from "../run-stream/port.ts";
import type { RunRecords } from "./records.ts";
import type { Settings } from "./settings.ts";

export interface SweepOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: RunRecords;
  readonly commands: Pick<Commands, "eraseRuns">;
  readonly streams: Pick<RunStreams, "erase">;
  readonly settings: Pick<Settings, "stopped">;
  readonly statusOf: Tenants["status"];
  readonly retentionDays: number;
  readonly now: () => number;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

const holdEveryMs = 5000;
const eraseEveryMs = 3_600_000;
const dayMs = 86_400_000;
const pageSize = 500;
const erasedAtOnce = 64;
/** Of one round; what is left is for the next one. */
const mostPortions = 200;
const firstId = "00000000-0000-0000-0000-000000000000";
const holdings: readonly Holding[] = ["dispatch_disabled", "tenant_suspended"];

type Row = Awaited<ReturnType<RunRecords["unfinished"]>>[number];

export function createSweep(options: SweepOptions) {
  const { runtime, records, commands, streams, settings, statusOf, retentionDays, now, warn } = options;
  const runs = runtime.of(fleetRun);

  /** States of these tenants that keep runs from sending. */
  async function holdsOf(tenants: readonly string[]): Promise<(tenant: string) => readonly Holding[]> {
    const [stopped, statuses] = await Promise.all([
      settings.stopped(tenants),
      Promise.all(tenants.map(async (tenant) => [tenant, await statusOf(tenant)] as const)),
    ]);
    const status = new Map(statuses);
    return (tenant) => [
      ...(stopped.has(tenant) ? (["dispatch_disabled"] as const) : []),
      ...(status.get(tenant) === "suspended" ? (["tenant_suspended"] as const) : []),
    ];
  }

  async function hold({ id, tenant, status, pause_reasons }: Row, wanted: readonly Holding[]): Promise<void> {
    if (status !== "running" && status !== "paused") return;
    for (const reason of holdings) {
      const isHeld = pause_reasons.includes(`"${reason}"`);
      if (isHeld === wanted.includes(reason)) continue;
      await runs.at(tenant, id).ask(isHeld ? "unhold" : "hold", { reason }, { repeatable: true });
    }
  }

  /** Runs are held up as their tenants are. @param isMine whether a run is for this node */
  async function holdAll(isMine: (id: string) => boolean): Promise<void> {
    for (let after = firstId; ; ) {
      const rows = await records.unfinished(after, pageSize);
      const wanted = await holdsOf([...new Set(rows.map(({ tenant }) => tenant))]);
      for (const row of rows) if (isMine(row.id)) await hold(row, wanted(row.tenant));
      const last = rows.at(-1)?.id;
      if (last === undefined || rows.length < pageSize) return;
      after = last;
    }
  }

  async function erase(rows: readonly { readonly id: string; readonly tenant: string }[]): Promise<void> {
    for (const [tenant, own] of Map.groupBy(rows, (row) => row.tenant)) {
      const ids = own.map(({ id }) => id);
      await commands.eraseRuns(tenant, ids);
      await streams.erase(ids);
      await Promise.all(ids.map((id) => runs.at(tenant, id).ask("erase", {}, { repeatable: true })));
      await records.eraseRequests(tenant, ids);
    }
  }

  async function eraseOld(): Promise<void> {
    for (let portion = 0; portion < mostPortions; portion++) {
      const before = new Date(now() - retentionDays * dayMs);
      const rows = [...(await records.endedBefore(before, erasedAtOnce)), ...(await records.leftOver(erasedAtOnce))];
      if (rows.length === 0) return;
      await erase(rows);
    }
  }

  const failed = (error: unknown) => warn("edge_fleet_sweep", { error: String(error) });

  return {
    holds: async (tenant: string): Promise<readonly Holding[]> => (await holdsOf([tenant]))(tenant),

    /** After a change of the tenant's settings or status: its runs follow at once. */
    async follow(tenant: string): Promise<void> {
      const wanted = await holdsOf([tenant]);
      for (const id of await records.open(tenant, pageSize)) {
        for (const reason of holdings) {
          const type = wanted(tenant).includes(reason) ? "hold" : "unhold";
          await runs.at(tenant, id).ask(type, { reason }, { repeatable: true });
        }
      }
    },

    start: (): (() => Promise<unknown>) => {
      const stops = [
        repeatedly(holdEveryMs, () => holdAll((id) => runs.isHere(id)), failed),
        repeatedly(eraseEveryMs, eraseOld, failed),
      ];
      return () => Promise.all(stops.map((stop) => stop()));
    },

    /** Cancels what a deleted tenant has under way. Repeatable. @returns whether nothing was */
    async endTenant(tenant: string): Promise<boolean> {
      const ids = await records.open(tenant, pageSize);
      const by = { by: null, reason: "The tenant was deleted" };
      await Promise.all(ids.map((id) => runs.at(tenant, id).ask("cancel", by, { repeatable: true })));
      return ids.length === 0;
    },

    /** Repeatable. @returns whether nothing is left */
    async eraseTenant(tenant: string): Promise<boolean> {
      const ids = await records.all(tenant, erasedAtOnce);
      await erase(ids.map((id) => ({ id, tenant })));
      return ids.length === 0;
    },
  };
}
