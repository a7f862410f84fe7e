/** What the service offers to one caller, as a server of the official library that answers one request. */
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "@modelcontextprotocol/server";
import { isObject } from "../../../actors/kernel/json.ts";
import { version } from "../../../package.json";
import type { FaceCaller } from "./caller.ts";
import { telling } from "./refusal.ts";
import type { Resources } from "./resources.ts";
import type { Tools } from "./tools.ts";

export interface Offer {
  readonly resources: Resources;
  readonly tools: Tools;
  readonly newId: () => string;
}

const instructions =
  "svc runs agents and workflows under control. run_<agent> and run_workflow_<name> start them and wait for the end; " +
  "svc_… are the service's own operations. A call that waits for a person answers `pending`: svc_invocation_get reads " +
  "on. Executions and their files are resources: svc://executions/{id} and svc://executions/{id}/files/{path}.";

export function serverOf(caller: FaceCaller, { resources, tools, newId }: Offer): Server {
  const server = new Server({ name: "svc", version }, { capabilities: { resources: {}, tools: {} }, instructions });
  server.setRequestHandler("resources/list", ({ params }) => resources.list(caller, params?.cursor));
  server.setRequestHandler("resources/templates/list", () => resources.templates());
  server.setRequestHandler("resources/read", ({ params }) => resources.read(caller, params.uri));
  server.setRequestHandler("tools/list", ({ params }) => telling(() => tools.list(caller, params?.cursor)));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const { name: tool, arguments: given = {} } = params;
    // Of the library's types any value may be in it; what came by the wire is JSON.
    if (!isObject(given)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The arguments are no object");
    const { signal } = context.mcpReq;
    return telling(() => tools.call({ caller, tool, given, key: newId(), signal, tell: progressOf(context) }));
  });
  return server;
}

/** Tells of progress, where the client asks for it. */
function progressOf({ mcpReq }: ServerContext): (line: string) => void {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return () => {};
  let progress = 0;
  return (message) => {
    progress += 1;
    const params = { progressToken, progress, message };
    // A client that has left hears of nothing.
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => {});
  };
}
