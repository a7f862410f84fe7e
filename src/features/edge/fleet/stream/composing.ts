/** The events of runs as readers get them: what a run's log names by place is put in from rows. */
import { type RunEvent, runEvents } from "../../../../../actors/fleet-run/events.ts";
import { fleetRun } from "../../../../../actors/fleet-run/fleet-run.ts";
import { isTerminal } from "../../../../../actors/fleet-run/words.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { iso } from "../../../../../actors/kernel/time.ts";
import type { LogEntry, Runtime } from "../../../../runtime/port.ts";
import { type CommandRow, type Commands, commandId } from "../../commands/port.ts";
import type { RunRecords, TargetRow } from "../records.ts";

export interface WireEvent {
  readonly event: string;
  readonly data: { readonly [member: string]: Json | undefined };
  /** Nothing follows it. */
  readonly isLast: boolean;
}

export interface ComposingOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly records: Pick<RunRecords, "targets">;
  readonly commands: Pick<Commands, "many">;
}

type Result = Extract<RunEvent, { readonly type: "result" }>;

export type Composer = ReturnType<typeof createComposer>;

export function createComposer({ runtime, records, commands }: ComposingOptions) {
  async function started(tenant: string, id: string, event: Extract<RunEvent, { readonly type: "started" }>) {
    const rows = await records.targets(tenant, id, event.resolution, null);
    const of = (kind: TargetRow["kind"]) => rows.filter((row) => row.kind === kind);
    const named = ({ node_id, name }: TargetRow) => ({ node_id, name });
    const resolved = rows.filter(({ kind }) => kind !== "skipped");
    return {
      resolved: resolved.map((row) => ({ ...named(row), status: row.reason })),
      queued: of("queued").map(named),
      skipped: of("skipped").map((row) => ({ ...named(row), reason: row.reason })),
    };
  }

  async function results(tenant: string, id: string, events: readonly Result[]) {
    if (events.length === 0) return () => null;
    const state = await runtime.of(fleetRun).at(tenant, id).read();
    const [targets, rows] = await Promise.all([
      records.targets(
        tenant,
        id,
        state?.resolution ?? 0,
        events.map(({ idx }) => idx),
      ),
      commands.many(
        tenant,
        events.map(({ idx, attempt }) => commandId(id, idx, attempt)),
      ),
    ]);
    const named = new Map(targets.map((target) => [target.idx, target]));
    const known = new Map(rows.map((row) => [row.id, row]));
    const deadlineMs = (state?.policy.per_target_deadline_secs ?? 0) * 1000;
    return ({ idx, attempt, status }: Result) => {
      const command_id = commandId(id, idx, attempt);
      const row = known.get(command_id) ?? null;
      return {
        node_id: named.get(idx)?.node_id ?? row?.host_id ?? "",
        name: named.get(idx)?.name ?? "",
        command_id,
        attempt,
        status,
        result: resultOf(status, row, deadlineMs),
        stdout_tail: row?.stdout_tail ?? "",
        stderr_tail: row?.stderr_tail ?? "",
        structured: parsed(row?.structured ?? null),
      };
    };
  }

  return {
    /** Entries of a run's log, in their order, by their places in it. */
    async compose(tenant: string, id: string, seqs: readonly number[]): Promise<ReadonlyMap<number, WireEvent>> {
      const [first] = seqs;
      const last = seqs.at(-1);
      if (first === undefined || last === undefined) return new Map();
      const entries = await runtime
        .of(fleetRun)
        .at(tenant, id)
        .log(runEvents, first - 1, last - first + 1);
      const resultFor = await results(
        tenant,
        id,
        entries.flatMap(({ entry }) => (entry.type === "result" ? [entry] : [])),
      );
      const events = new Map<number, WireEvent>();
      for (const { seq, entry } of entries) {
        const of = { fleet_command_id: id };
        if (entry.type === "started") {
          const { status, targets_resolved, targets_skipped, started_at } = entry;
          const tool = (await runtime.of(fleetRun).at(tenant, id).read())?.tool ?? "";
          const lists = await started(tenant, id, entry);
          const at = started_at === null ? null : iso(started_at);
          const data = { ...of, status, tool, targets_resolved, targets_skipped, ...lists, started_at: at };
          events.set(seq, { event: "fleet_started", data, isLast: false });
        } else if (entry.type === "result") {
          events.set(seq, { event: "command_result", data: resultFor(entry) ?? {}, isLast: false });
        } else events.set(seq, plain(id, entry));
      }
      return events;
    },

    /** Whether a run's log has had its last entry. */
    async isOver(tenant: string, id: string, length: number): Promise<boolean> {
      if (length === 0) return true;
      const [last] = await runtime
        .of(fleetRun)
        .at(tenant, id)
        .log(runEvents, length - 1, 1);
      return last === undefined || isLastEntry(last);
    },
  };
}

export const isLastEntry = ({ entry }: LogEntry): boolean => (entry as RunEvent).type === "ended";

function plain(id: string, event: Exclude<RunEvent, { readonly type: "started" | "result" }>): WireEvent {
  const of = { fleet_command_id: id };
  if (event.type === "error") {
    const { reason, code, message } = event;
    return { event: "error", data: { ...of, reason, code, message }, isLast: false };
  }
  if (event.type === "status") {
    const { status, reason, pause_reasons, approval_id, wave, waves } = event;
    return {
      event: "fleet_status",
      data: { ...of, status, reason, pause_reasons, approval_id, wave, waves },
      isLast: false,
    };
  }
  const { status, reason, targets_resolved, targets_skipped, summary } = event;
  const outcome = isTerminal(status) ? status : "running";
  const data = { ...of, status, outcome, reason, targets_resolved, targets_skipped, summary: { ...summary } };
  return { event: "fleet_result", data, isLast: true };
}

function resultOf(status: string, row: CommandRow | null, deadlineMs: number): Json {
  const exit_code = row?.exit_code ?? null;
  if (status === "ok") return { ok: { exit_code, duration_ms: row?.duration_ms ?? null } };
  if (status === "timed_out") {
    const from = row?.started_at ?? row?.dispatched_at ?? null;
    return { timed_out: { deadline: from === null ? null : iso(from.getTime() + deadlineMs) } };
  }
  if (status === "cancelled") return { cancelled: { reason: row?.reason ?? row?.error_kind ?? "cancelled" } };
  return { err: { code: row?.error_kind ?? status, message: row?.error_message ?? row?.reason ?? status, exit_code } };
}

/** As the daemon gave it. */
export function parsed(text: string | null): Json {
  return text === null ? null : (JSON.parse(text) as Json);
}
