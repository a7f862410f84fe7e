/** Queries that every start asks are planned once for a connection. */
import { expect, test } from "bun:test";
import { agentRecords } from "../../../src/features/agents/records.ts";
import { approvalRecords } from "../../../src/features/approvals/records.ts";
import { bareInvocations, changeInvocations, countInvocations } from "../../../src/features/invocations/statements.ts";
import { workflowRecords } from "../../../src/features/workflows/definitions/records.ts";
import type { Statement } from "../../../src/runtime/port.ts";
import { reading } from "../../../src/runtime/reads/reading.ts";
import { openPostgres } from "../../../src/store/postgres/pool.ts";
import { freshStores } from "../../harness/stores.ts";

test("queries of a start and a decision are planned once, not anew each time", async () => {
  const stores = await freshStores();
  const sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 1 });
  try {
    const agents = agentRecords(sql);
    const workflows = workflowRecords(sql);
    const { readListed } = reading(sql);
    for (let time = 0; time < 8; time++) {
      await agents.findForExecution("acme", { id: crypto.randomUUID() }, null);
      await workflows.locate("acme", { ref: "release", version: null });
      await readListed({ kind: "approval" }, "acme", ["a"]);
    }
    const plans = await sql<{ asks: string; generic: number }[]>`
      select btrim(left(statement, 40)) as asks, generic_plans::int as generic from pg_prepared_statements
      where generic_plans + custom_plans = 8`;
    expect(plans.length).toBe(3);
    expect(plans.filter(({ generic }) => generic === 0)).toEqual([]);
  } finally {
    await sql.end();
    await stores.dispose();
  }
});

test("approvals of a run and waiting calls are found without statistics", async () => {
  const stores = await freshStores();
  const sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 1 });
  try {
    await sql`alter table approvals set (autovacuum_enabled = false)`;
    await sql`
      insert into approvals
      select gen_random_uuid(), 'acme', case when n % 2 = 0 then 'pending' else 'approved' end,
        case when n % 500 = 0 then 'tool_call' else 'workflow' end, 'run-' || n / 4, 'root-' || n / 4, 'release', now(),
        now() + interval '1 day', case when n % 2 = 1 then now() end, 'ada', null, '{}', 2
      from generate_series(1, 4000) as n`;
    const { pending, decided, askedCalls, waitingCalls, lastDecision } = approvalRecords(sql);
    const page = { after: null, limit: 50, offset: 0, cursor: null };
    const any = { workflowName: null, kind: null };
    await sql.unsafe("begin");
    const ofRun = { ...any, executionId: "run-25", descendants: false };
    expect((await pending("acme", ofRun, page, new Date(0))).rows).toHaveLength(2);
    expect((await pending("acme", { ...ofRun, descendants: true }, page, new Date(0))).rows).toHaveLength(2);
    const history = { statuses: null, decidedBy: null, from: null, to: null, workflowName: null };
    expect((await decided("acme", { ...history, executionId: "run-25" }, page)).rows).toHaveLength(2);
    expect((await lastDecision("acme", "run-25"))?.status).toBe("approved");
    expect(await askedCalls("acme")).toBe(8);
    expect(await waitingCalls("acme", "run-125", 1000)).toEqual({ execution: 1, tenant: 8 });
    const [read] = await sql<{ rows: number }[]>`
      select (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_xact_user_tables where relname = 'approvals'`;
    await sql.unsafe("commit");
    // Four of the run, or the eight calls, for each question.
    expect(read?.rows).toBeLessThanOrEqual(6 * 8);
  } finally {
    await sql.end();
    await stores.dispose();
  }
});

test("records of calls are changed by their key", async () => {
  const stores = await freshStores();
  const sql = openPostgres({ url: stores.databaseUrl, schema: stores.schema, poolSize: 1 });
  const run = ({ text, parameters }: Statement) => sql.unsafe(text, parameters as string[], { prepare: true });
  const change = (ids: readonly string[]) => {
    const ended = ids.map((id) => ({ id, tenant: "acme", at: 0, outcome: "success" as const, duration_ms: 3 }));
    return run(changeInvocations(ended));
  };
  try {
    await sql`alter table tool_invocations set (autovacuum_enabled = false)`;
    // Planned while the table is empty, as it is for a connection of a new service; anew once it was analyzed.
    for (let time = 0; time < 8; time++) await change([crypto.randomUUID()]);
    await sql`
      insert into tool_invocations (id, tenant, principal, entry, outcome, started_at)
      select gen_random_uuid(), 'acme', 'p', 'seal', 'running', now() from generate_series(1, 4000)`;
    await sql`analyze tool_invocations`;
    const ids = (await sql<{ id: string }[]>`select id from tool_invocations limit 20`).map(({ id }) => id);
    await sql.unsafe("begin");
    await change(ids);
    await run(countInvocations(ids.map((id) => ({ id, more: 2 }))));
    await run(bareInvocations(ids.slice(0, 5).map((id) => ({ id, tenant: "acme" }))));
    const [read] = await sql<{ rows: number }[]>`
      select (idx_tup_fetch + seq_tup_read)::int as rows from pg_stat_xact_user_tables
      where relname = 'tool_invocations'`;
    await sql.unsafe("commit");
    // Those of the calls, and perhaps a second version of each.
    expect(read?.rows).toBeLessThanOrEqual(2 * (20 + 20 + 5));
    const [ended] = await sql`
      select count(*)::int as count from tool_invocations where outcome = 'success' and duration_ms = 3 and count = 3`;
    expect(ended?.count).toBe(15);
  } finally {
    await sql.end();
    await stores.dispose();
  }
});
