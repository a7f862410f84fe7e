/**
 * An agent whose model speaks a vendor's real wire uses a tool of a real tool server, which a person approves with an
 * edited argument; the node is killed while the call waits.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { LooseJson } from "../../harness/loose-json.ts";
import { manifest } from "../../harness/manifests.ts";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { toolServerPrograms } from "../../harness/outside/tool-servers.ts";
import { startVendor, type Vendor, type Wire } from "../../harness/outside/vendor.ts";
import { scratch } from "../../harness/scratch.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const file = "/tmp/note.txt";
const wires: readonly Wire[] = ["openai", "anthropic"];
const types = { openai: "openai-compatible", anthropic: "anthropic", google: "gemini" } as const;
let stores: TestStores;
let vendor: Vendor;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  vendor = await startVendor();
  const programs = await toolServerPrograms("filesystem");
  const SVC_CONFIG_FILE = join(scratch("approved"), "config.yaml");
  const providers = wires.map((wire) => ({
    name: wire,
    type: types[wire],
    endpoint: vendor.endpoint(wire),
    api_key: "key",
    models: [{ alias: wire, model: "big" }],
  }));
  writeFileSync(SVC_CONFIG_FILE, JSON.stringify({ llm_providers: providers, llm_selection: { max_retries: 0 } }));
  node = await startNodeProcess(stores, {
    env: {
      SVC_CONFIG_FILE,
      SVC_TOOL_SERVER_PATHS: programs.directory,
      SVC_TOOL_SERVERS: JSON.stringify([
        { name: "files", executable: programs.executable, args: [programs.program("filesystem"), "/tmp"] },
      ]),
    },
  });
  const capabilities = [{ tool_pattern: "files.write_file", approval: { editable: true } }, { tool_pattern: "*" }];
  await node.call("POST", "/v1/security-contexts", { name: "asks-before-writing", capabilities });
  await node.call("POST", "/v1/tool-servers/files/restart");
  await until(async () => (await node.call("GET", "/v1/tool-servers/files")).body.tools_count > 0, {
    timeoutMs: 60_000,
    what: "the tools",
  });
});
afterAll(async () => {
  await node?.dispose();
  await vendor?.close();
  await stores?.dispose();
});

const waitingApproval = (execution: string) =>
  until(
    async () => {
      const { body } = await node.call("GET", "/v1/human-approvals");
      return (body?.items ?? []).find((one: LooseJson) => one.execution_id === execution) ?? null;
    },
    { timeoutMs: 60_000, what: "the approval" },
  );

/** The node dies and another one takes over. */
async function killAndStart(): Promise<void> {
  await node.kill();
  await node.restart();
}

test.each([...wires])(
  "%s: an approved tool call with an edit survives kill -9 and runs once",
  async (wire) => {
    vendor.reset();
    const wanted = { path: file, content: "as the model wants it" };
    vendor.push({ reply: { text: "I write it down", toolCalls: [{ name: "files_write_file", arguments: wanted }] } });
    vendor.push({ reply: { toolCalls: [{ name: "files_read_text_file", arguments: { path: file } }] } });
    vendor.push({ reply: { text: "It is written" } });
    const { body: agent } = await node.call(
      "POST",
      "/v1/agents",
      manifest({
        runtime: { model: wire },
        spec: { tools: ["files.*"], security_context: "asks-before-writing" },
      }),
    );
    expect([agent.code, agent.issues]).toEqual([undefined, undefined]);
    const started = await node.call("POST", "/v1/executions", { agent_id: agent.agent_id, input: "note it" });
    expect([started.status, started.body.code]).toEqual([200, undefined]);
    const execution = started.body.execution_id;
    const asked = await waitingApproval(execution);
    expect(asked.tool_call).toMatchObject({ tool: "files.write_file", arguments: wanted, editable: true });

    await killAndStart();
    const still = await waitingApproval(execution);
    expect(still.id).toBe(asked.id);
    const edited = { ...wanted, content: "as the person wants it" };
    const decision = await node.call("POST", `/v1/human-approvals/${asked.id}/approve`, { arguments: edited });
    expect(decision.status).toBe(200);
    if (wire === "anthropic") await killAndStart();

    const record = await until(
      async () => {
        const { body } = await node.call("GET", `/v1/executions/${execution}?wait_seconds=5`);
        return body?.ended_at ? body : null;
      },
      { timeoutMs: 90_000, what: "the execution to end" },
    );
    expect([record.status, record.output]).toEqual(["completed", "It is written"]);
    // The vendor is asked on with what the tool answered.
    const last = JSON.stringify(vendor.requests.at(-1)?.body);
    expect(last).toContain("edited");
    const calls = (await node.call("GET", `/v1/tool-invocations?execution_id=${execution}`)).body.items;
    const written = calls.filter(({ tool_name }: LooseJson) => tool_name === "files.write_file");
    expect(written).toHaveLength(1);
    expect(written[0]).toMatchObject({
      arguments: wanted,
      edited_arguments: edited,
      outcome: "success",
      approval_id: asked.id,
    });
  },
  240_000,
);
