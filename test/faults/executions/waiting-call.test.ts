/** A tool call outside of a loop that waits for a person, through kills of its only node (docs/reference/tools.md). */
import { expect, test } from "bun:test";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { connect } from "../../features/mcp/fixture.ts";
import type { LooseJson } from "../../harness/loose-json.ts";
import { manifest, say } from "../../harness/manifests.ts";
import { startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores } from "../../harness/stores.ts";

test("it survives kill -9 while it waits and after the decision, and runs once", async () => {
  const stores = await freshStores();
  const node = await startNodeProcess(stores);
  try {
    await node.call("POST", "/v1/agents", manifest({ name: "speaker", script: [say("spoken")] }));
    const capabilities = [{ tool_pattern: "svc.task.*", approval: { editable: true } }];
    await node.call("POST", "/v1/security-contexts", { name: "asking", capabilities });
    const call = async (name: string, given: Record<string, unknown>) => {
      const { client } = await connect([node], "modern", { headers: { "X-Svc-Security-Context": "asking" } });
      const { structuredContent } = (await client.callTool({ name, arguments: given })) as CallToolResult;
      await client.close();
      return structuredContent as LooseJson;
    };
    const { approval_id, invocation_id } = await call("run_speaker", { input: "as asked" });
    await node.kill();
    await node.restart();
    expect(await call("svc_invocation_get", { invocation_id })).toMatchObject({ status: "pending", approval_id });
    const edited = { agent_id: "speaker", input: "as edited" };
    const decided = await node.call("POST", `/v1/human-approvals/${approval_id}/approve`, { arguments: edited });
    expect([decided.status, decided.body.code]).toEqual([200, undefined]);
    await node.kill();
    await node.restart();
    let read = await call("svc_invocation_get", { invocation_id, wait_seconds: 25 });
    for (let round = 0; round < 3 && read.status === "pending"; round += 1) {
      read = await call("svc_invocation_get", { invocation_id, wait_seconds: 25 });
    }
    expect(read).toMatchObject({ status: "success", outcome: "success", result: { edited: true } });
    const { body } = await node.call("GET", "/v1/executions");
    expect(body.items).toHaveLength(1);
    const record = (await node.call("GET", `/v1/executions/${read.result.execution_id}`)).body;
    expect(record.input).toBe("as edited");
  } finally {
    await node.dispose();
    await stores.dispose();
  }
}, 180_000);
