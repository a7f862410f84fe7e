/** Models end to end: two nodes, two vendors on this machine, and the file that names them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { startVendor } from "../../harness/outside/vendor.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "./fixture.ts";

const folder = mkdtempSync(join(tmpdir(), "svc-models-"));
const SVC_CONFIG_FILE = join(folder, "config.yaml");
const [main, backup] = [await startVendor(), await startVendor()];
let at: ExecutionFixture;
let other: NodeProcess;
const metricsPorts: number[] = [];

const providers = (aliases: readonly string[] = ["default"]) =>
  [
    ["main", main, "big"],
    ["backup", backup, "small"],
  ].map(([name, vendor, model]) => ({
    name,
    type: "openai-compatible",
    endpoint: (vendor as typeof main).endpoint("openai"),
    models: aliases.map((alias) => ({ alias, model, cost_per_1k_tokens: { input: 1, output: 2 } })),
  }));
function configure(document: Record<string, unknown>): void {
  const llm_selection = { fallback_provider: "backup", max_retries: 0 };
  writeFileSync(SVC_CONFIG_FILE, JSON.stringify({ llm_selection, ...document }));
}

beforeAll(async () => {
  configure({ llm_providers: providers() });
  at = await ExecutionFixture.open({ SVC_CONFIG_FILE, SVC_LOG_LEVEL: "info", ...(await metricsOnAFreePort()) });
  other = await startNodeProcess(at.stores, { env: { SVC_CONFIG_FILE, ...(await metricsOnAFreePort()) } });
});
afterAll(async () => {
  await other.dispose();
  await at.close();
  await Promise.all([main.close(), backup.close()]);
  rmSync(folder, { recursive: true, force: true });
});
beforeEach(() => {
  main.reset();
  backup.reset();
});

async function metricsOnAFreePort() {
  const free = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const port = free.port ?? 0;
  await free.stop(true);
  metricsPorts.push(port);
  return { SVC_METRICS_ENABLED: "true", SVC_METRICS_PORT: String(port) };
}
/** The pages of both nodes: either may have done the work. */
async function metrics(): Promise<string> {
  const pages = metricsPorts.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text());
  return (await Promise.all(pages)).join("\n");
}
const person = (username: string) => at.node.token({ grant_type: "password", username, password: "dev" });

test("the start tells which model serves which alias", () => {
  expect(at.node.output.match(/default → .*/g)).toEqual(["default → big at main"]);
  expect(at.node.output).toContain('served=[{"alias":"default","provider":"main","model":"big"}]');
});

describe("what a reply is warned of", () => {
  test("a fallback, a cut answer, one in one piece: event, warning of the record, metric", async () => {
    main.always({ status: 503, message: "overloaded" });
    backup.push({ reply: { text: "so far", finish: "length", usage: { input: 100, output: 50 } }, whole: true });
    const record = await at.run({ tools: [] });
    expect(record).toMatchObject({ status: "completed", output: "so far", usage: { cost_usd: 0.2 } });
    const codes = ["llm_fallback_used", "llm_stream_ignored", "llm_answer_truncated"];
    const events = (await at.events(record.id)).filter(({ name }) => name === "execution_warning");
    for (const told of [record.warnings, events.map(({ body }) => body)]) {
      const ours = told.filter(({ code }: { code: string }) => code.startsWith("llm_"));
      expect(ours.map(({ code }: { code: string }) => code)).toEqual(codes);
    }
    expect(record.warnings[0].message).toBe(
      "small at backup answered, since big at main did not (service_unavailable: 503: overloaded)",
    );
    const text = await metrics();
    for (const code of codes) {
      expect(text).toContain(`svc_llm_warnings_total{provider="backup",model="small",code="${code}"} 1`);
    }
    expect(text).toContain('svc_llm_tokens_total{provider="backup",model="small",direction="output"} 50');
    expect(text).toContain('svc_llm_cost_usd_total{provider="backup",model="small"} 0.2');
    expect(text).toContain('svc_llm_call_duration_seconds_count{provider="backup",model="small"} 1');
  });
});

test("llm_timeout_seconds bounds the whole wait of a node with a bootstrap", async () => {
  main.always({ stall: "middle" });
  backup.always({ stall: "before" });
  const record = await at.run({ tools: [], execution: { llm_timeout_seconds: 1 } });
  expect(record).toMatchObject({ status: "failed", error_code: "llm_error" });
  expect(record.error).toContain("no complete reply within 1 s");
  expect([main.requests.length, backup.requests.length]).toEqual([1, 0]);
}, 90_000);

test("a refused tool call is a security incident of its tenant", async () => {
  const wanted = [
    { name: "no_such_tool", arguments: {} },
    { name: "fs_read", arguments: { path: "/etc/passwd" } },
  ];
  main.push({ reply: { toolCalls: wanted } }, { reply: { text: "ok" } });
  const record = await at.run({ tools: ["fs.read"] });
  expect(record.status).toBe("completed");
  const path = `/v1/security/incidents?category=policy_violation_blocked&execution_id=${record.id}`;
  const found = await until(
    async () => {
      const { incidents } = (await at.node.call("GET", path)).body;
      return incidents.length === 2 && incidents;
    },
    { what: "both incidents" },
  );
  const shared = { severity: "high", agent_id: record.agent_id, tenant_id: record.tenant_id, count: 1 };
  expect(found).toMatchObject([shared, shared]);
  expect(found.map((one: Record<string, string>) => `${one.tool_name} ${one.violation_type}`).sort()).toEqual([
    "fs.read path_outside_boundary",
    "no_such_tool tool_not_allowed",
  ]);
});

describe("POST /v1/admin/llm/reload", () => {
  const reload = async (username: string) => {
    const headers = { Authorization: `Bearer ${await person(username)}` };
    return at.node.call("POST", "/v1/admin/llm/reload", undefined, headers);
  };
  const aliasesOf = async (node: NodeProcess): Promise<string[]> =>
    (await node.call("GET", "/v1/models")).body.items.map(({ alias }: { alias: string }) => alias);

  test("is for operators with the role admin", async () => {
    configure({ llm_providers: providers(["default", "sneaked-in"]) });
    for (const username of ["readonly", "operator"]) {
      expect(await reload(username)).toMatchObject({ status: 403, body: { code: "operator_required" } });
    }
    const tenant = { Authorization: `Bearer ${await at.node.token({}, "svc-consumer")}` };
    const answer = await at.node.call("POST", "/v1/admin/llm/reload", undefined, tenant);
    expect(answer).toMatchObject({ status: 403, body: { code: "operator_required" } });
    expect(await aliasesOf(at.node)).toEqual(["default"]);
  });

  test("takes a valid file on every node, and changes nothing for an invalid one", async () => {
    configure({ llm_providers: providers(["default", "fresh"]) });
    const answer = await reload("admin");
    expect(answer).toMatchObject({ status: 200, body: { status: "reloaded", count: 2, other_nodes_told: true } });
    expect(answer.body.served[1]).toEqual({ alias: "fresh", provider: "main", model: "big" });
    expect(await aliasesOf(at.node)).toEqual(["default", "fresh"]);
    await until(async () => (await aliasesOf(other)).includes("fresh"), { what: "the other node" });
    main.push({ reply: { text: "by the new alias" } });
    const runtime = { model: "fresh" };
    expect(await at.run({ tools: [], runtime })).toMatchObject({ output: "by the new alias" });
    const headers = { Authorization: `Bearer ${await person("admin")}` };
    const { items } = (await at.node.call("GET", "/v1/admin/audit", undefined, headers)).body;
    const actions = items.map(({ action }: { action: string }) => action);
    expect(actions).toContain("models.reloaded");

    configure({ llm_providers: [...providers(["other"]), { name: "x", type: "unheard-of" }] });
    const refused = await reload("admin");
    expect(refused).toMatchObject({ status: 422, body: { code: "validation_failed" } });
    expect(refused.body.issues[0].path).toBe("llm_providers.2.type");
    writeFileSync(SVC_CONFIG_FILE, "llm_providers: [");
    expect((await reload("admin")).status).toBe(422);
    rmSync(SVC_CONFIG_FILE);
    expect((await reload("admin")).status).toBe(422);
    expect(await aliasesOf(at.node)).toEqual(["default", "fresh"]);
  });
});

test("every metric of a node is on the page of metrics, and no other", async () => {
  const names = [...new Set([...(await metrics()).matchAll(/^# HELP (\S+)/gm)].map(([, name]) => name))];
  const page = readFileSync(join(import.meta.dir, "../../../docs/reference/metrics.md"), "utf8");
  const documented = [...page.matchAll(/^\| `(svc_[a-z_]+)`/gm)].map(([, name]) => name);
  expect(documented.sort()).toEqual(names.sort());
});

test("every queue of a node is on the page of metrics, and no other", async () => {
  const text = await metrics();
  const page = readFileSync(join(import.meta.dir, "../../../docs/reference/metrics.md"), "utf8");
  const [, table = ""] = page.split("## Queues");
  const documented = [...table.matchAll(/^\| `(\w+)` +\| ([^|]+)\|/gm)];
  for (const series of ["svc_queue_depth", "svc_queue_bytes"]) {
    const seen = [...text.matchAll(new RegExp(`^${series}\\{queue="(\\w+)"\\} [0-9]`, "gm"))].map(
      ([, name = ""]) => name,
    );
    const told = documented.filter(([, , kinds = ""]) => kinds.includes(series)).map(([, name = ""]) => name);
    expect([...new Set(seen)].sort()).toEqual(told.sort());
  }
});
