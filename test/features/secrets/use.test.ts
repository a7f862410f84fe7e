/** Secrets in environments: who may refer to them, what agents see, and what is shown of it (docs/reference/secrets.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type AgentOptions, manifest, say, shell } from "../../harness/manifests.ts";
import { until } from "../../harness/until.ts";
import { ExecutionFixture } from "../executions/fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open({ SVC_LOG_LEVEL: "debug" });
});
afterAll(() => at?.close());

type Headers = Readonly<Record<string, string>>;
const bearer = async (fields: Headers, realm: string) => ({
  Authorization: `Bearer ${await at.node.token(fields, realm)}`,
});
const owner = (tenant = "acme") => bearer({ username: `owner-of-${tenant}` }, `tenant-${tenant}`);
const write = async (path: string, body: object, headers?: Headers) => {
  const answer = await at.node.call("PUT", `/v1/secrets/${path}`, body, headers ?? (await owner()));
  expect(answer.status).toBe(200);
};
const withEnv = (env: Record<string, string>, options: AgentOptions = {}) =>
  manifest({ ...options, spec: { env, ...options.spec } });

async function deployed(document: object, headers: Headers): Promise<string> {
  const { status, body } = await at.node.call("POST", "/v1/agents", document, headers);
  expect([status, body.code, body.issues]).toEqual([200, undefined, undefined]);
  return body.agent_id;
}

/** Everything that can be read of an execution. */
async function everythingOf(executionId: string, headers: Headers): Promise<string> {
  const followed = await at.follow(executionId, "", headers);
  await followed.done;
  const paths = ["?include=llm", "/iterations?include=llm", ""];
  const answers = await Promise.all(
    paths.map((path) => at.node.call("GET", `/v1/executions/${executionId}${path}`, undefined, headers)),
  );
  const audit = await at.node.call("GET", "/v1/audit?limit=500", undefined, headers);
  const [logs] = await at.stores.sql<{ all: string | null }[]>`
    select string_agg(entry, ' ') as all from runtime_logs where key = ${executionId}`;
  const [states] = await at.stores.sql<{ all: string | null }[]>`
    select string_agg(state, ' ') as all from runtime_actors where key = ${executionId}`;
  return JSON.stringify([followed.frames, answers.map(({ body }) => body), audit.body, logs, states]) + at.node.output;
}

async function ended(executionId: string, headers: Headers) {
  return until(
    async () => {
      const path = `/v1/executions/${executionId}?wait_seconds=10`;
      const { body } = await at.node.call("GET", path, undefined, headers);
      return /^(pending|running)$/.test(body.status) ? null : body;
    },
    { timeoutMs: 60_000, what: "the execution to end" },
  );
}

test("an execution sees the values; no event, log, output or record shows them", async () => {
  const headers = await owner();
  const [token, password] = ["tok+en/äöü-0123456789", 'pass word"two'];
  await write("ops/token", { value: token });
  await write("db", { data: { user: "application", password } });
  const md5 = (text: string) => new Bun.CryptoHasher("md5").update(text).digest("hex");
  const isSeen = (name: string, value: string) =>
    `test "$(printf %s "$${name}" | md5sum | cut -c1-32)" = ${md5(value)} && echo seen-${name}`;
  const line = [
    isSeen("TOKEN", token),
    isSeen("PASSWORD", password),
    'echo "out $TOKEN"; echo "err $PASSWORD" >&2; printf %s "$TOKEN" | base64; printf "x%s" "$TOKEN" | base64',
    // In the middle of a character.
    'printf %s "$TOKEN" | cut -b1-12 | tr -d "\\n"; sleep 0.5; printf %s "$TOKEN" | cut -b13-',
    'echo "$DB"; echo "$TOKEN" > kept; echo plain-text',
  ].join("; ");
  const script = [
    shell(line),
    { content: "", tool_calls: [{ name: "fs.read", arguments: { path: "kept" } }] },
    say(`the answer is ${password} or so`),
  ];
  const environment = { TOKEN: "secret:ops/token", PASSWORD: "secret://db#password", DB: "secret:db", PLAIN: "p" };
  const startup_script =
    'printf "%s" "script $TOKEN" | cut -b1-16 | tr -d "\\n"; sleep 0.5; printf %s "$TOKEN" | cut -b10-; echo from-script >&2';
  const advanced = { startup_script };
  const agent = await deployed(withEnv(environment, { script, spec: { advanced } }), headers);
  const started = await at.start(agent, {}, headers);
  const record = await ended(started.body.execution_id, headers);
  expect([record.status, record.error]).toEqual(["completed", null]);
  const all = await everythingOf(record.execution_id, headers);
  for (const seen of ["from-script", "seen-TOKEN", "seen-PASSWORD", "plain-text", "****"]) expect(all).toContain(seen);
  const secrets = [token, password, password.replace('"', '\\"'), JSON.stringify(password).slice(1, -1), "0123456789"];
  const forms = [
    ...secrets,
    Buffer.from(token).toString("base64"),
    JSON.stringify(JSON.stringify(password)).slice(3, -3),
  ];
  for (const form of forms) expect([form, all.includes(form)]).toEqual([form, false]);
  const used = await at.node.call("GET", "/v1/audit?action=secret.used", undefined, headers);
  const details = used.body.items.map(
    ({ details, target }: { details: { reference: string }; target: { id: string } }) => [details.reference, target.id],
  );
  expect(details.map(([reference, path]: string[]) => `${reference} ${path}`).sort()).toEqual([
    "secret:db db",
    "secret:db#password db",
    "secret:ops/token ops/token",
  ]);
  expect(used.body.items[0]).toMatchObject({
    actor: { kind: "agent", user_id: expect.any(String), realm: "tenant-acme" },
    details: { execution_id: record.execution_id },
  });
});

describe("who may deploy a reference", () => {
  test("callers without secret:read are refused, unchanged references too", async () => {
    const [mine, consumer] = [await owner(), await bearer({ username: "cleo" }, "svc-consumer")];
    const member = await bearer({ username: "mia", role: "tenant:member" }, "tenant-acme");
    const document = withEnv({ A: "plain", B: "secret:ops/token" }, { name: "keeps-one" });
    for (const headers of [consumer, member]) {
      const { status, body } = await at.node.call("POST", "/v1/agents", document, headers);
      expect([status, body.code]).toEqual([422, "secret_forbidden"]);
      expect(body.issues).toEqual([
        { path: "spec.env.B", code: "secret_forbidden", message: expect.stringContaining("secret:read") },
      ]);
    }
    const agent = await deployed(document, mine);
    const patch = await at.node.call("PATCH", `/v1/agents/${agent}`, { description: "changed" }, member);
    expect([patch.status, patch.body.code]).toEqual([422, "secret_forbidden"]);
    expect((await at.node.call("PATCH", `/v1/agents/${agent}`, { description: "changed" }, mine)).status).toBe(200);
  });

  test("nor do they bring one back by a rollback, or open one to all tenants", async () => {
    const mine = await owner();
    const member = await bearer({ username: "mia", role: "tenant:member" }, "tenant-acme");
    const versions = [
      withEnv({ B: "secret:ops/token" }, { name: "rolled-back" }),
      withEnv({}, { name: "rolled-back" }),
    ];
    const [agent = ""] = [await deployed(versions[0] ?? {}, mine)];
    expect((await at.node.call("POST", "/v1/agents?force=true", versions[1], mine)).status).toBe(200);
    const back = (headers: Headers) => at.node.call("POST", `/v1/agents/${agent}/rollback`, { revision: 1 }, headers);
    const refused = await back(member);
    expect([refused.status, refused.body.code, refused.body.issues?.[0].path]).toEqual([
      422,
      "secret_forbidden",
      "spec.env.B",
    ]);
    expect((await back(mine)).body.revision).toBe(1);
    const admin = await bearer(
      { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" },
      "svc-system",
    );
    const published = await deployed(withEnv({ B: "secret:ops/token" }, { name: "to-be-opened" }), admin);
    const key = { name: "deploys", scopes: ["agent:deploy", "agent:read"] };
    const { body } = await at.node.call("POST", "/v1/api-keys", key, admin);
    const open = (headers: Headers) =>
      at.node.call("POST", `/v1/agents/${published}/scope`, { scope: "global" }, headers);
    const { status, body: problem } = await open({ Authorization: `Bearer ${body.key}` });
    expect([status, problem.code]).toEqual([422, "secret_forbidden"]);
    expect((await open(admin)).body.new_scope).toBe("global");
  });

  test("a malformed reference is an issue of the manifest", async () => {
    const { status, body } = await at.node.call("POST", "/v1/agents", withEnv({ A: "secret:../x" }), await owner());
    expect([status, body.code]).toEqual([422, "invalid_manifest"]);
  });
});

describe("a start is refused", () => {
  const refused = async (env: Record<string, string>, headers: Headers) => {
    const agent = await deployed(withEnv(env, { script: [say("x")] }), headers);
    const { status, body } = await at.start(agent, {}, headers);
    return [status, body.code, body.issues?.map(({ path }: { path: string }) => path)];
  };

  test("whose secret, or whose field, there is none of", async () => {
    const headers = await owner();
    await write("one", { data: { a: "b" } });
    expect(await refused({ A: "secret:none", B: "secret:one#a" }, headers)).toEqual([
      422,
      "secret_not_found",
      ["spec.env.A"],
    ]);
    expect(await refused({ A: "secret:one#c" }, headers)).toEqual([422, "secret_not_found", ["spec.env.A"]]);
    // That of another tenant is none.
    await write("foreign", { value: "foreign-value" }, await owner("other"));
    expect(await refused({ A: "secret:foreign" }, headers)).toEqual([422, "secret_not_found", ["spec.env.A"]]);
    expect(await refused({ A: "credential:nothing" }, headers)).toEqual([422, "credential_not_found", ["spec.env.A"]]);
  });

  test("whose value no variable can hold", async () => {
    await write("nul", { value: "a\0b" });
    await write("long", { value: "x".repeat(65 * 1024) });
    for (const name of ["nul", "long"]) {
      expect(await refused({ A: `secret:${name}` }, await owner())).toEqual([422, "secret_forbidden", ["spec.env.A"]]);
    }
  });

  test("a global agent's reference holds in svc-system only", async () => {
    const admin = await bearer(
      { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" },
      "svc-system",
    );
    await write("shared", { value: "shared-value" }, admin);
    await write("shared", { value: "own-value" });
    const document = withEnv({ A: "secret:shared" }, { name: "for-all", script: [say("x")] });
    const { body } = await at.node.call("POST", "/v1/agents?scope=global", document, admin);
    const elsewhere = await at.start(body.agent_id, {}, await owner());
    expect([elsewhere.status, elsewhere.body.code]).toEqual([422, "secret_forbidden"]);
    const there = await at.start(body.agent_id, {}, admin);
    expect(there.status).toBe(200);
    expect((await ended(there.body.execution_id, admin)).status).toBe("completed");
  });
});

test("a secret deleted meanwhile fails the next use with the same word", async () => {
  const headers = await owner();
  await write("short-lived", { value: "short-lived-value" });
  const wait = "while [ ! -e go ]; do sleep 0.1; done; exit 1";
  const script = [[shell(wait), say("no")], [say("yes")]];
  const validation = [{ type: "regex", pattern: "yes" }];
  const execution = { mode: "iterative", max_iterations: 2, validation };
  const agent = await deployed(withEnv({ A: "secret:short-lived" }, { script, execution }), headers);
  const { body } = await at.start(agent, {}, headers);
  const id = body.execution_id;
  const volume = await until(
    async () => {
      const record = (await at.node.call("GET", `/v1/executions/${id}`, undefined, headers)).body;
      return record.status === "running" ? record.volumes?.[0]?.volume_id : null;
    },
    { timeoutMs: 30_000, what: "the execution to run" },
  );
  await at.node.call("DELETE", "/v1/secrets/short-lived", undefined, headers);
  await until(async () => {
    await Bun.write(`${at.node.dataDir}/volumes/${volume}/go`, "");
    const { body } = await at.node.call("GET", `/v1/executions/${id}`, undefined, headers);
    return body.status !== "running";
  });
  const record = await ended(id, headers);
  expect([record.status, record.error_code]).toEqual(["failed", "secret_not_found"]);
});

describe("commands of workflows", () => {
  const workflow = (name: string, env: Record<string, string>, command = "true") => ({
    apiVersion: "svc.dev/v1",
    kind: "Workflow",
    metadata: { name },
    spec: {
      initial_state: "RUN",
      states: { RUN: { kind: "System", command, env, transitions: [] } },
    },
  });
  const register = async (document: object, headers: Headers) =>
    at.node.call("POST", "/v1/workflows", document, headers);

  test("see the values; the run, its log and its records show none of them", async () => {
    const headers = await owner();
    const value = "value-of-a-command/1";
    await write("deploy/key", { value });
    const md5 = new Bun.CryptoHasher("md5").update(value).digest("hex");
    const command = `test "$(printf %s "$KEY" | md5sum | cut -c1-32)" = ${md5} && echo seen-KEY; echo "out $KEY"; echo "err $KEY" >&2; echo "$LIKE"`;
    const env = { KEY: "secret:deploy/key", LIKE: "{{input.like}}" };
    expect((await register(workflow("uses-a-secret", env, command), headers)).status).toBe(200);
    const input = { like: "secret:deploy/key" };
    const started = await at.node.call("POST", "/v1/workflows/uses-a-secret/run", { input }, headers);
    expect([started.status, started.body.code]).toEqual([started.status, undefined]);
    const id = started.body.execution_id;
    const record = await until(
      async () => {
        const { body } = await at.node.call("GET", `/v1/workflows/executions/${id}`, undefined, headers);
        return /^(pending|running)$/.test(body.status) ? null : body;
      },
      { timeoutMs: 60_000, what: "the run to end" },
    );
    const [stored] = await at.stores.sql<{ all: string }[]>`
      select concat((select string_agg(entry, ' ') from runtime_logs where key = ${id}),
        (select string_agg(state, ' ') from runtime_actors where key = ${id})) as all`;
    const all = JSON.stringify([record, stored]) + at.node.output;
    expect(record.status).toBe("completed");
    for (const seen of ["seen-KEY", "out ****", "err ****"]) expect(all).toContain(seen);
    // What a template makes of it is plain text.
    expect(all).toContain("\\nsecret:deploy/key");
    expect(all).not.toContain(value);
    const used = await at.node.call("GET", "/v1/audit?action=secret.used&target_id=deploy/key", undefined, headers);
    expect(used.body.items).toMatchObject([{ actor: { kind: "workflow" }, details: { execution_id: id } }]);
  });

  test("are refused to callers without secret:read, and at a start without the secret", async () => {
    const consumer = await bearer({ username: "cleo" }, "svc-consumer");
    const refused = await register(workflow("needs-one", { A: "secret:none-yet" }), consumer);
    expect([refused.status, refused.body.code, refused.body.issues?.[0]?.path]).toEqual([
      422,
      "secret_forbidden",
      "spec.states.RUN.env.A",
    ]);
    const headers = await owner();
    expect((await register(workflow("needs-one", { A: "secret:none-yet" }), headers)).status).toBe(200);
    const start = await at.node.call("POST", "/v1/workflows/needs-one/run", {}, headers);
    expect([start.status, start.body.code]).toEqual([422, "secret_not_found"]);
  });

  test("no caller without secret:read opens them to all tenants", async () => {
    const admin = await bearer(
      { grant_type: "password", username: "admin", password: "dev", client_id: "", client_secret: "" },
      "svc-system",
    );
    expect((await register(workflow("opened", { A: "secret:deploy/key" }), admin)).status).toBe(200);
    const key = { name: "registers", scopes: ["workflow:deploy", "workflow:read"] };
    const { body } = await at.node.call("POST", "/v1/api-keys", key, admin);
    const open = (headers: Headers) => at.node.call("POST", "/v1/workflows/opened/scope", { scope: "global" }, headers);
    const { status, body: problem } = await open({ Authorization: `Bearer ${body.key}` });
    expect([status, problem.code]).toEqual([422, "secret_forbidden"]);
    expect((await open(admin)).body.new_scope).toBe("global");
  });

  test("take secrets only, and only where a process is started", async () => {
    const headers = await owner();
    const codes = async (env: Record<string, string>, command?: string) =>
      (await register(workflow("odd", env, command), headers)).body.issues?.[0]?.code;
    expect([
      await codes({ A: "credential:crm" }),
      await codes({ A: "secret:{{input.path}}" }),
      await codes({ A: "secret:deploy/key" }, "update_blackboard"),
    ]).toEqual(["unsupported_field", "invalid", "unsupported_field"]);
  });
});

test("a webhook is verified by the tenant's secret, and soon by a changed one", async () => {
  const headers = await owner();
  const consumer = await bearer({ username: "cleo" }, "svc-consumer");
  const route = { source: "referring", secret: "secret:kept/hook#key", workflow: "hooked", acknowledge: "received" };
  const workflow = {
    ...{ apiVersion: "svc.dev/v1", kind: "Workflow", metadata: { name: "hooked" } },
    spec: { initial_state: "RUN", states: { RUN: { kind: "System", command: "noop", transitions: [] } } },
  };
  expect((await at.node.call("POST", "/v1/workflows", workflow, headers)).status).toBe(200);
  const foreign = await at.node.call("POST", "/v1/stimulus-routes", { ...route, workflow: null }, consumer);
  expect([foreign.status, foreign.body.code]).toEqual([422, "secret_forbidden"]);
  const { body } = await at.node.call("POST", "/v1/stimulus-routes", route, headers);
  let sent = 0;
  const deliver = async (key: string): Promise<string> => {
    sent += 1;
    const content = `{"n":${sent}}`;
    const digest = new Bun.CryptoHasher("sha256", key).update(content).digest("hex");
    const answer = await fetch(`${at.node.url}/v1/webhooks/referring/${body.id}`, {
      method: "POST",
      headers: { "X-Svc-Signature": `sha256=${digest}` },
      body: content,
    });
    const { code } = (await answer.json()) as { code?: string };
    return code ?? String(answer.status);
  };
  const [first, second] = ["first-key-of-the-hook", "second-key-of-the-hook"];
  expect(await deliver(first)).toBe("secret_not_found");
  for (const [now, before] of [
    [first, second],
    [second, first],
  ] as const) {
    await write("kept/hook", { data: { key: now } });
    // Seldom enough that what was signed wrongly does not reach the bound of a minute.
    const waiting = { timeoutMs: 20_000, everyMs: 1000, what: "the changed secret to hold" };
    await until(async () => (await deliver(now)) === "202", waiting);
    expect(await deliver(before)).toBe("invalid_signature");
  }
  expect(at.node.output).not.toContain(second);
});
