/** Clients of the tool server: those of the official library, each of whose requests goes to another node. */
import { Client, type ClientOptions, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { NodeProcess } from "../../harness/node/node-process.ts";

/** The protocol as clients of 2025 speak it, and as those of 2026 do. */
export type Era = "legacy" | "modern";
export const eras: readonly Era[] = ["legacy", "modern"];

export interface FaceClientOptions extends Pick<ClientOptions, "capabilities" | "inputRequired"> {
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** `fetch` whose requests go to the nodes in turn; `taken` counts them. */
function inTurn(nodes: readonly NodeProcess[], headers: () => Promise<Readonly<Record<string, string>>>) {
  const taken = nodes.map(() => 0);
  let next = 0;
  return {
    taken,
    async fetch(url: string | URL, init: RequestInit = {}): Promise<Response> {
      const turn = next % nodes.length;
      next += 1;
      taken[turn] = (taken[turn] ?? 0) + 1;
      const { pathname, search } = new URL(url);
      const all = new Headers(init.headers);
      for (const [name, value] of Object.entries(await headers())) all.set(name, value);
      return fetch((nodes[turn]?.url ?? "") + pathname + search, { ...init, headers: all });
    },
  };
}

/** Connects; the caller closes the client. */
export async function connect(nodes: readonly NodeProcess[], era: Era, options: FaceClientOptions = {}) {
  const { token, headers = {}, ...rest } = options;
  const turns = inTurn(nodes, async () => ({
    Authorization: `Bearer ${token ?? (await nodes[0]?.token())}`,
    ...headers,
  }));
  const client = new Client(
    { name: "test", version: "1" },
    { ...rest, versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL("http://svc.test/v1/mcp"), { fetch: turns.fetch }));
  return { client, taken: turns.taken };
}
