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
      const { url, identity, tenant } = await connection();
      await bridge({
        near: new StdioServerTransport(),
        url: new URL(`${url}/v1/mcp`),
        async fetch(target, init = {}) {
          const headers = new Headers(init.headers);
          if (securityContext !== undefined) headers.set("X-Svc-Security-Context", securityContext);
          if (tenant !== null) for (const name of ["X-Svc-Tenant", "X-Tenant-Id"]) headers.set(name, tenant);
          if (tenant?.startsWith("t-") === true) headers.set("X-Svc-Team", tenant);
          const send = (token: string | null) => {
            if (token !== null) headers.set("Authorization", `Bearer ${token}`);
            return fetch(target, { ...init, headers, redirect: "error" });
          };
          const token = await identity.token(null);
          const response = await send(token);
          // A token that ended meanwhile is replaced once; messages are texts, which can be sent again.
          const fresh = response.status === 401 && token !== null ? await identity.token(token) : null;
          if (fresh === null) return response;
          await response.body?.cancel();
          return send(fresh);
        },
      });
    },
  });
}
