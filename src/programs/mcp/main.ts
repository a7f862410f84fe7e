/**
 * The tool server over standard input and output, for clients that start their servers as programs:
 *
 *   npm run -s mcp -- [--context <security context>]
 *
 * It speaks to a node: SVC_URL (default http://localhost:8080) says where it is, SVC_TOKEN is a token or an API key;
 * without it the development issuer is asked. Messages go to standard output, everything else to standard error.
 */
import { parseArgs } from "node:util";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { Client } from "../cli/client.ts";
import { bridge } from "./bridge.ts";

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { context: { type: "string" } } });
  const base = process.env.SVC_URL ?? "http://localhost:8080";
  const client = new Client(base, process.env.SVC_TOKEN ?? null);
  await bridge({
    near: new StdioServerTransport(),
    url: new URL("/v1/mcp", base),
    async fetch(url, init = {}) {
      const headers = new Headers(init.headers);
      headers.set("Authorization", `Bearer ${await client.token()}`);
      if (values.context !== undefined) headers.set("X-Svc-Security-Context", values.context);
      return fetch(url, { ...init, headers });
    },
  });
}

try {
  await main();
  process.exit(0);
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
