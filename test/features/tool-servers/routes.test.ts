/** Tool servers through the API: who may define what, and an agent that uses one (docs/reference/tool-servers.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import type { ServerTool } from "../../../src/features/tool-servers/schema.ts";
import { calls, say } from "../../harness/manifests.ts";
import { OAuthServer } from "../../harness/outside/oauth-server.ts";
import { legacyRemote, type RemoteTools } from "../../harness/outside/remote-tools.ts";
import { type ToolServerPrograms, toolServerPrograms } from "../../harness/outside/tool-servers.ts";
import { until } from "../../harness/until.ts";
import { type Caller, CredentialFixture } from "../credentials/fixture.ts";

let at: CredentialFixture;
let programs: ToolServerPrograms;
let remote: RemoteTools;
let owner: Caller;
let provider: OAuthServer;
let admin: Caller;
let member: Caller;
let operator: Caller;

beforeAll(async () => {
  programs = await toolServerPrograms("odd");
  remote = legacyRemote();
  provider = new OAuthServer();
  at = await CredentialFixture.open({
    SVC_OAUTH_PROVIDERS: JSON.stringify([provider.settings("crm", { issuer: "https://crm.test" })]),
    SVC_TOOL_SERVER_PATHS: programs.directory,
    SVC_EGRESS_ALLOW_PRIVATE: JSON.stringify(["127.0.0.0/8"]),
    ODD_VARIABLE: "value-of-the-node",
    SVC_TOOL_SERVERS: JSON.stringify([
      {
        name: "of-the-file",
        executable: programs.executable,
        args: [programs.program("odd")],
        credentials: { ODD_TOKEN: "ODD_VARIABLE" },
      },
    ]),
  });
  owner = await at.member("olga", "tenant:owner");
  admin = await at.member("ada", "tenant:admin");
  member = await at.member("max");
  operator = {
    ...(await at.bearer({ grant_type: "password", username: "admin", password: "dev" }, "svc-system")),
    "X-Svc-Tenant": "acme",
  };
  await at.call(owner, "GET", "");
}, 60_000);
afterAll(async () => {
  await at.close();
  await remote.stop();
  provider.stop();
});

const call = (who: Caller, method: string, path: string, body?: unknown, headers: Caller = {}) =>
  at.node.call(method, `/v1/tool-servers${path}`, body, { ...who, ...headers });
const code = async (answer: ReturnType<typeof call>) => {
  const { status, body } = await answer;
  return [status, body?.code ?? null];
};
const http = (name: string, more: object = {}) => ({ name, transport: "streamable_http", url: remote.url, ...more });
const program = (name: string, more: object = {}) => ({
  name,
  executable: programs.executable,
  args: [programs.program("odd")],
  ...more,
});
/** Requests have a rate. */
const slowly = { everyMs: 100 };
const untilListed = (name: string, who = owner) =>
  until(async () => (await call(who, "GET", `/${name}`)).body.tools_count > 0, { timeoutMs: 40_000, ...slowly });

describe("who may define what", () => {
  test("a tenant's PATCH to or of a stdio server is refused, but for enabled", async () => {
    expect(await code(call(owner, "POST", "", program("own")))).toEqual([403, "operator_required"]);
    expect((await call(operator, "POST", "", program("built"))).status).toBe(201);
    expect((await call(owner, "POST", "", http("hosted"))).status).toBe(201);
    const refused = [403, "operator_required"];
    expect(await code(call(owner, "PATCH", "/hosted", { transport: "stdio", executable: "sh", url: null }))).toEqual(
      refused,
    );
    expect(await code(call(owner, "PATCH", "/built", { args: [] }))).toEqual(refused);
    expect(await code(call(owner, "PATCH", "/built", { transport: "streamable_http", url: remote.url }))).toEqual(
      refused,
    );
    expect(await code(call(owner, "PATCH", "/built", { enabled: false, args: [] }))).toEqual(refused);
    expect((await call(owner, "PATCH", "/built", { enabled: false })).body).toMatchObject({
      enabled: false,
      status: "stopped",
    });
    expect(await code(call(member, "PATCH", "/built", { enabled: true }))).toEqual([403, "insufficient_scope"]);
    expect((await call(owner, "PATCH", "/built", { enabled: true })).status).toBe(200);
    expect((await call(owner, "POST", "/built/restart")).status).toBe(202);
    expect((await call(owner, "DELETE", "/built")).body).toEqual({ status: "deleted", name: "built" });
    expect(await code(call(owner, "GET", "/built"))).toEqual([404, "tool_server_not_found"]);
  }, 60_000);

  test("every reference has to be open to the caller, unchanged ones too", async () => {
    const secret = await at.node.call("POST", "/v1/secrets/ops/crm", { value: "value-of-the-crm" }, owner);
    expect(secret.status).toBe(200);
    const personal = (await at.made(admin, { scope: "personal" })).id;
    expect(await code(call(owner, "POST", "", http("env", { credentials: { "X-Key": "env:PATH" } })))).toEqual([
      403,
      "operator_required",
    ]);
    expect(
      await code(call(owner, "POST", "", http("cred", { credentials: { "X-Key": `credential:${personal}` } }))),
    ).toEqual([422, "credential_forbidden"]);
    const made = await call(
      admin,
      "POST",
      "",
      http("refs", { credentials: { "X-Key": `credential:${personal}`, "X-Crm": "secret:ops/crm" } }),
    );
    expect(made.body).toMatchObject({ credentials: { "X-Key": `credential:${personal}`, "X-Crm": "secret:ops/crm" } });
    const { status, body } = await call(owner, "PATCH", "/refs", { call_timeout_seconds: 5 });
    expect([status, body.code, body.issues[0].path]).toEqual([422, "credential_forbidden", "credentials.X-Key"]);
    const key = await at.node.call(
      "POST",
      "/v1/api-keys",
      { name: "no-secrets", scopes: ["tool_server:read", "tool_server:write"] },
      admin,
    );
    const narrow = { Authorization: `Bearer ${key.body.key ?? key.body.value}` };
    expect(await code(call(narrow, "PATCH", "/refs", { enabled: false }))).toEqual([422, "secret_forbidden"]);
  }, 60_000);

  test("servers of all tenants are the operators', and hide how they are reached", async () => {
    expect(await code(call(owner, "POST", "", http("global", { tenant_id: null })))).toEqual([
      403,
      "operator_required",
    ]);
    expect((await call(operator, "POST", "", http("global", { tenant_id: null }))).body).toMatchObject({
      tenant_id: null,
      url: remote.url,
    });
    expect((await call(owner, "GET", "/global")).body).toMatchObject({ tenant_id: null, url: null, credentials: {} });
    for (const [method, path] of [
      ["PATCH", ""],
      ["DELETE", ""],
      ["POST", "/restart"],
      ["POST", "/accept"],
      ["GET", "/logs"],
    ]) {
      const body = method === "PATCH" ? { enabled: false } : undefined;
      expect([method, path, ...(await code(call(owner, method ?? "", `/global${path}`, body)))]).toEqual([
        method ?? "",
        path ?? "",
        403,
        "operator_required",
      ]);
    }
    const stranger = await at.consumer("carl");
    expect((await call(stranger, "GET", "")).body.items.map(({ name }: { name: string }) => name)).toEqual([
      "global",
      "of-the-file",
    ]);
    expect(await code(call(operator, "POST", "", http("global", { tenant_id: null })))).toEqual([
      409,
      "tool_server_exists",
    ]);
    expect(await code(call(owner, "POST", "", http("global", { tenant_id: "other" })))).toEqual([
      403,
      "operator_required",
    ]);
  }, 60_000);

  test.each([
    ["a reserved name", { name: "fs" }, "name"],
    ["no URL", { url: null }, "url"],
    ["a URL of a file", { url: "file:///etc/passwd" }, "url"],
    ["a URL with a user", { url: "https://a:b@example.com" }, "url"],
    ["a header of the connection", { credentials: { Host: "secret:a" } }, "credentials.Host"],
    ["a header twice", { credentials: { "x-a": "secret:a", "X-A": "secret:a" } }, "credentials.X-A"],
    ["a reference that is none", { credentials: { "X-A": "secret:../a" } }, "credentials.X-A"],
    ["arguments of a program", { args: ["x"] }, "args"],
    ["too long a timeout", { call_timeout_seconds: 601 }, "call_timeout_seconds"],
  ])("%s is refused", async (_, more, path) => {
    const { status, body } = await call(owner, "POST", "", http("wrong", more));
    expect([status, body.code, body.issues[0].path]).toEqual([422, "validation_failed", path]);
  });
});

test("a server of the configuration file is there for all, and changed there only", async () => {
  await untilListed("of-the-file");
  expect((await call(operator, "GET", "/of-the-file")).body).toMatchObject({
    source: "file",
    tenant_id: null,
    status: "running",
    credentials: { ODD_TOKEN: "ODD_VARIABLE" },
    definitions: "follow",
    instances: [{ status: "running", restarts: 0 }],
  });
  expect(await code(call(operator, "PATCH", "/of-the-file", { enabled: false }))).toEqual([409, "tool_server_in_file"]);
  expect(await code(call(operator, "DELETE", "/of-the-file"))).toEqual([409, "tool_server_in_file"]);
  const logs = await until(async () => {
    const { body } = await call(operator, "GET", "/of-the-file/logs");
    return body.count > 0 && body.logs;
  }, slowly);
  expect(logs[0].line).toBe("begun [redacted]");
}, 60_000);

test("a credential is in no answer and in no table; records show where it comes from", async () => {
  await untilListed("of-the-file");
  const { body } = await call(operator, "GET", "/of-the-file");
  expect(body.credentials).toEqual({ ODD_TOKEN: "ODD_VARIABLE" });
  expect(JSON.stringify(body)).not.toContain("value-of-the-node");
  expect(await at.dump()).not.toContain("value-of-the-node");
});

test("an OAuth2 credential is the bearer; a new token takes a new connection", async () => {
  const post = async (path: string, body: object = {}) => {
    const answer = await at.call(admin, "POST", path, body);
    expect([path, answer.status, answer.body?.code]).toEqual([path, 200, undefined]);
    return answer.body;
  };
  const { auth_url, state } = await post("/oauth/initiate", { provider: "crm" });
  const { id } = await post("/oauth/callback", { code: provider.consent(auth_url), state });
  const other = legacyRemote();
  const credentials = { Authorization: `credential:${id}` };
  expect((await call(admin, "POST", "", http("bearing", { url: other.url, credentials }))).status).toBe(201);
  await untilListed("bearing", admin);
  const first = new Set(other.authorizations);
  expect([first.size, [...first][0]]).toEqual([1, expect.stringMatching(/^Bearer ./)]);
  const { body } = await call(admin, "GET", "/bearing");
  expect(body.credentials).toEqual(credentials);
  expect(JSON.stringify(body)).not.toContain([...first][0]?.slice("Bearer ".length) ?? "");
  await post(`/${id}/rotate`);
  const renewed = await until(() => other.authorizations.find((value) => !first.has(value)), { timeoutMs: 40_000 });
  expect(renewed).toStartWith("Bearer ");
  expect((await call(admin, "DELETE", "/bearing")).status).toBe(200);
  await other.stop();
}, 90_000);

/** What an agent of acme reads of one call. */
async function readBy(server: string, given: Record<string, unknown>, tool = `${server}.act`): Promise<string> {
  const script = [calls([tool, given]), say("{{last}}")];
  const deployed = await at.executions.deploy({ tools: [`${server}.*`, "cmd.run"], script }, owner);
  const { body } = await at.executions.start(deployed, {}, owner);
  const bearer = await at.executions.follow(body.execution_id, "", owner);
  await bearer.done;
  return JSON.stringify(bearer.frames.at(-1)?.body);
}

test("an agent calls a tool of a server, and reads [redacted] for its credential", async () => {
  await untilListed("of-the-file");
  expect(await readBy("of-the-file", { do: "env" })).toContain("[redacted]");
  // No sandbox of an agent has it.
  const look = "env; cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; echo looked";
  const seen = await readBy("of-the-file", { command: "sh", args: ["-c", look] }, "cmd.run");
  expect(seen).toContain("looked");
  expect(seen).not.toContain("[redacted]");
  expect(seen).not.toMatch(/value-of-the-node|ODD_/);
  expect(await at.dump()).not.toContain("value-of-the-node");
}, 60_000);

test("a program reaches the hosts of its egress list through the proxy, and no others", async () => {
  const open = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status: 299 }) });
  const other = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("", { status: 299 }) });
  const egress = [`127.0.0.1:${open.port}`];
  expect((await call(operator, "POST", "", program("outgoing", { egress }))).status).toBe(201);
  await untilListed("outgoing");
  const url = (port: number | undefined) => `http://127.0.0.1:${port}/`;
  expect(await readBy("outgoing", { do: "proxied", url: url(open.port) })).toContain("299");
  expect(await readBy("outgoing", { do: "proxied", url: url(other.port) })).toContain("403");
  await Promise.all([open.stop(true), other.stop(true)]);
}, 60_000);

test("a withheld tool is callable once it is accepted", async () => {
  const other = legacyRemote();
  expect((await call(owner, "POST", "", http("changing", { url: other.url }))).status).toBe(201);
  await untilListed("changing");
  other.change();
  const withheld = await until(async () => {
    const { body } = await call(owner, "GET", "/changing");
    return body.withheld_tools.length > 0 && body.withheld_tools;
  }, slowly);
  expect(withheld).toEqual(["echo", "fresh"]);
  const { items } = (await call(owner, "GET", "/changing/tools")).body;
  const told = ({ name, withheld: waits, is_new, accepted }: ServerTool) => [name, waits, is_new, accepted !== null];
  expect(items.map(told)).toEqual([
    ["changing.act", false, false, false],
    ["changing.echo", true, false, true],
    ["changing.fresh", true, true, false],
  ]);
  expect(items[1].accepted.description).toBe("Says it again (1)");
  expect((await call(owner, "POST", "/changing/accept", { tools: ["nothing"] })).status).toBe(422);
  expect((await call(owner, "POST", "/changing/accept", { tools: ["changing.echo"] })).body.withheld_tools).toEqual([
    "fresh",
  ]);
  const [, echo] = (await call(owner, "GET", "/changing/tools")).body.items;
  expect(echo).toMatchObject({ withheld: false, is_new: false, accepted: null });
  expect((await call(owner, "POST", "/changing/accept")).body.withheld_tools).toEqual([]);
  await until(async () => (await readBy("changing", { text: "as accepted" }, "changing.echo")).includes("as accepted"));
  const incidents = await until(async () => {
    const { body } = await at.node.call("GET", "/v1/security/incidents?category=tool_changed", undefined, owner);
    return body.count > 0 && body.items;
  }, slowly);
  expect(incidents[0].details).toMatchObject({ tool_server: "changing", tools: ["echo", "fresh"] });
  await call(owner, "DELETE", "/changing");
  await other.stop();
}, 60_000);

test("the same POST under one key makes one server", async () => {
  const body = http("once");
  const key = { "Idempotency-Key": crypto.randomUUID() };
  const [first, second] = [await call(owner, "POST", "", body, key), await call(owner, "POST", "", body, key)];
  expect([first.status, second.status, second.body.id]).toEqual([201, 201, first.body.id]);
}, 60_000);

test("a node that is killed leaves no process of a tool server", async () => {
  await untilListed("of-the-file");
  const { pid } = (await call(operator, "GET", "/of-the-file")).body.instances[0];
  expect(existsSync(`/proc/${pid}/exe`)).toBe(true);
  await at.node.kill();
  await until(() => !existsSync(`/proc/${pid}/exe`), { timeoutMs: 20_000 });
}, 60_000);
