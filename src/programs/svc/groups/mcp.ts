/** `svc mcp`. */
import type { Command } from "commander";
import { addVerb } from "../frame/verb.ts";

export function mcp(program: Command): void {
  addVerb(program, {
    words: "mcp",
    summary: "Serve the tools of the service over standard input and output",
    more: "For clients of the Model Context Protocol that start their servers as programs. Messages go to standard output, everything else to standard error. What is offered is the service's: the scopes of the caller decide.",
    options: { "--security-context <name>": "bind the calls by this security context" },
    examples: [
      ["svc mcp --context production", "A server with the sign-in of a context"],
      ["claude mcp add svc -- svc mcp", "Let a client start it"],
    ],
    async run({ connection }, _, { securityContext }) {
      const [{ bridge }, { StdioServerTransport }] = await Promise.all([
        import("../mcp/bridge.ts"),
        import("@modelcontextprotocol/server/stdio"),
      ]);
      const { url, client } = await connection();
      await bridge({
        near: new StdioServerTransport(),
        url: new URL(`${url}/v1/mcp`),
        async fetch(target, init = {}) {
          const headers = new Headers(init.headers);
          if (securityContext !== undefined) headers.set("X-Svc-Security-Context", securityContext);
          const send = () => fetch(target, { ...init, headers, redirect: "error" });
          const token = await client.identify(headers, null);
          const response = await send();
          if (response.status !== 401 || token === null) return response;
          // A token that ended meanwhile is replaced once; messages are texts, which can be sent again.
          const fresh = await client.identify(headers, token);
          if (fresh === null) return response;
          await response.body?.cancel();
          return send();
        },
      });
    },
  });
}
