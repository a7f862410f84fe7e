/** The tool server as a program that a client starts: the same over a pipe (docs/reference/mcp.md). */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { NodeProcess } from "../../harness/node/node-process.ts";
import { connect, eras } from "./fixture.ts";

const program = join(import.meta.dir, "../../../src/programs/svc/main.ts");

export function pipeTests(nodes: () => readonly NodeProcess[]): void {
  const node = (): NodeProcess => nodes()[0] as NodeProcess;
  async function start(era: (typeof eras)[number], env: Record<string, string> = {}) {
    const client = new Client(
      { name: "test", version: "1" },
      { versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
    );
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [program, "mcp"],
      env: { PATH: process.env.PATH ?? "", SVC_API_URL: node().url, ...env },
      stderr: "pipe",
    });
    await client.connect(transport);
    return { client, transport };
  }

  describe.each([...eras])("over a pipe, %s", (era) => {
    test("it offers what the node offers", async () => {
      const { client } = await start(era);
      const { client: direct } = await connect([node()], era);
      expect(await client.listResources()).toEqual(await direct.listResources());
      expect(await client.listResourceTemplates()).toEqual(await direct.listResourceTemplates());
      expect(client.getServerVersion()).toEqual(direct.getServerVersion());
      await expect(client.readResource({ uri: "svc://executions/none" })).rejects.toThrow("none");
      await direct.close();
      await client.close();
    });
  });

  test("a token that the node refuses is told as the node tells it", async () => {
    await expect(start("legacy", { SVC_USER_TOKEN: "none" })).rejects.toThrow("401 invalid_token");
  });
}
