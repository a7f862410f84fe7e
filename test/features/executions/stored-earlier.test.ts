/** After an update of the service: executions that an earlier version stored are read, cancelled, ended and erased. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Plan } from "../../../actors/execution/start/plan.ts";
import type { ExecutionState } from "../../../actors/execution/state.ts";
import { earlierPlan, earlierState } from "../../actors/execution/first-version.ts";
import { say } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "./fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at.close());

/** Rewrites what is stored of an execution. Its node must be down. */
async function makeEarlier(executionId: string): Promise<void> {
  const { sql } = at.stores;
  const [actor] = await sql`select listed, state from runtime_actors where key = ${executionId}`;
  const [plan] = await sql`select entry from runtime_logs where key = ${executionId} and log = 'plan'`;
  const state = JSON.stringify(
    earlierState({ ...JSON.parse(actor?.listed), ...JSON.parse(actor?.state) } as ExecutionState),
  );
  const entry = JSON.stringify(earlierPlan(JSON.parse(plan?.entry) as Plan));
  await sql`update runtime_actors set state = ${state}, listed = null where key = ${executionId}`;
  await sql`update runtime_logs set entry = ${entry} where key = ${executionId} and log = 'plan'`;
}

test("finished and running executions of an earlier version", async () => {
  const over = (await at.run({ script: [say("done")] })).id;
  const slow = await at.deploy({ script: [{ content: "late", delay_ms: 4000 }] });
  const [cancelled, ending] = await Promise.all([at.start(slow), at.start(slow)]);
  const ids: string[] = [over, cancelled.body.execution_id, ending.body.execution_id];
  await until(
    async () =>
      (await Promise.all(ids.slice(1).map((id) => at.record(id)))).every(({ status }) => status === "running"),
    {
      what: "both to run",
    },
  );
  await at.node.kill();
  for (const id of ids) await makeEarlier(id);
  await at.node.restart();

  expect(await at.record(over)).toMatchObject({ status: "completed", output: "done", warnings: [] });
  expect((await at.node.call("GET", `/v1/executions/${over}/files`)).status).toBe(200);
  expect((await at.node.call("POST", `/v1/executions/${ids[1]}/cancel`, {})).body.status).toBe("cancelled");
  expect(await at.ended(ids[2] ?? "")).toMatchObject({ status: "completed", output: "late" });
  for (const id of ids) expect((await at.node.call("DELETE", `/v1/executions/${id}`)).status).toBe(200);
  expect((await at.node.call("GET", "/v1/executions")).body.count).toBe(0);
}, 90_000);
