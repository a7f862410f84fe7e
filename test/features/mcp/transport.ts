/** The tool server's transport, who may speak to it, its resources (docs/reference/mcp.md). */
import { beforeAll, describe, expect, test } from "bun:test";
import { say, shell } from "../../harness/manifests.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { connect, type Deploy, eras } from "./fixture.ts";

export function transportTests(nodes: () => readonly NodeProcess[], deploy: Deploy): void {
  const node = (): NodeProcess => nodes()[0] as NodeProcess;
  let executionId: string;
  beforeAll(async () => {
    const script = { 1: [shell("printf text > kept.txt; printf '\\377\\000' > raw.bin; mkdir out"), say("done")] };
    const { id } = await deploy({ name: "writer", script });
    const start = await node().call("POST", `/v1/agents/${id}/execute`, { input: "go", wait_seconds: 60 });
    expect(start.body.status).toBe("completed");
    executionId = start.body.execution_id;
  });
  const post = async (headers: Record<string, string>, body: unknown = initialize) =>
    fetch(`${node().url}/v1/mcp`, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${await node().token()}`,
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
        ...headers,
      },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
  };

  describe.each([...eras])("the official client, %s", (era) => {
    test("each request is answered by another node", async () => {
      const { client, taken } = await connect(nodes(), era);
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).toContain(`svc://executions/${executionId}`);
      await client.listResourceTemplates();
      await client.listResources();
      expect(Math.min(...taken)).toBeGreaterThan(0);
      await client.close();
    });

    test("executions and their files are resources", async () => {
      const { client } = await connect(nodes(), era);
      const read = async (path: string) =>
        (await client.readResource({ uri: `svc://executions/${executionId}${path}` })).contents[0];
      const record = await read("");
      expect(record).toMatchObject({ mimeType: "application/json" });
      expect(JSON.parse((record as { text: string }).text)).toMatchObject({ id: executionId, status: "completed" });
      expect(await read("/files/kept.txt")).toMatchObject({ text: "text", mimeType: "text/plain" });
      expect(await read("/files/raw.bin")).toMatchObject({ blob: "/wA=" });
      const listing = JSON.parse(((await read("/files")) as { text: string }).text);
      expect(listing.entries.map(({ path }: { path: string }) => path).toSorted()).toEqual([
        "/kept.txt",
        "/out",
        "/raw.bin",
      ]);
      for (const path of ["/files/none", "/files/../../../etc/passwd", "/files/%2e%2e/%2e%2e/etc/passwd", "/other"]) {
        await expect(read(path)).rejects.toThrow();
      }
      await expect(client.readResource({ uri: "svc://executions/nothing" })).rejects.toThrow();
      await client.close();
    });
  });

  test("a caller of another tenant finds neither the execution nor its files", async () => {
    const token = await node().token({ sub: "somebody" }, "tenant-other");
    const { client } = await connect(nodes(), "modern", { token });
    expect((await client.listResources()).resources).toEqual([]);
    for (const path of ["", "/files/kept.txt"]) {
      await expect(client.readResource({ uri: `svc://executions/${executionId}${path}` })).rejects.toThrow("not found");
    }
    await client.close();
  });

  describe("who may speak to it", () => {
    test("a 401 names the document about its tokens", async () => {
      const metadata = "http://svc.test/.well-known/oauth-protected-resource/v1/mcp";
      for (const [authorization, challenge] of [
        ["", `Bearer resource_metadata="${metadata}"`],
        ["Bearer none", `Bearer error="invalid_token", resource_metadata="${metadata}"`],
      ] as const) {
        const refused = await post({ Authorization: authorization });
        expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([401, challenge]);
      }
      const document = await fetch(`${node().url}/.well-known/oauth-protected-resource/v1/mcp`);
      expect([document.status, await document.json()]).toMatchObject([
        200,
        {
          resource: "http://svc.test/v1/mcp",
          authorization_servers: ["http://svc.test/realms/svc-system", "http://svc.test/realms/svc-consumer"],
          bearer_methods_supported: ["header"],
        },
      ]);
    });

    test.each([
      ["http://svc.test", 200],
      ["https://app.test", 200],
      ["https://evil.test", 403],
      ["http://localhost:1", 403],
      ["null", 403],
      ["nonsense", 403],
    ])("a page of %s gets %i", async (origin, status) => {
      const answer = await post({ Origin: origin });
      expect(answer.status).toBe(status);
      if (status === 403) expect(await answer.json()).toMatchObject({ code: "origin_forbidden" });
    });

    test("batches are answered to clients of 2025-03-26, and refused to all others", async () => {
      const calls = [1, 2].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }));
      for (const headers of [{}, { "MCP-Protocol-Version": "2025-03-26" }]) {
        const answer = await post(headers, calls);
        const events = (await answer.text()).matchAll(/^data: (.+)$/gm);
        const ids = [...events].map(([, text = ""]) => JSON.parse(text).id).toSorted();
        expect([answer.status, ids]).toEqual([200, [1, 2]]);
      }
      for (const revision of ["2025-06-18", "2025-11-25", "2026-07-28"]) {
        const answer = await post({ "MCP-Protocol-Version": revision }, calls);
        expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32600 } }]);
      }
      const many = Array.from({ length: 101 }, (_, id) => ({ jsonrpc: "2.0", id, method: "ping" }));
      expect((await post({}, many)).status).toBe(400);
    });

    test("only POST is answered, and only JSON", async () => {
      for (const method of ["GET", "DELETE", "PUT"]) {
        const refused = await fetch(`${node().url}/v1/mcp`, { method });
        expect([refused.status, refused.headers.get("allow")]).toEqual([405, "POST"]);
      }
      for (const type of ["text/plain", ""]) {
        const answer = await post({ "Content-Type": type });
        expect([answer.status, (await answer.json()).code]).toEqual([415, "unsupported_media_type"]);
      }
      const broken = await post({}, "{");
      expect([broken.status, await broken.json()]).toMatchObject([400, { error: { code: -32700 } }]);
      expect((await post({}, "[]")).status).toBe(400);
      const levels = `${"[".repeat(300)}${"]".repeat(300)}`;
      const deep = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":${levels}}}}`;
      const refused = await post({}, deep);
      expect([refused.status, await refused.json()]).toMatchObject([400, { error: { code: -32600 } }]);
      expect((await post({}, `"${"x".repeat(4 * 1024 * 1024)}"`)).status).toBe(413);
      expect((await post({}, { jsonrpc: "2.0", id: 1, method: "none" })).status).toBeLessThan(500);
    });
  });
}
