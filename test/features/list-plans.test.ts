/** Lists over filled tables: every query that reads a page finds it by an index, whatever it filters by. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import postgres from "postgres";
import { approvalRecords } from "../../src/features/approvals/records.ts";
import { inAll, inPieces } from "../../src/features/dashboard/pieces.ts";
import { countEnded, countOpen, executionRecords, type ListFilter } from "../../src/features/executions/records.ts";
import { historyRecords, type StimulusFilter } from "../../src/features/stimuli/history/records.ts";
import {
  countEnded as countEndedRuns,
  countOpen as countOpenRuns,
  createRunRecords,
  type RunFilter,
} from "../../src/features/workflows/runs/records.ts";
import type { Sql } from "../../src/store/postgres/pool.ts";
import { fillLists, settleLists, subjectId } from "../harness/filled-lists.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";

const tenant = "tenant-2";
const page = { limit: 50, offset: 0, after: null };
let stores: TestStores;
let sql: Sql;
let sent: { text: string; parameters: unknown[] }[] = [];

beforeAll(async () => {
  stores = await freshStores();
  await fillLists(stores.sql, 1, 1_000);
  await fillLists(stores.sql, 2, 20_000);
  await settleLists(stores.sql);
  sql = postgres(stores.databaseUrl, {
    max: 1,
    connection: { search_path: stores.schema },
    onnotice: () => {},
    debug: (_, text, parameters) => sent.push({ text, parameters }),
  }) as Sql;
}, 120_000);
afterAll(async () => {
  await sql.end();
  await stores.dispose();
});

/** The plans of what a call asks the database. */
async function plansOf(call: () => Promise<unknown>): Promise<string> {
  sent = [];
  await call();
  const plans: string[] = [];
  for (const { text, parameters } of sent) {
    if (!/^\s*(select|with)/.test(text) || text.includes("pg_catalog")) continue;
    const rows = await stores.sql.unsafe(`explain ${text}`, parameters as never[]);
    plans.push(rows.map((row) => row["QUERY PLAN"]).join("\n"));
  }
  expect(plans.length).toBeGreaterThan(0);
  return plans.join("\n");
}

const anyExecution: ListFilter = {
  agentId: null,
  statuses: null,
  workflowName: null,
  workflowExecutionId: null,
  parentExecutionId: null,
  labels: {},
  startedAfter: null,
  startedBefore: null,
};
const executionFilters: Record<string, Partial<ListFilter>> = {
  none: {},
  agent: { agentId: subjectId("agent", 2, 3) },
  "an agent without any": { agentId: subjectId("agent", 2, 99) },
  "a rare status": { statuses: ["failed"] },
  "a status that none has": { statuses: ["timed_out"] },
  "several statuses": { statuses: ["running", "failed", "cancelled"] },
  workflow: { workflowName: "workflow-1" },
  "a run that there is not": { workflowExecutionId: "none" },
  "a parent that there is not": { parentExecutionId: "none" },
  "a common label": { labels: { team: "red" } },
  "a label that nobody has": { labels: { team: "nobody" } },
  "two labels": { labels: { team: "red", env: "prod" } },
  "a common label and a status that none has": { labels: { env: "prod" }, statuses: ["timed_out"] },
  "a label that nobody has and a common status": { labels: { env: "none" }, statuses: ["completed"] },
  "a recent start": { startedAfter: new Date(Date.now() - 5_000) },
  "an early start": { startedBefore: new Date(Date.now() - 15_000_000) },
};

test.each(Object.entries(executionFilters))("executions by %s", async (_, filter) => {
  const plan = await plansOf(() => executionRecords(sql).list(tenant, { ...anyExecution, ...filter }, page));
  expect(plan).not.toContain("Seq Scan");
});

test("executions counted by agent, and those under way", async () => {
  const records = executionRecords(sql);
  const plan = await plansOf(async () => {
    await records.countByAgent(tenant, [subjectId("agent", 2, 3)]);
    await records.underWay(tenant, []);
  });
  expect(plan).not.toContain("Seq Scan");
});

const anyRun: RunFilter = {
  workflowId: null,
  workflowName: null,
  statuses: null,
  parentRunId: null,
  scheduleId: null,
  startedAfter: null,
  startedBefore: null,
};
const runFilters: Record<string, Partial<RunFilter>> = {
  none: {},
  workflow: { workflowId: subjectId("workflow", 2, 3) },
  name: { workflowName: "workflow-3" },
  "a name that there is not": { workflowName: "none" },
  "several statuses": { statuses: ["running", "timed_out", "failed"] },
  "a parent without children": { parentRunId: subjectId("workflow", 2, 3) },
  "a time of the start": {
    startedAfter: new Date(Date.now() - 9_000_000),
    startedBefore: new Date(Date.now() - 8_000_000),
  },
  "a time and a status that none has": { startedAfter: new Date(Date.now() - 9_000_000), statuses: ["timed_out"] },
};

test.each(Object.entries(runFilters))("runs by %s", async (_, filter) => {
  const plan = await plansOf(() => createRunRecords(sql).list(tenant, { ...anyRun, ...filter }, page));
  expect(plan).not.toContain("Seq Scan");
});

const pending = { executionId: null, descendants: false, workflowName: null, kind: null };
const decided = { statuses: null, executionId: null, workflowName: null, decidedBy: null, from: null, to: null };

test.each([
  ["none", {}],
  ["workflow", { workflowName: "none" }],
  ["kind", { kind: "fleet_run" }],
  ["run", { executionId: "none" }],
  ["run and those below it", { executionId: "none", descendants: true }],
])("pending approvals by %s", async (_, filter) => {
  const plan = await plansOf(() => approvalRecords(sql).pending(tenant, { ...pending, ...filter }, page, new Date()));
  expect(plan).not.toContain("Seq Scan");
});

test.each([
  ["none", {}],
  ["statuses", { statuses: ["rejected", "withdrawn"] }],
  ["workflow", { workflowName: "none" }],
  ["run", { executionId: "none" }],
  ["who decided", { decidedBy: "nobody" }],
  ["time", { from: new Date(Date.now() - 60_000), to: new Date() }],
])("decided approvals by %s", async (_, filter) => {
  const plan = await plansOf(() => approvalRecords(sql).decided(tenant, { ...decided, ...filter }, page));
  expect(plan).not.toContain("Seq Scan");
});

const anyStimulus: StimulusFilter = {
  source: null,
  statuses: null,
  channel: null,
  deadLetter: null,
  workflowExecutionId: null,
  from: null,
  to: null,
};

test.each([
  ["none", {}],
  ["source", { source: "none" }],
  ["statuses", { statuses: ["received", "rejected", "start_failed"] }],
  ["channel", { channel: "replay" }],
  ["dead letter", { deadLetter: true }],
] as [string, Partial<StimulusFilter>][])("stimuli by %s", async (_, filter) => {
  for (const order of ["newest", "oldest"] as const) {
    const plan = await plansOf(() => historyRecords(sql).list(tenant, { ...anyStimulus, ...filter }, order, page));
    expect(plan).not.toContain("Seq Scan");
  }
});

test.each([
  ["executions", { settled: countEnded, open: countOpen }, "executions", "created_at"],
  ["runs", { settled: countEndedRuns, open: countOpenRuns }, "workflow_runs", "started_at"],
] as const)("%s of a day, counted in pieces", async (_, sources, table, column) => {
  const counted = inPieces(sql, sources, Date.now);
  const since = Date.now() - 1_800_000;
  for (const of of [tenant, null]) {
    const plain = async () => {
      const rows = await stores.sql<{ status: string; count: number }[]>`
        select status, count(*)::int as count from ${stores.sql(table)}
        where (${of}::text is null or tenant = ${of}) and ${stores.sql(column)} >= ${new Date(since)} group by 1 order by 1`;
      return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
    };
    const told = async () => Object.fromEntries(inAll(await counted(of, since)));
    const plan = await plansOf(async () => expect(await told()).toEqual(await plain()));
    expect(plan).not.toContain("Seq Scan");
  }
});
