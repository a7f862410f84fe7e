/** The tools of tool servers, as the registry of tools has them. */
import type { Json } from "../../../actors/kernel/json.ts";
import { bounds } from "../../../actors/tool-server/listing.ts";
import type { ToolOutcome, ToolProvider, ToolRequest } from "../tools/port.ts";
import type { Catalog } from "./catalog.ts";
import type { Host } from "./running/host.ts";
import type { ServerCallEnd } from "./running/node-server.ts";
import { shownTools, withheldOf } from "./wire.ts";

const failure = (code: string, message: string): ToolOutcome => ({ status: "failed", code, message });

export function toolServerProvider(catalog: Catalog, host: Pick<Host, "call">): ToolProvider {
  return {
    tools(tenant) {
      const offer = catalog.of(tenant);
      return offer instanceof Promise ? offer.then(({ tools }) => tools) : offer.tools;
    },

    async call({ name, arguments: args, tenant, bounds: allowed, signal }: ToolRequest) {
      const at = name.indexOf(".");
      const row = (await catalog.of(tenant)).servers.get(name.slice(0, at));
      const wanted = name.slice(at + 1);
      const tool = row === undefined ? undefined : shownTools(row).find((each) => each.name === wanted);
      if (row === undefined || tool === undefined) return failure("unknown_tool", `There is no tool ${name}`);
      if (withheldOf(row).includes(wanted)) {
        return failure(
          "tool_changed",
          `${name} changed since it was accepted; it is withheld until it is accepted again`,
        );
      }
      const seconds = Math.min(row.definition.call_timeout_seconds, allowed.maxTimeoutSecs);
      const end = await host.call({ row, tool, arguments: args, timeoutMs: seconds * 1_000, signal });
      return outcomeOf(name, end);
    },
  };
}

function outcomeOf(name: string, end: ServerCallEnd): ToolOutcome {
  switch (end.kind) {
    case "result": {
      const { content, structuredContent, isError } = end.result;
      const told = { content, structuredContent, isError };
      const present = Object.entries(told).filter(([, value]) => value !== undefined);
      // It came as JSON.
      return { status: "succeeded", result: Object.fromEntries(present) as { readonly [member: string]: Json } };
    }
    case "too_large":
      return {
        status: "refused",
        error_code: 2007,
        code: "output_size_exceeded",
        violation_type: "output_size_limit_exceeded",
        message: `The answer of ${name} is larger than ${bounds.answerBytes} bytes`,
        attempted: name,
      };
    case "timeout":
      return failure("timeout", end.message);
    case "unavailable":
      return failure("tool_server_unavailable", end.message);
    case "lost":
      return failure("upstream_error", `The tool server was lost while it was called: ${end.message}`);
    case "error":
      return failure("upstream_error", `The tool server refused: ${end.message}`);
  }
}
