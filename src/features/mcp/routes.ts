/** The tool server's route, and the document that tells its clients which tokens it takes. */
import { Type } from "@sinclair/typebox";
import { allScopes } from "../../../actors/identity/scopes.ts";
import { AnyJson } from "../../../actors/kernel/json.ts";
import { eventStream, media, reply } from "../../http/answer.ts";
import { tooComplex } from "../../http/input/json-shape.ts";
import { definePublicRoute, defineRoute, type Incoming, type Route, rawBody } from "../../http/route.ts";
import { sourceOf } from "../approvals/port.ts";
import { type Face, maxBodyBytes } from "./face.ts";

export interface McpRoutesOptions {
  readonly face: Face;
  /** Without a trailing slash. */
  readonly publicUrl: string;
  readonly issuers: readonly string[];
  readonly admits: (incoming: Incoming) => void;
}

const path = "/v1/mcp";
const metadataPath = `/.well-known/oauth-protected-resource${path}`;

const RpcRequest = Type.Unsafe({
  ...AnyJson,
  description: "A message of JSON-RPC 2.0; of clients of 2025 also several",
  examples: [{ jsonrpc: "2.0", id: 1, method: "tools/list" }],
});
const RpcAnswer = Type.Unsafe({
  ...AnyJson,
  description: "A response of JSON-RPC 2.0, or several of a batch",
  examples: [{ jsonrpc: "2.0", id: 1, result: { tools: [] } }],
});
/** What a streamed answer is made of. */
export const McpEvent = Type.Object({
  jsonrpc: Type.Literal("2.0"),
  id: Type.Optional(Type.Union([Type.String(), Type.Integer()])),
  method: Type.Optional(Type.String({ description: "Of a notification, such as `notifications/progress`" })),
  params: Type.Optional(AnyJson),
  result: Type.Optional(AnyJson),
  error: Type.Optional(AnyJson),
});
const Metadata = Type.Object({
  resource: Type.String(),
  resource_name: Type.String(),
  authorization_servers: Type.Array(Type.String()),
  bearer_methods_supported: Type.Array(Type.String()),
  scopes_supported: Type.Array(Type.String()),
});

/** Batches are of the revision 2025-03-26 alone, whose clients do not name it in every request. */
function takesBatches(request: Request): boolean {
  const revision = request.headers.get("mcp-protocol-version");
  return revision === null || revision === "2025-03-26";
}

export function mcpRoutes({ face, publicUrl, issuers, admits }: McpRoutesOptions): readonly Route[] {
  return [
    defineRoute({
      method: "POST",
      path,
      summary: "The service as a tool server of the Model Context Protocol",
      admits,
      resourceMetadata: publicUrl + metadataPath,
      headers: Type.Object({
        "X-Svc-Security-Context": Type.Optional(
          Type.String({ maxLength: 256, description: "The security context of the calls; absent: by who calls" }),
        ),
      }),
      body: rawBody({ limit: maxBodyBytes, accepts: ["application/json"], schema: RpcRequest }),
      responses: {
        200: Type.Union([RpcAnswer, eventStream(McpEvent)]),
        202: media("application/json"),
        400: RpcAnswer,
        404: RpcAnswer,
        406: RpcAnswer,
        500: RpcAnswer,
      },
      refusals: ["origin_forbidden", "too_many_streams"],
      handler: async (call) => {
        const { request, server, body, identity, tenant, requestId, signal, stopping } = call;
        // What a schema is checked against elsewhere is as bounded here, before anything goes down into it.
        const reason = tooComplex(body.bytes);
        if (reason !== null) {
          const error = { code: -32600, message: `The body ${reason}` };
          return reply(400, { jsonrpc: "2.0", id: null, error });
        }
        let message: unknown;
        try {
          message = JSON.parse(body.text());
        } catch {
          const error = { code: -32700, message: "The body is not JSON" };
          return reply(400, { jsonrpc: "2.0", id: null, error });
        }
        if (Array.isArray(message) && !takesBatches(request)) {
          const error = { code: -32600, message: "This revision of the protocol has no batches" };
          return reply(400, { jsonrpc: "2.0", id: null, error });
        }
        // A call may wait for minutes; what is answered as a stream keeps itself alive.
        server?.timeout(request, 0);
        const context = request.headers.get("x-svc-security-context")?.trim() || null;
        const source = sourceOf(call);
        return face.answer({ identity, tenant, requestId, signal, stopping, context, source }, request, message);
      },
    }),
    definePublicRoute({
      method: "GET",
      path: metadataPath,
      tag: "mcp",
      summary: "Which tokens the tool server takes, and whose (RFC 9728)",
      responses: { 200: Metadata },
      handler: () =>
        reply(
          200,
          {
            resource: publicUrl + path,
            resource_name: "svc",
            authorization_servers: issuers,
            bearer_methods_supported: ["header"],
            scopes_supported: [...allScopes],
          },
          { "Cache-Control": "max-age=300" },
        ),
    }),
  ];
}
