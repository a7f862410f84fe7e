/** Which version of an agent runs, for whom, and with which prompt (docs/reference/executions.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { manifest } from "../../../harness/manifests.ts";
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

test("11: a rollback decides what runs, a version named at the start runs instead", async () => {
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

test("a patch is what the next run does; earlier runs keep their revision", async () => {
  const id = await at.deploy(saying(newName(), "1.0.0", "before"));
  const before = (await run(id)).body.execution_id;
  await at.node.call("PATCH", `/v1/agents/${id}`, { spec: { task: { instruction: "after" } } });
  expect((await run(id)).body.output).toBe("after");
  expect(await at.record(before)).toMatchObject({ agent_revision: 1, output: "before" });
}, 60_000);

test("12: a paused agent does not start, a resumed one does", async () => {
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
