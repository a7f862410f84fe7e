/** An upgraded database of a version that kept timers in Redis, and a Redis that was emptied: all deadlines are set again. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { NodeFixture } from "../../features/workflows/definitions/node-fixture.ts";
import { shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";

setDefaultTimeout(60_000);

const migration = join(import.meta.dir, "../../../src/store/migrations/0004_timers.sql");
const waits = { kind: "Human", prompt: "Go on?", timeout: "2h", approvers: ["role:lead"], transitions: [] };
const escalates = { ...waits, escalate: { after: "1h", approvers: ["role:director"] } };

let at: NodeFixture;
beforeAll(async () => {
  at = await NodeFixture.open();
});
afterAll(() => at.close());

test("the states of executions, runs and approvals say which timers they had", async () => {
  const { sql } = at.stores;
  await at.deploy({ name: "sleeper", script: [shell("sleep 100")] });
  await at.register("asks", { WORK: escalates });
  await at.register("works", { WORK: { kind: "Agent", agent: "sleeper", input: "x", timeout: "1h", transitions: [] } });
  await at.approvalOf(await at.start("asks", { timeout_seconds: 3600 }));
  await at.start("works");
  const timers = () =>
    sql<{ kind: string; key: string; timer: string; due: string; type: string; body: string }[]>`
      select kind, key, timer, due, type, body from runtime_timers order by kind, key, timer`;
  // A dispatch has a timer besides; the iteration's and the execution's stand for it.
  const before = await until(
    async () => {
      const all = await timers();
      const count = (kind: string) => all.filter((row) => row.kind === kind).length;
      return count("approval") === 2 && count("workflow_run") >= 2 && count("execution") >= 1 ? all : null;
    },
    { what: "what the runs wait for", timeoutMs: 30_000 },
  );
  const wanted = [...before].filter(({ timer }) => !timer.startsWith("dispatch:"));
  await at.node.kill();
  await sql`delete from runtime_timers`;
  await sql`update runtime_actors set timers = null`;
  const notes = readFileSync(migration, "utf8").match(/insert into runtime_rearm[^;]*;/)?.[0] ?? "";
  await sql.unsafe(notes);
  await at.node.restart();
  const again = await until(async () => (await timers()).length >= wanted.length && (await timers()), {
    what: "the timers",
  });
  expect([...again].filter(({ timer }) => !timer.startsWith("dispatch:"))).toEqual(wanted);
  await until(async () => (await sql`select from runtime_rearm`).length === 0, { what: "the notes to be gone" });
});
