/** Agents and the outside, end to end: a real node, real sandboxes, names that resolve as the test has it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { manifest, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
const folder = mkdtempSync(join(tmpdir(), "svc-egress-"));
const asked: string[] = [];
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => {
    asked.push(`${request.headers.get("host")}${new URL(request.url).pathname}`);
    if (request.url.endsWith("/away")) return Response.redirect("http://169.254.169.254/latest", 302);
    if (!request.url.endsWith("/slow")) return new Response("reached");
    return new Response(new ReadableStream({ start: (body) => body.enqueue("begun\n") }));
  },
});
const port = server.port ?? 0;
beforeAll(async () => {
  const names = join(folder, "names.json");
  writeFileSync(
    names,
    JSON.stringify({
      "api.test": ["127.0.0.1"],
      "sub.api.test": ["127.0.0.1"],
      "inside.test": ["10.0.0.1"],
      "meta.test": ["169.254.169.254"],
    }),
  );
  at = await ExecutionFixture.open(
    { SVC_TEST_NAMES: names, SVC_EGRESS_ALLOW_PRIVATE: '["127.0.0.1"]' },
    "test/harness/node/node-with-resolver.ts",
  );
});
afterAll(async () => {
  await at.close();
  await server.stop(true);
  rmSync(folder, { recursive: true, force: true });
});

/** What curl says of a URL: the status, or the number of its failure. */
const curl = (url: string, more = "") =>
  `curl -s -o /dev/null -w '%{http_code}' --max-time 5 ${more} ${url} || echo " failed $?"`;
const network = (allowlist: readonly string[], mode = "allow") => ({
  security: { network: { mode, allowlist } },
});

/** Runs one command in an agent. */
async function ran(line: string, spec: Record<string, unknown> = {}) {
  const record = await at.run({ script: [shell(line), say("done")], tools: ["cmd.run"], spec });
  const [call] = record.iterations[0].trajectory;
  const blocked = (await at.events(record.id))
    .filter(({ name }) => name === "egress_blocked")
    .map(({ body }) => ({ ...body }) as Record<string, unknown>);
  return { record, output: String(JSON.parse(call.result_json).stdout), blocked };
}
const incidentsOf = async (executionId: string) =>
  (await at.node.call("GET", `/v1/security/incidents?execution_id=${executionId}`)).body.incidents;

test.each([
  ["no network section", {}],
  ["mode none", network(["api.test"], "none")],
])("with %s nothing is reached, and every attempt is an event and an incident", async (_, spec) => {
  const { record, output, blocked } = await ran(
    `${curl(`http://api.test:${port}/`)}; ${curl("https://example.com/")}`,
    spec,
  );
  expect(record).toMatchObject({ status: "completed", runtime: { egress_enforced: true } });
  expect(output).toContain("403");
  expect(blocked).toMatchObject([
    { iteration_number: 1, host: "api.test", port, reason: "no_network" },
    { iteration_number: 1, host: "example.com", port: 443, reason: "no_network" },
  ]);
  const incidents = await until(async () => {
    const found = await incidentsOf(record.id);
    return found.length === 2 && found;
  });
  expect(incidents[0]).toMatchObject({
    type: "egress_blocked",
    category: "egress_blocked",
    severity: "medium",
    tenant_id: "svc-system",
    execution_id: record.id,
    agent_id: record.agent_id,
    violation_type: "no_network",
    count: 1,
  });
  const other = await at.node.call(
    "GET",
    `/v1/observability/security-incidents?type=egress_blocked&execution_id=${record.id}`,
  );
  expect(other.body.items).toEqual(incidents);
  const elsewhere = await at.node.call("GET", "/v1/security/incidents", undefined, {
    Authorization: `Bearer ${await at.node.token({ tenant_id: "acme" }, "tenant-acme")}`,
  });
  expect([elsewhere.status, elsewhere.body?.count]).toEqual([200, 0]);
});

test("a listed host is reached; not its subdomain, private addresses or their names", async () => {
  const lines = [
    curl(`http://api.test:${port}/`),
    curl(`http://sub.api.test:${port}/`),
    curl("http://inside.test/"),
    curl("http://meta.test/"),
    curl("http://10.0.0.1/"),
    curl(`http://127.0.0.1:${port}/`, "--noproxy ''"),
    curl(`http://api.test:${port}/away`, "-L"),
    curl(`http://api.test:${port + 1}/`),
  ];
  const spec = network([`api.test:${port}`, `127.0.0.1:${port}`, "inside.test", "meta.test", "169.254.169.254"]);
  const { record, output, blocked } = await ran(lines.join("; echo; "), spec);
  expect(record.status).toBe("completed");
  expect(output).toContain("200\n403\n403\n403\n403\n200\n403\n403");
  expect(blocked.map(({ host, reason }) => `${host} ${reason}`)).toEqual([
    "sub.api.test not_allowlisted",
    "inside.test private_address",
    "meta.test metadata_address",
    "10.0.0.1 not_allowlisted",
    "169.254.169.254 metadata_address",
    "api.test port_not_allowed",
  ]);
  expect(asked).toEqual([`api.test:${port}/`, `127.0.0.1:${port}/`, `api.test:${port}/away`]);
});

test("there is no way around the proxy", async () => {
  const lines = [
    curl(`http://127.0.0.1:${port}/`, "--noproxy '*'"),
    curl("http://93.184.216.34/", "--noproxy '*'"),
    curl(`http://127.0.0.1:${at.node.port}/health/live`, "--noproxy '*'"),
    `curl -s --max-time 5 --noproxy '*' http://example.com/ || echo unresolved`,
  ];
  const { output } = await ran(lines.join("; echo; "), network([`api.test:${port}`]));
  expect(output).toMatch(/^(000 failed \d+\s+){3}unresolved/);
});

test("credentials are one instance's, and end with it; its open connections are cut", async () => {
  const spec = network([`api.test:${port}`, `127.0.0.1:${port}`]);
  const line = `echo "proxy=$http_proxy"; curl -sN http://api.test:${port}/slow`;
  const id = await at.launch({ script: [shell(line), say("done")], tools: ["cmd.run"], spec });
  await until(() => asked.includes(`api.test:${port}/slow`));
  await at.node.call("POST", `/v1/executions/${id}/cancel`);
  await until(() => server.pendingRequests === 0, { timeoutMs: 3000 });
  // The gateway's token is no good here, nor is the password of a run that has ended.
  const through = (proxy: string) => curl(`http://api.test:${port}/`, `-x "${proxy}"`);
  const { output: ended } = await ran("echo $http_proxy", spec);
  const lines = [
    through("http://svc:$SVC_EXECUTION_TOKEN@127.0.0.1:8082"),
    through(ended.trim()),
    through("$http_proxy"),
  ];
  const { output } = await ran(lines.join("; echo; "), spec);
  expect(ended).toStartWith("http://svc:");
  expect(output).toBe("407\n407\n200");
});

test("a node without network refuses such agents, also those deployed before", async () => {
  const before = await ExecutionFixture.open();
  try {
    const open = { spec: { security: { network: { denylist: ["evil.example"] } } } };
    const agentId = await before.deploy(open);
    await before.node.stop();
    Object.assign(before.node, { env: { ...before.node.env, SVC_OPEN_EGRESS: "false" } });
    await before.node.restart();
    expect(await before.start(agentId)).toMatchObject({ status: 422, body: { code: "open_egress_forbidden" } });
    const again = await before.node.call("POST", "/v1/agents", manifest(open));
    expect(again.body.issues).toMatchObject([{ code: "open_egress_forbidden" }]);
  } finally {
    await before.close();
  }
}, 120_000);
