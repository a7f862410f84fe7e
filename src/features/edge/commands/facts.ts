/** Writes what turns of hosts and runs state of commands, in the statement that commits the turns. */
import {
  type CommandFact,
  type CommandResult,
  commandFact,
  type FrameFact,
  frameFact,
  type RunArgsFact,
  runArgsFact,
  serviceErrorKinds,
} from "../../../../actors/edge-host/command.ts";
import { madeStorable } from "../../../../actors/manifest/storable.ts";
import type { Fact, FactWriter, Statement } from "../../../runtime/port.ts";
import { texts } from "../../../store/postgres/array-literal.ts";
import { addActivities } from "../../usage/activities/port.ts";
import { lateUsed, reachedHosts } from "./used.ts";

type Changed = Exclude<CommandFact, { readonly late: CommandResult }>;
type Late = Exclude<CommandFact, Changed>;

const resultColumns = `duration_ms bigint, exit_code bigint, error_kind text, error_message text, stdout_tail text,
  stderr_tail text, stdout_bytes bigint, stderr_bytes bigint, truncated boolean, structured text`;

/**
 * What is stated later wins where it is stated, up to the end, which stands; a command that has ended in one commit with
 * its late result is one row.
 */
const upserting = `
insert into edge_commands (id, tenant, run_id, idx, attempt, host_id, tool, status, epoch, created_at, dispatched_at,
  started_at, ended_at, reason, late, duration_ms, exit_code, error_kind, error_message, stdout_tail, stderr_tail,
  stdout_bytes, stderr_bytes, truncated, structured)
select id, tenant, run_id, idx, attempt, host_id, tool, status, epoch, created_at, dispatched_at,
  started_at, ended_at, reason, late, duration_ms, exit_code, error_kind, error_message, stdout_tail, stderr_tail,
  stdout_bytes, stderr_bytes, truncated, structured
from json_to_recordset($1::text::json) as r (id uuid, tenant text, run_id uuid, idx integer, attempt integer,
  host_id uuid, tool text, status text, epoch bigint, created_at timestamptz, dispatched_at timestamptz,
  started_at timestamptz, ended_at timestamptz, reason text, late boolean, ${resultColumns})
on conflict (id) do update set
  status = excluded.status,
  epoch = coalesce(excluded.epoch, edge_commands.epoch),
  dispatched_at = coalesce(excluded.dispatched_at, edge_commands.dispatched_at),
  started_at = coalesce(excluded.started_at, edge_commands.started_at),
  ended_at = coalesce(excluded.ended_at, edge_commands.ended_at),
  reason = coalesce(excluded.reason, edge_commands.reason),
  late = edge_commands.late or excluded.late,
  duration_ms = coalesce(excluded.duration_ms, edge_commands.duration_ms),
  exit_code = coalesce(excluded.exit_code, edge_commands.exit_code),
  error_kind = coalesce(excluded.error_kind, edge_commands.error_kind),
  error_message = coalesce(excluded.error_message, edge_commands.error_message),
  stdout_tail = coalesce(excluded.stdout_tail, edge_commands.stdout_tail),
  stderr_tail = coalesce(excluded.stderr_tail, edge_commands.stderr_tail),
  stdout_bytes = coalesce(excluded.stdout_bytes, edge_commands.stdout_bytes),
  stderr_bytes = coalesce(excluded.stderr_bytes, edge_commands.stderr_bytes),
  truncated = coalesce(excluded.truncated, edge_commands.truncated),
  structured = coalesce(excluded.structured, edge_commands.structured)
where edge_commands.tenant = excluded.tenant and edge_commands.ended_at is null`;

const fillingLate = `
update edge_commands as known set
  late = true,
  started_at = coalesce(known.started_at, r.started_at),
  duration_ms = coalesce(known.duration_ms, r.duration_ms),
  exit_code = coalesce(known.exit_code, r.exit_code),
  error_message = coalesce(known.error_message, r.error_message),
  stdout_tail = coalesce(known.stdout_tail, r.stdout_tail),
  stderr_tail = coalesce(known.stderr_tail, r.stderr_tail),
  stdout_bytes = coalesce(known.stdout_bytes, r.stdout_bytes),
  stderr_bytes = coalesce(known.stderr_bytes, r.stderr_bytes),
  truncated = coalesce(known.truncated, r.truncated),
  structured = coalesce(known.structured, r.structured)
from json_to_recordset($1::text::json) as r (id uuid, tenant text, host_id uuid, started_at timestamptz, ${resultColumns})
where known.id = r.id and known.tenant = r.tenant and known.host_id = r.host_id and known.status = 'lost'
  and known.error_kind = any($2::text[]) and not known.late`;

const time = (ms: number | null | undefined): string | null =>
  ms === undefined || ms === null ? null : new Date(ms).toISOString();
const storable = (text: string | null): string | null => (text === null ? null : madeStorable(text));

/** The columns of a result; a command that never ran has none of its output. */
function resultRow(result: CommandResult) {
  return {
    ...{ duration_ms: result.duration_ms, exit_code: result.exit_code },
    ...{ error_kind: storable(result.error_kind), error_message: storable(result.error_message) },
    ...{ stdout_tail: storable(result.stdout_tail), stderr_tail: storable(result.stderr_tail) },
    ...{ stdout_bytes: result.stdout_bytes, stderr_bytes: result.stderr_bytes, truncated: result.truncated },
    structured: result.structured === null ? null : JSON.stringify(result.structured),
  };
}

function changedRow({ tenant, at }: Fact, fact: Changed) {
  const { id, run_id, idx, attempt, host_id, tool, status, result } = fact;
  return {
    ...{ id, tenant, run_id, idx, attempt, host_id, tool: madeStorable(tool), status },
    epoch: fact.epoch ?? null,
    created_at: time(at),
    dispatched_at: time(fact.dispatched_at),
    started_at: time(fact.started_at),
    ended_at: time(fact.ended_at),
    reason: storable(fact.reason ?? null),
    late: false,
    error_kind: fact.error_kind ?? null,
    ...(result === undefined ? {} : resultRow(result)),
  };
}
type Row = ReturnType<typeof changedRow>;

const isLate = (fact: CommandFact): fact is Late => "late" in fact;
const given = (row: object): object =>
  Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null && value !== undefined));

/** The facts of one command as one row, in their order: parts of one statement do not see each other's rows. */
function gathered(facts: readonly Fact[]): { readonly rows: readonly Row[]; readonly late: readonly object[] } {
  const rows = new Map<string, Row>();
  const late = new Map<string, object>();
  for (const fact of facts) {
    // Actors make them by the definition alone.
    const stated = fact.fact as CommandFact;
    const known = rows.get(stated.id);
    if (!isLate(stated)) {
      const row = changedRow(fact, stated);
      rows.set(stated.id, known === undefined ? row : { ...known, ...given(row), created_at: known.created_at });
      continue;
    }
    const result = { ...resultRow(stated.late), started_at: time(stated.late.started_at) };
    if (known === undefined)
      late.set(stated.id, { id: stated.id, tenant: fact.tenant, host_id: stated.host_id, ...result });
    else if (known.status === "lost")
      rows.set(stated.id, { ...known, ...given({ ...result, ...given(known) }), late: true });
  }
  return { rows: [...rows.values()], late: [...late.values()] };
}

export const commandFacts: FactWriter = {
  name: commandFact.name,
  write(facts) {
    const { rows, late } = gathered(facts);
    const statements: Statement[] = [];
    if (rows.length > 0) statements.push({ text: upserting, parameters: [JSON.stringify(rows)] });
    const reached = reachedHosts(rows);
    if (reached.length > 0) statements.push(addActivities(reached));
    if (late.length > 0) {
      const parameters = [JSON.stringify(late), texts(serviceErrorKinds)];
      statements.push({ text: fillingLate, parameters }, { text: lateUsed, parameters });
    }
    return statements;
  },
};

const insertingFrames = `
insert into edge_frames (tenant, host_id, epoch, node, kind, command_id, body)
select tenant, host_id, epoch, node, kind, command_id, body
from rows from (json_to_recordset($1::text::json)
    as (tenant text, host_id uuid, epoch bigint, node text, kind text, command_id uuid, body text)) with ordinality
  as r (tenant, host_id, epoch, node, kind, command_id, body, place)
order by place`;

const voidingFrames = `
delete from edge_frames f using json_to_recordset($1::text::json) as r (tenant text, host_id uuid, before_epoch bigint)
where f.host_id = r.host_id and f.tenant = r.tenant and f.epoch < r.before_epoch`;

function frameRow(tenant: string, frame: Exclude<FrameFact, { readonly kind: "void" }>) {
  const { host_id, epoch, node, kind, command_id, ...body } = frame;
  return { tenant, host_id, epoch, node, kind, command_id, body: JSON.stringify(body) };
}

export const frameFacts: FactWriter = {
  name: frameFact.name,
  write(facts) {
    let frames: ReturnType<typeof frameRow>[] = [];
    const voided = new Map<string, { tenant: string; host_id: string; before_epoch: number }>();
    for (const { tenant, fact } of facts) {
      const frame = fact as FrameFact;
      if (frame.kind === "void") {
        voided.set(frame.host_id, { tenant, host_id: frame.host_id, before_epoch: frame.before_epoch });
        // Those of this commit are not in the table yet.
        frames = frames.filter(({ host_id, epoch }) => host_id !== frame.host_id || epoch >= frame.before_epoch);
        continue;
      }
      frames.push(frameRow(tenant, frame));
    }
    const statements: Statement[] = [];
    if (frames.length > 0) statements.push({ text: insertingFrames, parameters: [JSON.stringify(frames)] });
    if (voided.size > 0) statements.push({ text: voidingFrames, parameters: [JSON.stringify([...voided.values()])] });
    return statements;
  },
};

const insertingArgs = `
insert into edge_run_args (run_id, tenant, tool, args, security_context, requested_by, trace, created_at)
select run_id, tenant, tool, args, security_context, requested_by, trace, created_at
from json_to_recordset($1::text::json) as r (run_id uuid, tenant text, tool text, args text, security_context text,
  requested_by text, trace text, created_at timestamptz)
on conflict (run_id) do nothing`;

export const runArgsFacts: FactWriter = {
  name: runArgsFact.name,
  write(facts) {
    const rows = new Map(
      facts.map(({ tenant, at, fact }) => {
        const { run_id, tool, args, security_context, requested_by, trace } = fact as RunArgsFact;
        const texts = {
          requested_by: JSON.stringify(requested_by),
          trace: trace === null ? null : JSON.stringify(trace),
        };
        return [run_id, { run_id, tenant, tool, args, security_context, ...texts, created_at: time(at) }] as const;
      }),
    );
    return [{ text: insertingArgs, parameters: [JSON.stringify([...rows.values()])] }];
  },
};
