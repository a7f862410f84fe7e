/** Runs as they are read: in lists by their rows, one with what became of each of its hosts. */
import { fleetRun } from "../../../../actors/fleet-run/fleet-run.ts";
import { canarySize, type FleetRunState, waveSize, wavesOf } from "../../../../actors/fleet-run/state.ts";
import { endOf, isInFlight } from "../../../../actors/fleet-run/targets.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { type ListText, listText, type Page } from "../../../http/paging.ts";
import type { Runtime } from "../../../runtime/port.ts";
import { type CommandRow, type Commands, commandId } from "../commands/port.ts";
import { maskedArgs } from "./asking/asked.ts";
import type { RunRecords, RunRow, RunsFilter, TargetRow } from "./records.ts";
import type { FleetAttempt, FleetRun, FleetRunDetail, FleetTarget } from "./schema.ts";
import { noRun } from "./service.ts";
import { parsed } from "./stream/composing.ts";

export interface ReadingOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: RunRecords;
  readonly commands: Pick<Commands, "ofTargets" | "args">;
}

/** Places that are looked at together for those whose commands stand so. */
const lookedAtOnce = 500;

export type FleetReading = ReturnType<typeof createReading>;

export function createReading({ runtime, records, commands }: ReadingOptions) {
  /** Commands of these places, by place, each from the first attempt on. */
  async function commandsOf(tenant: string, id: string, places: readonly number[]) {
    const rows = places.length === 0 ? [] : await commands.ofTargets(tenant, id, places);
    return Map.groupBy(rows, ({ idx }) => idx);
  }

  /** Places from `from` on whose hosts stand so, at most so many. */
  async function placesOf(
    tenant: string,
    id: string,
    state: FleetRunState,
    wanted: string | null,
    from: number,
    most: number,
  ) {
    const found: number[] = [];
    for (let at = from; at < state.targets.length && found.length < most; at += lookedAtOnce) {
      const some = Array.from({ length: Math.min(lookedAtOnce, state.targets.length - at) }, (_, nth) => at + nth);
      if (wanted === null) found.push(...some);
      else {
        const open = some.filter((place) => isInFlight(state.targets[place]));
        const rows = await commandsOf(tenant, id, open);
        found.push(...some.filter((place) => statusOf(state, place, rows.get(place) ?? []) === wanted));
      }
    }
    return found.slice(0, most);
  }

  return {
    async list(tenant: string, filter: RunsFilter, page: Page): Promise<ListText<"runs", FleetRun>> {
      const { rows, hasMore } = await records.list(tenant, filter, page);
      const last = rows.at(-1);
      const next = hasMore && last !== undefined ? [last.created_at, last.id] : null;
      return listText("runs", rows.map(textOf), next);
    },

    /** @throws Problem 404 `fleet_run_not_found` */
    async one(tenant: string, id: string, nodeStatus: string | null, page: Page): Promise<FleetRunDetail> {
      const [row, state, args] = await Promise.all([
        records.one(tenant, id),
        runtime.of(fleetRun).at(tenant, id).read(),
        commands.args(tenant, id),
      ]);
      if (row === null || state === null) throw noRun();
      const from = page.after === null ? page.offset : Number.parseInt(page.after[0] ?? "", 10) + 1;
      const start = Number.isSafeInteger(from) && from >= 0 ? from : state.targets.length;
      const places = await placesOf(tenant, id, state, nodeStatus, start, page.limit + 1);
      const shown = places.slice(0, page.limit);
      const [targets, rows] = await Promise.all([
        shown.length === 0 ? [] : records.targets(tenant, id, state.resolution, shown),
        commandsOf(tenant, id, shown),
      ]);
      const last = shown.at(-1);
      const more = places.length > shown.length && last !== undefined;
      // Both texts were written as JSON of these shapes.
      const run = JSON.parse(textOf(row)) as FleetRun;
      const given = JSON.parse(args ?? "{}") as { readonly [name: string]: Json };
      return {
        ...run,
        args: { ...maskedArgs(given) },
        waves: {
          canary: canarySize(state),
          size: Math.min(waveSize(state), state.eligible),
          hosts: state.eligible > 0 ? state.eligible : canarySize(state),
        },
        per_node: targets.map((target) => targetOf(id, state, target, rows.get(target.idx) ?? [])),
        next_cursor: more ? Buffer.from(JSON.stringify([String(last)])).toString("base64url") : null,
      };
    },
  };
}

const textOf = ({ doc, target, skipped }: RunRow): string =>
  `${doc.slice(0, -1)},"target":${target},"skipped":${skipped}}`;

function statusOf(state: FleetRunState, place: number, rows: readonly CommandRow[]): string {
  const mark = state.targets[place];
  const end = endOf(mark ?? "");
  if (end !== null) return end;
  const latest = rows.at(-1);
  const isOpen = isInFlight(mark) && latest?.attempt === state.round + 1;
  return isOpen && ["dispatched", "running"].includes(latest.status) ? latest.status : "pending";
}

const time = (at: Date | null | undefined): string | null => at?.toISOString() ?? null;

const attemptOf = (row: CommandRow): FleetAttempt => ({
  command_id: row.id,
  attempt: row.attempt,
  status: row.status,
  exit_code: row.exit_code,
  error_kind: row.error_kind,
  error_message: row.error_message,
  reason: row.reason,
  dispatched_at: time(row.dispatched_at),
  started_at: time(row.started_at),
  ended_at: time(row.ended_at),
  duration_ms: row.duration_ms,
});

function targetOf(id: string, state: FleetRunState, target: TargetRow, rows: readonly CommandRow[]): FleetTarget {
  const { idx, node_id, name } = target;
  const status = statusOf(state, idx, rows);
  const row = rows.at(-1) ?? null;
  const attempt = row?.attempt ?? 1;
  const latest = row === null ? unsent(commandId(id, idx, attempt)) : attemptOf(row);
  return {
    node_id,
    name,
    ...latest,
    status,
    wave: waveOf(state, idx),
    outcome: endOf(state.targets[idx] ?? "") ?? "running",
    stdout_tail: row?.stdout_tail ?? null,
    stderr_tail: row?.stderr_tail ?? null,
    stdout_bytes: row?.stdout_bytes ?? null,
    stderr_bytes: row?.stderr_bytes ?? null,
    truncated: row?.truncated ?? null,
    structured: parsed(row?.structured ?? null),
    late: row?.late ?? false,
    previous_attempts: rows.slice(0, -1).map(attemptOf),
  };
}

const unsent = (command_id: string): FleetAttempt => ({
  ...{ command_id, attempt: 1, status: "pending", exit_code: null, error_kind: null, error_message: null },
  ...{ reason: null, dispatched_at: null, started_at: null, ended_at: null, duration_ms: null },
});

/** From 1; null: the host is waited for, outside of all waves. */
function waveOf(state: FleetRunState, place: number): number | null {
  let behind = 0;
  for (const [nth, size] of wavesOf(state).entries()) {
    behind += size;
    if (place < behind) return nth + 1;
  }
  return null;
}
