/** What people decide, what comes in, what is allowed and what operators look after, by `svc` (docs/reference/cli.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { scratch } from "../../harness/scratch.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";
import { type SvcOptions, svc } from "./harness.ts";

const directory = scratch("svc-operate");
let stores: TestStores;
let node: NodeProcess;
let env: Record<string, string>;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "warn" } });
  env = { SVC_API_URL: node.url, SVC_USER_TOKEN: await node.token(), XDG_CONFIG_HOME: directory };
});
afterAll(async () => {
  await node.dispose();
  await stores.dispose();
});

const says = (words: readonly string[], options: SvcOptions = {}) => svc(words, { directory, env, ...options });
/** What the caller's token says. */
const payload = async () => JSON.parse(Buffer.from((await node.token()).split(".")[1] ?? "", "base64url").toString());
/** The answer for programs of a command that must succeed. */
async function json(...words: readonly string[]) {
  const said = await says([...words, "--json"]);
  if (said.code !== 0) throw new Error(`svc ${words.join(" ")}: ${said.code} ${said.err}`);
  return said.json;
}

const workflow = (name: string, state: object, more: object = {}) =>
  node.call("POST", "/v1/workflows", {
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name, version: "1.0.0", ...more },
    spec: { initial_state: "A", states: { A: { transitions: [], ...state } } },
  });

test("every list prints a table, JSON that parses, and YAML", async () => {
  const lists = [
    ...["approvals list", "approvals list --decided", "stimuli list", "stimuli list --failed", "sources list"],
    ...["tools list", "tools calls list", "tools servers list", "contexts list", "secrets list", "credentials list"],
    ...["keys list", "tenants list", "limits list", "limits overrides", "audit list", "audit list --all-tenants"],
    ...["dead-letters list", "nodes list"],
  ];
  for (const list of lists) {
    const words = [...list.split(" "), "--limit", "2"];
    const table = await says(words);
    expect([list, table.code, table.err.includes("error:")]).toEqual([list, 0, false]);
    const { code, json: items } = await says([...words, "--json"]);
    expect([list, code, Array.isArray(items)]).toEqual([list, 0, true]);
    expect((await says([...words, "--yaml"])).code).toBe(0);
  }
});

test("tools: a call is signed and stands among the invocations", async () => {
  const called = await json("tools", "call", "svc.agent.list");
  expect(called.result.status).toBe("success");
  // What a call came to is kept a moment after it was answered.
  const calls = await until(async () => {
    const found = await json("tools", "calls", "list", "--tool", "svc.agent.list");
    return found[0].outcome === "running" ? null : found;
  });
  expect(calls).toMatchObject([{ entry: "seal", outcome: "success", session_id: called.session_id }]);
  expect((await says(["tools", "calls", "show", calls[0].id])).out).toContain("svc.agent.list");
  expect((await says(["tools", "call", "no.such.tool"])).code).toBe(4);
  const unicode = await says(["tools", "call", "svc.agent.list", "-a", "\ufb33=1", "-a", "\u{1f600}=1"]);
  // Refused for its names, not for its signature.
  expect(unicode.err).not.toContain("signature");
  expect((await says(["tools", "show", "fs.read"])).out).toContain("path");
});

test("tools servers: added, looked at, accepted, deleted", async () => {
  await json("tools", "servers", "create", "away", "--endpoint", "https://tools.example/mcp");
  expect(await json("tools", "servers", "show", "away")).toMatchObject({ transport: "streamable_http" });
  for (const verb of ["tools", "logs"]) expect(await json("tools", "servers", verb, "away")).toEqual([]);
  expect(await says(["tools", "servers", "restart", "away"])).toMatchObject({ code: 0 });
  expect(await says(["tools", "accept", "away"])).toMatchObject({ code: 0 });
  expect((await says(["tools", "servers", "delete", "away"])).code).toBe(2);
  expect(await says(["tools", "servers", "delete", "away", "--yes"])).toMatchObject({ code: 0 });
});

test("contexts, secrets, credentials and keys: made, shown, replaced, deleted", async () => {
  writeFileSync(join(directory, "readers.yaml"), "name: readers\ncapabilities:\n  - tool_pattern: fs.read\n");
  await json("contexts", "create", "readers.yaml");
  expect((await says(["contexts", "create", "readers.yaml"])).code).toBe(4);
  expect((await json("contexts", "create", "readers.yaml", "--replace")).metadata.version).toBe(2);
  expect((await says(["contexts", "show", "readers"])).out).toContain("fs.read");
  expect((await says(["contexts", "delete", "readers"], { answers: ["n"] })).code).toBe(1);
  await json("contexts", "delete", "readers", "--yes");

  expect(await says(["secrets", "create", "team/db"], { input: "hunter2\n" })).toMatchObject({ code: 0 });
  expect((await says(["secrets", "show", "team/db"])).out).not.toContain("hunter2");
  expect((await says(["secrets", "show", "team/db", "--value"])).out).toBe("hunter2\n");
  await json("secrets", "delete", "team/db", "--yes");

  const { id } = await json("credentials", "create", "github", "--value", "ghp_1", "--label", "x", "--tenant-wide");
  await json("credentials", "grant", id, "--all-agents");
  expect((await json("credentials", "show", id)).grants).toHaveLength(1);
  expect((await json("credentials", "rotate", id, "--value", "ghp_2")).version).toBe(2);
  await json("credentials", "delete", id, "--yes");

  const key = await json("keys", "create", "ci", "--scope", "agent:list", "--expires", "1d");
  expect((await says(["contexts", "list"], { env: { ...env, SVC_USER_TOKEN: key.api_key } })).code).toBe(3);
  expect(await json("keys", "show", key.id)).toMatchObject({ name: "ci" });
  expect((await json("keys", "rotate", key.id)).api_key).not.toBe(key.api_key);
  await json("keys", "delete", key.id, "--yes");
});

test("sources and stimuli: a signed sample comes in, is shown, replayed, discarded", async () => {
  await workflow("hook", { kind: "System", command: "true" });
  for (const preset of ["svc", "github", "stripe", "slack", "standard_webhooks"]) {
    const name = `s-${preset.replace("_", "-")}`;
    const made = await json("sources", "create", name, "--signature", preset, "--workflow", "hook");
    const sent = await json("sources", "test", name, "--secret", made.secret);
    expect([preset, typeof sent.stimulus_id]).toEqual([preset, "string"]);
    const keyed = () => says(["sources", "test", name, "--secret", made.secret, "--key", "a-1"]);
    // The second is told as a repeat of the first; where the key stands in the body there is none to give.
    const codes = [(await keyed()).code, (await keyed()).code];
    expect([preset, codes]).toEqual([preset, preset === "stripe" || preset === "slack" ? [2, 2] : [0, 4]]);
  }
  const { secret } = await json("sources", "rotate-secret", "s-svc");
  const refused = await says(["sources", "test", "s-svc", "--secret", "wrong"]);
  expect([refused.code, refused.err]).toEqual([3, expect.stringContaining("signed by the source's present secret")]);
  const { stimulus_id } = await json("sources", "test", "s-svc", "--secret", secret);
  expect((await says(["stimuli", "show", stimulus_id])).out).toContain("from the command line");
  expect((await says(["stimuli", "replay", stimulus_id, "--force"])).code).toBe(0);
  expect((await says(["stimuli", "send", "nowhere", '{"a":1}'])).code).not.toBe(3);
  const [failed] = await json("stimuli", "list", "--failed");
  if (failed !== undefined) expect((await says(["stimuli", "discard", failed.id, "--yes"])).code).toBe(0);
  expect((await says(["sources", "show", "s-svc"])).out).toContain("/v1/webhooks/s-svc");

  // Why nothing was started is told wherever the delivery is.
  await workflow("strict", { kind: "System", command: "true" }, { input_schema: { type: "object", required: ["n"] } });
  const strict = await json("sources", "create", "strict", "--signature", "svc", "--workflow", "strict");
  for (const words of [
    ["stimuli", "send", "strict", '{"a":1}'],
    ["sources", "test", "strict", "--secret", strict.secret],
  ])
    expect([words, (await says(words)).err]).toEqual([words, expect.stringContaining("cause_code: invalid_input")]);
  const [unstarted] = await json("stimuli", "list", "--failed", "--source", "strict");
  expect((await says(["stimuli", "show", unstarted.id])).out).toContain("cause_code: invalid_input");
  await json("sources", "delete", "s-svc", "--yes");
});

test("tenants: created, suspended, resumed, exported, deleted, restored", async () => {
  await json("tenants", "create", "acme", "Acme", "--tier", "business");
  await json("tenants", "suspend", "acme", "--reason", "unpaid", "--yes");
  expect(await json("tenants", "show", "acme")).toMatchObject({ status: "suspended", suspend_reason: "unpaid" });
  await json("tenants", "resume", "acme");
  const { size } = await json("tenants", "export", "acme", "-o", "acme.tar");
  expect(readFileSync(join(directory, "acme.tar"))).toHaveLength(size);
  await json("tenants", "delete", "acme", "--yes");
  expect(await json("tenants", "restore", "acme")).toMatchObject({ status: "active" });
  const { id } = await json("limits", "set", "agent_execution", "per_minute", "7", "--of-tenant", "acme");
  await json("limits", "delete", id, "--yes");
  await json("audit", "export", "--all-tenants", "-o", "audit.ndjson");
  expect(readFileSync(join(directory, "audit.ndjson"), "utf8")).toContain("acme");
});

test("a tenant that a mistyped --tenant made is told of, once", async () => {
  const write = (tenant: string) => says(["secrets", "create", "a", "--value", "b", "--tenant", tenant]);
  const [made, again] = [await write("acmee"), await write("acmee")];
  expect([made.code, made.err]).toEqual([0, "warning: there was no tenant acmee: this made it\n"]);
  expect([again.code, again.err]).toEqual([0, ""]);
  expect((await says(["secrets", "list", "--tenant", "nosuch"])).err).not.toContain("made");
});

test("nodes, doctor and api: what runs, whether it is well, any route", async () => {
  const [one] = await until(async () => {
    const found = await json("nodes", "list");
    return found.length > 0 ? found : null;
  });
  expect(await json("nodes", "show", one.id)).toMatchObject({ status: "active" });
  const { code, json: found } = await says(["doctor", "--json"]);
  expect(code).toBe(found.checks.some(({ status }: { status: string }) => status === "fail") ? 1 : 0);
  expect((await says(["api", "get", "/v1/agents?limit=1"])).json.items).toEqual([]);
  const body = { input: '{"name":"by-api","capabilities":[]}' };
  expect((await says(["api", "POST", "/v1/security-contexts", "-d", "-"], body)).json.name).toBe("by-api");
  expect((await says(["api", "GET", "/v1/security-contexts/by-api", "--get", "name"])).out).toBe("by-api\n");
  expect((await says(["api", "GET", "/v1/security-contexts/by-api", "--get", "metadata.version"])).out).toBe("1\n");
  expect((await says(["api", "GET", "/v1/agents", "--get", "items.0.id"])).code).toBe(4);
  expect((await says(["api", "GET", "/v1/none"])).code).toBe(4);
  expect((await says(["api", "GET", "//elsewhere.example/"])).code).toBe(2);
  expect((await says(["dead-letters", "show", crypto.randomUUID()])).code).toBe(4);
});

test("approvals: watched, shown, approved, rejected with a reason", async () => {
  const { sub: me } = await payload();
  await workflow("ask", {
    kind: "Human",
    prompt: "Go on?",
    timeout: "1h",
    approvers: [`user:${me}`, "email:ada@example.org"],
  });
  await workflow("ask-all", { kind: "Human", prompt: "Go on?", timeout: "1h" });
  const over = new AbortController();
  const watching = says(["approvals", "list", "--watch", "--json"], { interrupted: over.signal });
  for (const name of ["ask", "ask-all", "ask-all"]) await node.call("POST", `/v1/workflows/${name}/run`, { input: {} });
  const waiting = await until(async () => {
    const found = await json("approvals", "list", "--json");
    return found.length === 3 ? found : null;
  });
  const of = (name: string) => waiting.filter((one: { workflow_name: string }) => one.workflow_name === name);
  const [yes, no] = of("ask-all");
  expect((await says(["approvals", "show", yes.id])).out).toContain("Go on?");
  const [newest] = (await json("approvals", "list", "--wait", "1m")).toSorted(
    (one: { created_at: string }, other: { created_at: string }) => (one.created_at < other.created_at ? 1 : -1),
  );
  expect((await json("approvals", "show", "last")).id).toBe(newest.id);
  expect((await says(["approvals", "show", "first"])).code).toBe(2);
  expect(await json("approvals", "approve", yes.id, "-m", "go")).toMatchObject({ status: "approved" });
  expect((await says(["approvals", "approve", yes.id])).code).toBe(4);
  expect((await says(["approvals", "reject", no.id])).code).toBe(2);
  expect(await json("approvals", "reject", no.id, "not today")).toMatchObject({ status: "rejected" });
  expect(await json("approvals", "list", "--status", "rejected")).toMatchObject([{ id: no.id, feedback: "not today" }]);
  expect((await json("approvals", "link", of("ask")[0].id, "ada@example.org")).url).toContain("/v1/approval-links/");
  // A signal to a run without a Wait decides; the command says so.
  const [open] = of("ask");
  const signalled = await says(["runs", "signal", open.execution_id, "approved"]);
  expect([signalled.code, signalled.out]).toEqual([0, expect.stringContaining(`answered approval ${open.id}`)]);
  expect((await json("approvals", "show", open.id)).status).toBe("approved");
  over.abort();
  expect((await watching).lines.at(-1)).toBeArray();
});

test("a dead letter is shown and replayed once", async () => {
  const id = crypto.randomUUID();
  await stores.sql`
    insert into runtime_dead_letters (id, partition, kind, key, tenant, message_id, type, body, error, attempts, created_at)
    values (${id}, 0, 'swarm', 'k', 'svc-system', ${crypto.randomUUID()}, 'none', '{"n":1}', 'broken', 3, now())`;
  expect((await says(["dead-letters", "show", id])).out).toContain("broken");
  expect(await says(["dead-letters", "replay", id])).toMatchObject({ code: 0 });
  expect((await says(["dead-letters", "replay", id])).code).toBe(4);
});

test("members of a team; billing without a payment provider says why it refuses", async () => {
  const who = { username: "root", email: "root@team.test", sub: "root", tier: "business", expires_in: "3600" };
  const token = await node.token(who, "svc-consumer");
  const made = await node.call(
    "POST",
    "/v1/colony/teams",
    { display_name: "Ours" },
    { Authorization: `Bearer ${token}` },
  );
  const person = { env: { ...env, SVC_USER_TOKEN: token, SVC_TENANT: String(made.body.tenant_id) } };
  const answered = async (...words: readonly string[]) => {
    const { code, err, json: answer } = await says([...words, "--json"], person);
    expect([words, code, code === 0 ? "" : err]).toEqual([words, 0, ""]);
    return answer;
  };
  const invited = await answered("members", "invite", "ada@team.test", "--role", "admin");
  expect(invited).toMatchObject({ role: "admin", status: "invited" });
  const members = await answered("members", "list");
  expect(members.map(({ email }: { email: string }) => email).sort()).toEqual(["ada@team.test", "root@team.test"]);
  expect(await answered("members", "remove", invited.id, "--yes")).toMatchObject({ status: "cancelled" });
  expect((await says(["members", "role", crypto.randomUUID(), "admin"], person)).code).toBe(4);
  for (const verb of ["show", "invoices", "prices", "portal"]) {
    const { code, err } = await says(["billing", verb], person);
    // The service tells a plan without a provider of payments; of the others it says that there is none.
    expect([verb, code === 0 || err.includes("request id")]).toEqual([verb, true]);
    expect([verb, code]).not.toEqual([verb, 2]);
  }
});
