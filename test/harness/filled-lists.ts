/** Tenants with any number of executions, runs, approvals and stimuli, written by SQL in the shape that nodes write. */
import { execution } from "../../actors/execution/execution.ts";
import type { ExecutionState } from "../../actors/execution/state.ts";
import { workflowRun } from "../../actors/workflow/run/run.ts";
import type { RunState } from "../../actors/workflow/run/state.ts";
import { splitState } from "../../src/runtime/reads/listed.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";
import { sampleHeader, samplePlan } from "../actors/execution/fixture.ts";
import { definitionOf, headerOf, human } from "../actors/workflow/fixture.ts";

/** Agents, workflows and sources of each tenant. */
export const subjects = 20;
/** Every tenth one is another status than the usual; every fiftieth belongs to a workflow, a run, a parent. */
const rare = 50;

/** The id of the n-th thing of a kind and tenant; ids of one kind sort by their number. */
function idOf(kind: number, tenant: number, number: number | string): string {
  const tail = `${kind}${String(tenant).padStart(11, "0")}`;
  if (typeof number === "string") return `(lpad(to_hex(${number}), 8, '0') || '-0000-7000-8000-${tail}')`;
  return `${number.toString(16).padStart(8, "0")}-0000-7000-8000-${tail}`;
}

const kinds = { execution: 1, run: 2, approval: 3, stimulus: 4, agent: 5, workflow: 6 } as const;
export const subjectId = (kind: "agent" | "workflow", tenant: number, number: number): string =>
  idOf(kinds[kind], tenant, number);

/** The time at which the n-th of `count` was made: one a second, the last one about now. */
const at = `timestamptz '${new Date().toISOString()}' - (($1::int - n) * interval '1 second')`;
const status =
  "case when n > $1::int - greatest($1::int / 5000, 1) then 'running' when n % 10 = 0 then 'failed' else 'completed' end";
const ended = `case when n > $1::int - greatest($1::int / 5000, 1) then null else ${at} end`;
const everyRare = (value: string) => `case when n % ${rare} = 0 then ${value} end`;

/** A state as its actor leaves it behind. */
function endedStates() {
  const context = {
    now: 1_900_000_000_000,
    kind: "",
    key: "0190f3c4-0000-7000-8000-000000000001",
    tenant: "t",
    messageId: "m",
    replyTo: null,
    newId: () => "0190f3c4-0000-7000-8000-000000000002",
    newIdBeside: () => "0190f3c4-0000-7000-8000-000000000003",
  };
  const volumes = [
    {
      name: "workspace",
      volume_id: "0190f3c4-0000-7000-8000-000000000001",
      mount_path: "/workspace",
      access_mode: "rw",
    },
  ];
  const header = sampleHeader({ labels: { team: "blue", env: "prod" }, volumes: volumes as never });
  const begun = execution.receive.start(null, { header, plan: samplePlan() }, context).state;
  const over = execution.receive.cancel(begun, { reason: null }, context).state as ExecutionState;
  const states = { ASK: human([]) };
  const start = { header: headerOf(), definition: definitionOf(states), input: {}, overrides: {}, resume: null };
  const running = workflowRun.receive.start(null, start, context).state;
  const done = workflowRun.receive.cancel(running, { reason: null }, context).state as RunState;
  return {
    execution: splitState({ ...over, status: "completed" }, new Set(execution.listed)),
    run: splitState({ ...done, status: "completed" } as never, new Set(workflowRun.listed)),
  };
}

/** @param tenant its number; its slug is `tenant-<number>` @param count of each kind of thing */
export async function fillLists(sql: Sql, tenant: number, count: number): Promise<void> {
  const slug = `tenant-${tenant}`;
  const states = endedStates();
  const series = "from generate_series(1, $1::int) as n";
  const write = (text: string, ...more: string[]) => sql.unsafe(text, [count, slug, ...more]);
  const executionId = idOf(kinds.execution, tenant, "n");
  const runId = idOf(kinds.run, tenant, "n");
  await sql`insert into tenants (slug, kind, display_name) values (${slug}, 'enterprise', ${slug})`;
  await write(
    `insert into executions select ${executionId}::uuid, $2, ${idOf(kinds.agent, tenant, `n % ${subjects}`)}::uuid, ${status},
       ${at}, ${at}, ${ended}, ${everyRare("'workflow-1'")}, ${everyRare(idOf(kinds.run, tenant, "n"))},
       ${everyRare(idOf(kinds.execution, tenant, "n - 1"))} ${series}`,
  );
  await write(
    `insert into execution_labels select $2, l.name, l.value, ${at}, ${executionId}::uuid ${series},
       lateral (values ('team', (array['blue', 'red', 'green'])[n % 3 + 1]), ('env', 'prod')) as l (name, value)`,
  );
  await write(
    `insert into runtime_actors (kind, key, tenant, partition, version, logs, state, listed)
     select 'execution', ${executionId}, $2, n % 64, 9, '{"plan":1,"events":12}', $3, $4 ${series}`,
    states.execution.state,
    states.execution.listed ?? "",
  );
  await write(
    `insert into workflow_runs select ${runId}::uuid, $2, ${idOf(kinds.workflow, tenant, `n % ${subjects}`)}::uuid,
       'workflow-' || n % ${subjects}, '1.0.0', ${status}, ${at}, ${ended}, ${everyRare(idOf(kinds.run, tenant, "n - 1"))}::uuid,
       ${runId}::uuid, null, null ${series}`,
  );
  await write(
    `insert into runtime_actors (kind, key, tenant, partition, version, logs, state, listed)
     select 'workflow_run', ${runId}, $2, n % 64, 9, '{"events":12}', $3, $4 ${series}`,
    states.run.state,
    states.run.listed ?? "",
  );
  for (const [kind, of] of [
    ["execution", "agent"],
    ["workflow_run", "workflow"],
  ] as const) {
    await write(
      `insert into runtime_counters select '${kind}', $2, ${idOf(kinds[of], tenant, `n % ${subjects}`)}, n % 16, count(*)
       ${series} group by 3, 4`,
    );
  }
  await write(
    `insert into approvals select ${idOf(kinds.approval, tenant, "n")}::uuid, $2,
       case when n % 2 = 0 then 'pending' when n % 20 = 1 then 'rejected' else 'approved' end, 'workflow', ${runId}, ${runId},
       'workflow-' || n % ${subjects}, ${at}, now() + interval '1 day', case when n % 2 = 1 then ${at} end,
       case when n % 2 = 1 then 'user-' || n % 7 end, case when n % 2 = 1 then 'user-' || n % 7 || '@example.com' end, d, length(d)
     ${series}, lateral (select '{"approval_id":"' || n || '","pad":"${"x".repeat(700)}"}' as d) as document`,
  );
  await write(
    `insert into stimuli (tenant, id, source, channel, acknowledge, status, dead_letter, content, content_encoding,
       content_type, content_size, content_sha256, headers, headers_truncated, run_id, attempts, due_at,
       received_by_kind, received_by_sub, received_at, last_event_at)
     select $2, ${idOf(kinds.stimulus, tenant, "n")}::uuid, 'source-' || n % ${subjects}, 'webhook', 'routed',
       case when n % 100 = 0 then 'rejected' else 'classified' end, n % 100 = 0, repeat('x', 300), 'utf-8', 'application/json', 300,
       repeat('a', 64), '{}', false, ${runId}::uuid, 1, ${at}, 'webhook', 'webhook:crm', ${at}, ${at} ${series}`,
  );
}

/** What autovacuum does after a while. */
export async function settleLists(sql: Sql): Promise<void> {
  const tables = [
    "executions",
    "execution_labels",
    "workflow_runs",
    "approvals",
    "stimuli",
    "runtime_actors",
    "runtime_counters",
  ];
  for (const table of tables) await sql`vacuum analyze ${sql(table)}`;
}
