/** What the service offers to one caller, as a server of the official library that answers one request. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { isObject } from "../../../actors/kernel/json.ts";
import { version } from "../../../package.json";
import type { Asking } from "./asking.ts";
import type { FaceCaller } from "./caller.ts";
import { telling } from "./refusal.ts";
import type { Resources } from "./resources.ts";
import type { Tools } from "./tools.ts";

export interface Offer {
  readonly resources: Resources;
  readonly tools: Tools;
  readonly asking: Pick<Asking, "carriedBy">;
  readonly newId: () => string;
}

const instructions =
  "svc runs agents and workflows under control. run_<agent> and run_workflow_<name> start them and wait for the end; " +
  "svc_… are the service's own operations. A call that waits for a person answers `pending`: svc_invocation_get reads " +
  "on. Executions and their files are resources: svc://executions/{id} and svc://executions/{id}/files/{path}.";

export function serverOf(caller: FaceCaller, { resources, tools, asking, newId }: Offer): Server {
  const server = new Server({ name: "svc", version }, { capabilities: { resources: {}, tools: {} }, instructions });
  server.setRequestHandler("resources/list", ({ params }) => resources.list(caller, params?.cursor));
  server.setRequestHandler("resources/templates/list", () => resources.templates());
  server.setRequestHandler("resources/read", ({ params }) => resources.read(caller, params.uri));
  server.setRequestHandler("tools/list", ({ params }) => telling(() => tools.list(caller, params?.cursor)));
  server.setRequestHandler("tools/call", ({ params }, context) => {
    const { mcpReq } = context;
    const { name: tool, arguments: given = {} } = params;
    // Of the library's types any value may be in it; what came by the wire is JSON.
    if (!isObject(given)) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "The arguments are no object");
    const requestState = mcpReq.requestState<string>();
    const carried = requestState === undefined ? null : asking.carriedBy({ caller, tool, given }, requestState);
    const call = {
      ...{ caller, tool, given, carried, signal: mcpReq.signal, tell: progressOf(context) },
      key: carried?.key ?? newId(),
      elicits: canElicit(context),
      responses: mcpReq.inputResponses ?? {},
    };
    return telling(() => tools.call(call));
  });
  return server;
}

/**
 * Whether the client can show its person a form. Clients of the 2026-07-28 revision say so with every request; those of
 * 2025 said it once, in a handshake that no node remembers.
 */
function canElicit({ mcpReq }: ServerContext): boolean {
  const envelope: Readonly<Record<string, unknown>> = mcpReq.envelope ?? {};
  const said = envelope[CLIENT_CAPABILITIES_META_KEY];
  const elicitation = isObject(said) ? said.elicitation : undefined;
  if (!isObject(elicitation)) return false;
  return elicitation.form !== undefined || elicitation.url === undefined;
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
