/** Security contexts through the API (docs/reference/security-contexts.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { LooseJson } from "../../harness/loose-json.ts";
import { manifest } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "silent" } });
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

type Headers = Readonly<Record<string, string>>;
const bearer = async (fields: Headers, realm: string) => ({
  Authorization: `Bearer ${await node.token(fields, realm)}`,
});
/** Owner of the tenant: its first user. */
const owner = (tenant = "acme") => bearer({ username: `owner-of-${tenant}` }, `tenant-${tenant}`);
const operator = () =>
  bearer(
    { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" },
    "svc-system",
  );
const call = async (method: string, path: string, body?: unknown, headers?: Headers) =>
  node.call(method, `/v1/security-contexts${path}`, body, headers ?? (await owner()));
const evaluate = async (name: string, body: object, headers?: Headers) =>
  (await call("POST", `/${name}/evaluate`, body, headers)).body;

const build = {
  deny_list: ["fs.delete"],
  capabilities: [
    { tool_pattern: "fs.*", path_allowlist: ["/workspace"] },
    {
      tool_pattern: "cmd.run",
      subcommand_allowlist: { git: ["status", "diff"], make: [] },
      rate_limit: { calls: 20, per_seconds: 60 },
      max_concurrent: 1,
    },
  ],
};

test("a context is made, shown, listed with the system's, replaced, deleted", async () => {
  const made = await call("POST", "", { name: "build", description: null, ...build });
  expect([made.status, made.headers.get("etag")]).toEqual([201, '"1"']);
  expect(made.body).toEqual({
    name: "build",
    description: null,
    ...build,
    usable_by: null,
    tenant_id: "acme",
    metadata: {
      created_at: expect.any(String),
      updated_at: made.body.metadata.created_at,
      version: 1,
      updated_by: expect.any(String),
    },
  });
  expect((await call("GET", "/build")).body).toEqual(made.body);
  expect((await call("POST", "", { name: "build" })).body.code).toBe("context_exists");
  const list = await call("GET", "");
  const names: string[] = list.body.items.map(({ name }: { name: string }) => name);
  expect(names).toEqual([
    "build",
    "svc-agent-runtime",
    "svc-consumer-business",
    "svc-consumer-enterprise",
    "svc-consumer-free",
    "svc-consumer-pro",
    "svc-system-operator",
  ]);
  expect(list.body.security_contexts).toEqual(list.body.items);
  const paged = await call("GET", "?limit=3");
  const rest = await call("GET", `?limit=3&cursor=${paged.body.next_cursor}`);
  expect([...paged.body.items, ...rest.body.items].map(({ name }) => name)).toEqual(names.slice(0, 6));

  const stale = await call("PUT", "/build", build, { ...(await owner()), "If-Match": '"2"' });
  expect([stale.status, stale.body.code]).toEqual([412, "version_mismatch"]);
  const replaced = await call("PUT", "/build", { capabilities: [] }, { ...(await owner()), "If-Match": '"1"' });
  expect(replaced.body).toMatchObject({ capabilities: [], deny_list: [], metadata: { version: 2 } });
  expect((await call("GET", "/build", undefined, await owner("other"))).body.code).toBe("security_context_not_found");
  expect((await call("DELETE", "/build")).body).toEqual({ status: "deleted", name: "build" });
  expect((await call("GET", "/build")).status).toBe(404);
  expect((await call("PUT", "/build", build)).status).toBe(404);
  const { items } = (await node.call("GET", "/v1/audit?action=security_context.", undefined, await owner())).body;
  expect(items.map(({ action, target, details }: LooseJson) => [action, target.id, details.version])).toEqual([
    ["security_context.deleted", "build", 2],
    ["security_context.updated", "build", 2],
    ["security_context.created", "build", 1],
  ]);
});

test.each([
  ["an unknown member", { name: "x", colour: "red" }],
  ["an unknown member of a capability", { name: "x", capabilities: [{ tool_pattern: "*", paths: [] }] }],
  ["a capability without a pattern", { name: "x", capabilities: [{}] }],
  ["a pattern with a star inside", { name: "x", capabilities: [{ tool_pattern: "fs*" }] }],
  ["a pattern that only looks alike", { name: "x", deny_list: ["fs.delеte"] }],
  ["a name in upper case", { name: "Build" }],
  ["a path with ..", { name: "x", capabilities: [{ tool_pattern: "*", path_allowlist: ["/a/../b"] }] }],
  ["a domain that is none", { name: "x", capabilities: [{ tool_pattern: "*", domain_allowlist: ["*"] }] }],
  ["a rate of none", { name: "x", capabilities: [{ tool_pattern: "*", rate_limit: { calls: 0, per_seconds: 1 } }] }],
  ["a condition that cannot be read", { name: "x", capabilities: [{ tool_pattern: "*", approval: { when: "a ==" } }] }],
  [
    "more people than may decide",
    { name: "x", capabilities: [{ tool_pattern: "*", approval: { approvers: ["user:a"], quorum: 2 } }] },
  ],
  ["an approver in no form", { name: "x", usable_by: ["ann"] }],
  ["more capabilities than a context has", { name: "x", capabilities: Array(101).fill({ tool_pattern: "*" }) }],
])("%s is refused as 422", async (_, body) => {
  const answer = await call("POST", "", body);
  expect([answer.status, answer.body.code]).toEqual([422, "validation_failed"]);
  expect(answer.body.issues.length).toBeGreaterThan(0);
});

test("contexts that begin with svc- are written by operators only, and bind at once", async () => {
  for (const [method, path, body] of [
    ["POST", "", { name: "svc-mine" }],
    ["PUT", "/svc-agent-runtime", {}],
    ["DELETE", "/svc-agent-runtime", undefined],
  ] as const) {
    expect((await call(method, path, body)).body.code).toBe("operator_required");
  }
  const root = await operator();
  expect((await call("POST", "", { name: "svc-agent-runtime" }, root)).body.code).toBe("context_exists");
  expect((await call("DELETE", "/svc-agent-runtime?force=true", undefined, root)).body.code).toBe("context_in_use");
  expect((await call("POST", "", { name: "svc-nothing" }, root)).status).toBe(201);
  expect(await evaluate("svc-nothing", { tool_name: "fs.read" })).toMatchObject({ allowed: false, error_code: 2000 });
  const open = { capabilities: [{ tool_pattern: "*" }] };
  expect((await call("PUT", "/svc-nothing", open, root)).body.metadata.version).toBe(2);
  await until(async () => (await evaluate("svc-nothing", { tool_name: "fs.read" })).allowed === true);
  expect((await call("DELETE", "/svc-nothing", undefined, root)).status).toBe(200);
});

test("a dry run tells what would be stored, or what is wrong, and stores nothing", async () => {
  const dry = (method: string, name: string, body: object) => call(method, `${name}?dry_run=true`, body);
  const made = await dry("POST", "", { name: "foreseen", ...build });
  expect([made.status, made.body.metadata.version]).toEqual([200, 1]);
  expect((await call("GET", "/foreseen")).status).toBe(404);
  expect((await dry("PUT", "/foreseen", build)).status).toBe(404);
  await call("POST", "", { name: "foreseen", ...build });
  expect((await dry("POST", "", { name: "foreseen", ...build })).body.code).toBe("context_exists");
  const replaced = await dry("PUT", "/foreseen", { deny_list: ["fs.*"] });
  expect([replaced.status, replaced.body.metadata.version, replaced.body.deny_list]).toEqual([200, 2, ["fs.*"]]);
  expect((await call("GET", "/foreseen")).body).toMatchObject({ metadata: { version: 1 }, deny_list: ["fs.delete"] });
  const faulty = { capabilities: [{ tool_pattern: "fs.*", approval: { when: "(" } }] };
  const { status, body } = await dry("PUT", "/foreseen", faulty);
  expect([status, body.issues[0].path]).toEqual([422, "capabilities.0.approval.when"]);
});

test("evaluate tells the codes of refusals and changes no counter", async () => {
  await call("POST", "", { name: "paper", ...build });
  const git = { command: "git", args: ["status"] };
  const told = async (tool_name: string, given: object) => {
    const { code, error_code, violation_type, capability_index, constraint } = await evaluate("paper", {
      tool_name,
      arguments: given,
    });
    return [code, error_code, violation_type, capability_index, constraint];
  };
  expect(await told("fsx.read", {})).toEqual(["tool_not_allowed", 2000, "tool_not_allowed", null, "tool_pattern"]);
  expect(await told("fs.delete", { path: "x" })).toEqual([
    "tool_denied",
    2001,
    "tool_explicitly_denied",
    null,
    "deny_list",
  ]);
  expect(await evaluate("paper", { tool_name: "fs.delete" })).toMatchObject({
    decided_by: "paper",
    details: { pattern: "fs.delete", attempted: "fs.delete", constraint: "deny_list" },
  });
  const outside = { path: "/workspace/../etc/passwd" };
  expect(await told("fs.read", outside)).toEqual([
    "path_not_allowed",
    2002,
    "path_traversal_attempt",
    0,
    "path_allowlist",
  ]);
  expect((await told("cmd.run", { command: "ls; rm -rf x" }))[4]).toBe("shell_syntax");
  expect((await told("cmd.run", { command: "git push" }))[0]).toBe("subcommand_not_allowed");
  for (const _ of "12") {
    expect(await evaluate("paper", { tool_name: "cmd.run", arguments: git })).toEqual({
      allowed: true,
      code: null,
      error_code: null,
      violation_type: null,
      capability_index: 1,
      constraint: null,
      message: "cmd.run is allowed",
      context_version: 1,
      decided_by: "paper",
      details: {},
      remaining: 20,
      approval: false,
    });
  }
  expect(await evaluate("nowhere", { tool_name: "x" })).toMatchObject({ code: "security_context_not_found" });
  const execution_id = crypto.randomUUID();
  expect(await evaluate("paper", { tool_name: "x", execution_id })).toMatchObject({ code: "execution_not_found" });
});

test("a person would be asked where the condition holds, and where it cannot be told", async () => {
  const approval = { when: "size > 10", approvers: ["role:owner"] };
  await call("POST", "", { name: "asking", capabilities: [{ tool_pattern: "*", approval }] });
  const asks = async (given: object) => (await evaluate("asking", { tool_name: "x.y", arguments: given })).approval;
  expect([await asks({ size: 11 }), await asks({ size: 9 })]).toEqual([true, false]);
  expect((await call("GET", "/asking")).body.capabilities[0].approval).toEqual({
    when: "size > 10",
    approvers: ["role:owner"],
    forbid_initiator: false,
    quorum: 1,
    timeout_seconds: 3600,
    on_timeout: "reject",
    editable: false,
    remember: null,
    elicit: false,
  });
});

test("a context that a deployed agent names is deleted by force alone", async () => {
  await call("POST", "", { name: "named" });
  const deploy = async (name: string, security_context: string, headers?: Headers) =>
    node.call("POST", "/v1/agents", manifest({ name, spec: { security_context } }), headers ?? (await owner()));
  expect((await deploy("binds", "named")).status).toBeLessThan(300);
  expect((await deploy("unbound", "nowhere")).body.code).toBe("unknown_security_context");
  expect((await deploy("foreign", "named", await owner("other"))).body.code).toBe("unknown_security_context");
  const refused = await call("DELETE", "/named");
  expect([refused.status, refused.body.code]).toEqual([409, "context_in_use"]);
  expect((await call("DELETE", "/named?force=true")).status).toBe(200);
});

test("usable_by keeps others from naming a context at a start and in a manifest", async () => {
  const mine = await owner();
  const other = await bearer({ username: "bob", email: "bob@acme.test" }, "tenant-acme");
  await call("POST", "", { name: "guarded", capabilities: [{ tool_pattern: "*" }], usable_by: ["role:owner"] });
  const free = (await node.call("POST", "/v1/agents", manifest(), mine)).body.agent_id;
  const start = (headers: Headers) =>
    node.call("POST", "/v1/executions", { agent_id: free, input: "", security_context: "guarded" }, headers);
  expect((await start(other)).body.code).toBe("security_context_forbidden");
  expect((await start(mine)).status).toBeLessThan(300);
  await call("PUT", "/guarded", { usable_by: ["email:Bob@acme.test"] });
  await until(async () => (await start(mine)).body.code === "security_context_forbidden");
  expect((await start(other)).status).toBeLessThan(300);
  const named = manifest({ name: "guards", spec: { security_context: "guarded" } });
  expect((await node.call("POST", "/v1/agents", named, mine)).body.code).toBe("security_context_forbidden");
});

test("a tenant's context default stands before the system's", async () => {
  const mine = await owner("defaults");
  const plain = (await node.call("POST", "/v1/agents", manifest(), mine)).body.agent_id;
  const start = async () => {
    const started = await node.call("POST", "/v1/executions", { agent_id: plain, input: "" }, mine);
    const record = await node.call("GET", `/v1/executions/${started.body.execution_id}`, undefined, mine);
    return record.body.security_context;
  };
  expect(await start()).toBe("svc-agent-runtime");
  await call("POST", "", { name: "default", capabilities: [{ tool_pattern: "fs.*" }] }, mine);
  await until(async () => (await start()) === "default");
});
