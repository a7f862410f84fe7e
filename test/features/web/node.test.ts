/** `web.fetch` in an agent's loop (docs/reference/gateway.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { calls, say } from "../../harness/manifests.ts";
import { scratch } from "../../harness/scratch.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
const dialled: string[] = [];
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    dialled.push(request.url);
    return new Response("inside");
  },
});
beforeAll(async () => {
  const names = join(scratch("web"), "names.json");
  await Bun.write(names, JSON.stringify({ "inside.test": ["10.0.0.1"], "here.test": ["127.0.0.1"] }));
  const env = { SVC_TEST_NAMES: names, SVC_WEB_FETCH_PORTS: String(server.port) };
  at = await ExecutionFixture.open(env, "test/harness/node/node-with-resolver.ts");
});
afterAll(async () => {
  await at.close();
  await server.stop(true);
});

test("web.fetch to closed addresses is refused with 2004, and an incident each", async () => {
  const urls = [
    `http://127.0.0.1:${server.port}/`,
    "http://169.254.169.254/latest/",
    "http://[::ffff:10.0.0.1]/",
    "http://inside.test/",
    `http://here.test:${server.port}/`,
  ];
  const script = [calls(...urls.map((url) => ["web.fetch", { url }] as const)), say("done")];
  const record = await at.run({ script, tools: ["*"] });
  expect(record).toMatchObject({ status: "completed" });
  expect(dialled).toEqual([]);
  const frames = await at.events(record.id);
  const refused = frames.filter(({ name }) => name === "policy_violation").map(({ body }) => body);
  expect(refused).toHaveLength(urls.length);
  for (const body of refused) {
    expect(body).toMatchObject({
      tool_name: "web.fetch",
      violation_type: "address_blocked",
      details: { code: "address_blocked", error_code: 2004 },
    });
  }
  const path = `/v1/security/incidents?category=ssrf_blocked&execution_id=${record.id}`;
  const incidents = await until(
    async () => {
      const { body } = await at.node.call("GET", path);
      return body.items.length >= urls.length ? body.items : null;
    },
    { what: "the incidents" },
  );
  expect(incidents).toHaveLength(urls.length);
  expect(incidents[0]).toMatchObject({ severity: "high", tool_name: "web.fetch", violation_type: "address_blocked" });
}, 60_000);
