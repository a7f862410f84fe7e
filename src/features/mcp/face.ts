/**
 * Requests of the protocol, answered by the official server library: each by a server of its own, so that any node
 * answers any request, of clients of the revision of 2026 and of those of 2025.
 */
import { createMcpHandler, type Server } from "@modelcontextprotocol/server";
import { Problem } from "../../../actors/kernel/problem.ts";
import type { FaceCaller } from "./caller.ts";

/** Bytes of a request's body. */
export const maxBodyBytes = 4 * 1024 * 1024;
/** Requests that a tenant may have open on one node: one that waits for an execution holds its connection. */
const perTenant = 200;

export interface FaceOptions {
  readonly serverOf: (caller: FaceCaller) => Server;
  readonly report: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface Face {
  /**
   * @param body the parsed body
   * @throws Problem 415 `unsupported_media_type` for one that is not named JSON, 429 `too_many_streams`
   */
  answer(caller: FaceCaller, request: Request, body: unknown): Promise<Response>;
  /** Requests that are being answered now. */
  open(): number;
  close(): Promise<void>;
}

export function openFace({ serverOf, report }: FaceOptions): Face {
  const callers = new WeakMap<Request, FaceCaller>();
  const open = new Map<string, number>();

  function enter(tenant: string): () => void {
    open.set(tenant, (open.get(tenant) ?? 0) + 1);
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      const left = (open.get(tenant) ?? 1) - 1;
      if (left > 0) open.set(tenant, left);
      else open.delete(tenant);
    };
  }

  const handler = createMcpHandler(
    ({ requestInfo }) => {
      const caller = requestInfo === undefined ? undefined : callers.get(requestInfo);
      if (caller === undefined) throw new Error("a request without a caller");
      const server = serverOf(caller);
      server.onclose = enter(caller.tenant);
      return server;
    },
    {
      maxRequestBodySize: maxBodyBytes,
      // Lists do not tell of their changes, so there is nothing to subscribe to.
      maxSubscriptions: 0,
      onerror: (error) => report("mcp", { reason: error.message }),
    },
  );
  return {
    async answer(caller, request, body) {
      if ((open.get(caller.tenant) ?? 0) >= perTenant) {
        const message = `At most ${perTenant} requests of a tenant may be open at once on a node`;
        throw new Problem("too_many_streams", message, { limit: perTenant }, { "Retry-After": "5" });
      }
      callers.set(request, caller);
      const answer = await handler.fetch(request, { parsedBody: body });
      // As of every other route, which a request that names no media type passes up to here.
      if (answer.status === 415)
        throw new Problem("unsupported_media_type", "The Content-Type must be application/json");
      return answer;
    },
    open: () => open.values().reduce((sum, count) => sum + count, 0),
    close: handler.close,
  };
}
