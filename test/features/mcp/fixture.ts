/** Clients of the tool server: those of the official library, each of whose requests goes to another node. */
import {
  type CallToolResult,
  Client,
  type ClientOptions,
  type ElicitResult,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { LooseJson } from "../../harness/loose-json.ts";
import type { manifest } from "../../harness/manifests.ts";
import type { NodeProcess } from "../../harness/node/node-process.ts";

/** The protocol as clients of 2025 speak it, and as those of 2026 do. */
export type Era = "legacy" | "modern";
export const eras: readonly Era[] = ["legacy", "modern"];

export interface FaceClientOptions extends Pick<ClientOptions, "inputRequired"> {
  readonly token?: string;
  /** Of calls by `callTool`; `modern` when absent. */
  readonly era?: Era;
  readonly headers?: Readonly<Record<string, string>>;
  /** Answers for the client's person, who can be asked then. */
  readonly elicit?: (message: string) => { readonly action: string; readonly content?: Record<string, string> };
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

/** Deploys an agent. @returns the answer */
export type Deploy = (
  options: Parameters<typeof manifest>[0],
  query?: string,
  headers?: Readonly<Record<string, string>>,
) => Promise<LooseJson>;

/** Connects; the caller closes the client. */
export async function connect(nodes: readonly NodeProcess[], era: Era, options: FaceClientOptions = {}) {
  const { token, headers = {}, elicit, ...rest } = options;
  const turns = inTurn(nodes, async () => ({
    Authorization: `Bearer ${token ?? (await nodes[0]?.token())}`,
    ...headers,
  }));
  const capabilities = elicit === undefined ? {} : { elicitation: { form: {} } };
  const client = new Client(
    { name: "test", version: "1" },
    { ...rest, capabilities, versionNegotiation: { mode: era === "legacy" ? "legacy" : { pin: "2026-07-28" } } },
  );
  if (elicit !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => elicit(params.message) as ElicitResult);
  }
  await client.connect(new StreamableHTTPClientTransport(new URL("http://svc.test/v1/mcp"), { fetch: turns.fetch }));
  return { client, taken: turns.taken };
}

/** Calls a tool with a client of its own and gives its structured result. */
export async function callTool(
  nodes: readonly NodeProcess[],
  name: string,
  given: Record<string, unknown>,
  { era = "modern", ...options }: FaceClientOptions = {},
) {
  const { client } = await connect(nodes, era, options);
  try {
    const result = (await client.callTool({ name, arguments: given })) as CallToolResult;
    return { isError: result.isError ?? false, body: result.structuredContent as LooseJson };
  } finally {
    await client.close();
  }
}
