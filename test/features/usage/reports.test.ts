/** What a tenant has used, from what its executions really did (docs/reference/usage.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { calls, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at?.close());

const usage = async (query = "", headers: Record<string, string> = {}): Promise<LooseJson> => {
  const { status, body } = await at.node.call("GET", `/v1/usage?${query}`, undefined, headers);
  expect(status).toBe(200);
  return body;
};

test("an execution counts with its calls, tokens, cost and sandbox", async () => {
  const script = [
    calls(["fs.write", { path: "a", content: "hi" }], ["fs.read", { path: 7 }], ["no.such", {}]),
    shell("true"),
    say("ok"),
  ];
  const { execution_id: id } = await at.run({ script, tools: ["fs.*", "cmd.run"] });
  const { body: record } = await at.node.call("GET", `/v1/executions/${id}`);
  console.log(
    record.usage,
    await usage(),
    await usage("group_by=agent"),
    await usage("group_by=tool"),
    await usage("group_by=model"),
  );
  console.log(await at.stores.sql`select * from usage_activities`);
});
