/** Which version of an agent runs, for whom, and with which prompt (docs/reference/executions.md). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { manifest, say, shell } from "../../../harness/manifests.ts";
import { ExecutionFixture } from "../fixture.ts";

let at: ExecutionFixture;
beforeAll(async () => {
  at = await ExecutionFixture.open();
});
afterAll(() => at.close());

let names = 0;
const newName = () => {
  names += 1;
  return `versioned-${names}`;
};

/** Without a script the model repeats its prompt. */
const saying = (name: string, version: string, instruction: string) => ({
  name,
  version,
  tools: [],
  spec: { task: { instruction, prompt_template: "{{instruction}}" } },
});

const run = async (agentId: string, more: Record<string, unknown> = {}, query = "") => {
  const body = { agent_id: agentId, input: "", wait_seconds: 30, ...more };
  return at.node.call("POST", `/v1/executions${query}`, body);
};

test("a rollback decides what runs, a version named at the start runs instead", async () => {
  const name = newName();
  await at.deploy(saying(name, "1.0.0", "first"));
  const id = await at.deploy(saying(name, "2.0.0", "second"));
  expect((await run(id)).body).toMatchObject({ agent_version: "2.0.0", output: "second" });
  expect((await at.node.call("POST", `/v1/agents/${id}/rollback`)).status).toBe(200);
  const older = (await run(id)).body;
  expect(older).toMatchObject({ agent_version: "1.0.0", output: "first" });
  expect(await at.record(older.execution_id)).toMatchObject({ agent_version: "1.0.0", agent_revision: 1 });
  expect((await run(id, { version: "2.0.0" })).body).toMatchObject({ agent_version: "2.0.0", output: "second" });
  expect((await run(id, {}, "?version=2.0.0")).body.output).toBe("second");
  expect((await run(id, { version: "3.0.0" })).body.code).toBe("agent_version_not_found");
}, 60_000);

test("what of a request has no effect is a warning of the record, once for each kind", async () => {
  const id = await at.deploy(saying(newName(), "1.0.0", "hello"));
  const started = (await run(id, { wait_second: 3, contxt: {} }, "?versoin=1.0.0")).body;
  const { warnings } = await at.record(started.execution_id);
  expect(warnings.map(({ code }: { code: string }) => code)).toEqual(["unknown_parameter", "unknown_field"]);
  expect(warnings[0].message).toContain("versoin: ");
  expect(warnings[1].message).toMatch(/^wait_second: .*; did you mean wait_seconds\?; contxt: /);
}, 60_000);

test("a patch is what the next run does; earlier runs keep their revision", async () => {
  const id = await at.deploy(saying(newName(), "1.0.0", "before"));
  const before = (await run(id)).body.execution_id;
  await at.node.call("PATCH", `/v1/agents/${id}`, { spec: { task: { instruction: "after" } } });
  expect((await run(id)).body.output).toBe("after");
  expect(await at.record(before)).toMatchObject({ agent_revision: 1, output: "before" });
}, 60_000);

test("a paused agent does not start, a resumed one does", async () => {
  const id = await at.deploy(saying(newName(), "1.0.0", "hello"));
  await at.node.call("POST", `/v1/agents/${id}/pause`);
  const refused = await run(id);
  expect([refused.status, refused.body.code]).toEqual([409, "agent_paused"]);
  await at.node.call("POST", `/v1/agents/${id}/resume`);
  expect((await run(id)).body.status).toBe("completed");
}, 60_000);

test("a global agent runs in the tenant of its caller", async () => {
  const deployed = await at.node.call("POST", "/v1/agents?scope=global", manifest(saying(newName(), "1.0.0", "hi")));
  expect(deployed.body).toMatchObject({ scope: "global", tenant_id: "svc-system" });
  const guest = { Authorization: `Bearer ${await at.node.token({ tenant_id: "acme" }, "tenant-acme")}` };
  const body = { agent_id: deployed.body.id, input: "", wait_seconds: 30 };
  const { body: run } = await at.node.call("POST", "/v1/executions", body, guest);
  expect(run).toMatchObject({ status: "completed", output: "hi" });
  const record = await at.node.call("GET", `/v1/executions/${run.execution_id}`, undefined, guest);
  expect(record.body.tenant_id).toBe("acme");
  expect((await at.node.call("GET", `/v1/executions/${run.execution_id}`)).status).toBe(404);
}, 60_000);

test("a template prints what the manifest brings along", async () => {
  const task = {
    instruction: "Sort.",
    prompt_template: "{{instruction}} {{input_data.hub}}: {{#each agentskills}}[{{this}}]{{/each}} {{input}}",
    input_data: { hub: "north" },
    agentskills: ["read", "sort"],
  };
  const id = await at.deploy({ tools: [], spec: { task } });
  expect((await run(id, { input: "parcels" })).body.output).toBe("Sort. north: [read][sort] parcels");
}, 60_000);

describe("a retry", () => {
  const retry = (id: string, body?: unknown, headers: Record<string, string> = {}, query = "?wait_seconds=30") =>
    at.node.call("POST", `/v1/executions/${id}/retry${query}`, body, headers);

  test("asks the same again, as a new execution; a version and an input can be named", async () => {
    const spec = (instruction: string) => ({
      task: { instruction, prompt_template: "{{instruction}} {{input}} {{intent}} {{hub}}" },
    });
    const name = newName();
    const id = await at.deploy({ name, version: "1.0.0", tools: [], spec: spec("first") });
    const asked = { intent: "today", context_overrides: { hub: "north" }, labels: { a: "b" }, timeout_seconds: 77 };
    const first = (await run(id, { input: "x", ...asked })).body;
    await at.deploy({ name, version: "2.0.0", tools: [], spec: spec("second") });
    const again = await retry(first.execution_id);
    expect(again).toMatchObject({
      status: 200,
      body: { agent_id: id, agent_version: "1.0.0", status: "completed", output: "first x today north" },
    });
    expect(again.body).toMatchObject({ retry_of: first.execution_id, id: again.body.execution_id });
    expect(again.body.execution_id).not.toBe(first.execution_id);
    const record = await at.record(again.body.execution_id);
    expect(record).toMatchObject({
      retry_of: first.execution_id,
      trigger: "api",
      labels: { a: "b" },
      timeout_seconds: 77,
    });
    expect(await at.record(first.execution_id)).toMatchObject({ retry_of: null });
    const other = await retry(again.body.execution_id, { version: "2.0.0", input: "y" });
    expect(other.body).toMatchObject({ agent_version: "2.0.0", output: "second y today north" });
    expect((await retry(first.execution_id, { version: "3.0.0" })).body.code).toBe("agent_version_not_found");
  }, 60_000);

  test("under one Idempotency-Key is one execution, and another body is refused", async () => {
    const { execution_id } = (await run(await at.deploy(saying(newName(), "1.0.0", "x")))).body;
    const key = { "Idempotency-Key": crypto.randomUUID() };
    const [one, two] = await Promise.all([retry(execution_id, undefined, key), retry(execution_id, undefined, key)]);
    expect(one.body).toMatchObject({ status: "completed", retry_of: execution_id });
    expect(two.body).toEqual(one.body);
    expect((await retry(execution_id, { input: "z" }, key)).body.code).toBe("idempotency_key_reused");
  }, 60_000);

  test("of what runs, is unknown, foreign or malformed is refused", async () => {
    const running = await at.launch({ script: [shell("sleep 60"), say("x")] });
    expect(await retry(running)).toMatchObject({ status: 409, body: { code: "invalid_state" } });
    await at.node.call("POST", `/v1/executions/${running}/cancel`);
    expect((await retry(running, { input: null })).status).toBe(422);
    expect((await retry(running, [])).status).toBe(422);
    expect((await retry(crypto.randomUUID())).body.code).toBe("execution_not_found");
    expect((await retry("abc")).body.code).toBe("invalid_execution_id");
    const foreign = { "X-Tenant-Id": "acme-foreign" };
    expect((await retry(running, undefined, foreign)).body.code).toBe("execution_not_found");
    const { agent_id } = await at.record(running);
    await at.node.call("DELETE", `/v1/agents/${agent_id}`);
    expect((await retry(running)).body.code).toBe("agent_not_found");
  }, 60_000);
});
