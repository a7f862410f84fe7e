/** The `web.*` family as a tool provider. */
import { toolSchema } from "../../../actors/kernel/schema.ts";
import { type SearchEngine, SearchFailed } from "../../adapters/search/port.ts";
import { outcomeOf, type RegisteredTool, ToolFailure, type ToolProvider, type ToolRequest } from "../tools/port.ts";
import { type FetchParts, fetchPage } from "./fetch.ts";
import { FetchArguments, readArguments, SearchArguments } from "./schema.ts";

const common = {
  aliases: [],
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  source: "builtin",
  executor: "server",
  runs: "service",
  readOnly: true,
  idempotent: true,
  truncates: true,
} as const satisfies Partial<RegisteredTool>;

const search: RegisteredTool = {
  ...common,
  name: "web.search",
  description: "Search the web. Answers titles, addresses and snippets.",
  inputSchema: toolSchema(SearchArguments),
};
const fetching: RegisteredTool = {
  ...common,
  name: "web.fetch",
  description: "Read a page of the public web. HTML comes as markdown of its main content.",
  inputSchema: toolSchema(FetchArguments),
};

/** @param engine null: `web.search` is not offered */
export function createWebTools(engine: SearchEngine | null, parts: FetchParts): ToolProvider {
  const tools = engine === null ? [fetching] : [search, fetching];
  return {
    tools: () => tools,
    call: async (request) => {
      try {
        const isSearch = engine !== null && request.name === search.name;
        return {
          status: "succeeded",
          result: isSearch ? await find(engine, request) : await fetchPage(parts, request),
        };
      } catch (error) {
        request.signal.throwIfAborted();
        return outcomeOf(error);
      }
    },
  };
}

async function find(engine: SearchEngine, { arguments: given, bounds, signal }: ToolRequest) {
  const { query, max_results: most } = readArguments(search.name, SearchArguments, given);
  try {
    const hits = (await engine.search(query, most, signal)).map((hit) => ({ ...hit }));
    const results = fitting(hits, bounds.maxResponseBytes);
    return {
      query,
      engine: engine.name,
      result_count: results.length,
      results,
      ...(results.length < hits.length ? { truncated: true } : {}),
    };
  } catch (error) {
    if (error instanceof SearchFailed) throw new ToolFailure(error.code, error.message);
    throw error;
  }
}

/** The first ones that together have so many bytes as JSON. */
function fitting<T>(hits: readonly T[], maxBytes: number): T[] {
  let room = maxBytes;
  const over = hits.findIndex((hit) => {
    room -= Buffer.byteLength(JSON.stringify(hit)) + 1;
    return room < 0;
  });
  return over < 0 ? [...hits] : hits.slice(0, over);
}
