/**
 * Carries messages of the Model Context Protocol between a pipe and the tool server of a node: what is offered, and how a
 * call is answered, is the node's alone.
 */
import { SdkHttpError, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
} from "@modelcontextprotocol/server";

/** The service cannot be reached now, or the answer did not come whole. */
const unavailable = -32010;

export interface BridgeOptions {
  /** To the client: that of a pipe. */
  readonly near: Transport;
  readonly url: URL;
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
}

/** Runs until the client closes its end; what is under way ends then. */
export async function bridge({ near, url, fetch }: BridgeOptions): Promise<void> {
  const far = new StreamableHTTPClientTransport(url, { fetch: explaining(fetch) });
  /** Requests that are not answered yet. */
  const open = new Map<RequestId, AbortController>();
  const closed = Promise.withResolvers<void>();
  let handshake: RequestId | null = null;

  const answer = (message: JSONRPCMessage) => void near.send(message).catch(() => closed.resolve());

  function fail(id: RequestId, error: unknown): void {
    // A client that has cancelled waits for nothing.
    if (!open.delete(id)) return;
    answer(refusalIn(error) ?? { jsonrpc: "2.0", id, error: { code: unavailable, message: reasonOf(error) } });
  }

  async function ask(message: JSONRPCRequest): Promise<void> {
    const leave = new AbortController();
    open.set(message.id, leave);
    if (message.method === "initialize") handshake = message.id;
    try {
      await far.send(message, {
        requestSignal: leave.signal,
        onRequestStreamEnd: () => fail(message.id, new Error("The connection to the service ended")),
      });
    } catch (error) {
      fail(message.id, error);
    }
  }

  near.onmessage = (message) => {
    if (isJSONRPCRequest(message)) {
      void ask(message);
      return;
    }
    if (isJSONRPCNotification(message) && message.method === "notifications/cancelled") {
      const id = message.params?.requestId;
      if (typeof id !== "string" && typeof id !== "number") return;
      const leave = open.get(id);
      open.delete(id);
      leave?.abort();
      return;
    }
    far.send(message).catch(() => {});
  };
  far.onmessage = (message) => {
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    if (isAnswer && message.id !== undefined) {
      if (message.id === handshake && isJSONRPCResultResponse(message)) {
        const { protocolVersion } = message.result;
        if (typeof protocolVersion === "string") far.setProtocolVersion(protocolVersion);
      }
      if (!open.delete(message.id)) return;
    }
    answer(message);
  };
  near.onclose = () => closed.resolve();
  await far.start();
  await near.start();
  await closed.promise;
  for (const leave of open.values()) leave.abort();
  await far.close();
}

/** The refusal that the node sent with an error status; null: it sent none. */
function refusalIn(error: unknown): JSONRPCMessage | null {
  if (!(error instanceof SdkHttpError) || typeof error.data.text !== "string") return null;
  try {
    const body: unknown = JSON.parse(error.data.text);
    return isJSONRPCErrorResponse(body) && body.id !== undefined ? body : null;
  } catch {
    return null;
  }
}

/** Refusals of the service itself, as of a token, are told in its own words. @throws Error that says which */
function explaining(fetch: BridgeOptions["fetch"]): BridgeOptions["fetch"] {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.ok || init?.method !== "POST") return response;
    const text = await response.text();
    const problem = problemIn(text);
    if (problem !== null) throw new Error(`${response.status} ${problem.code}: ${problem.error}`);
    return new Response(text, response);
  };
}

function problemIn(text: string): { readonly code: string; readonly error: string } | null {
  try {
    const { code, error } = JSON.parse(text) as { readonly code?: unknown; readonly error?: unknown };
    return typeof code === "string" && typeof error === "string" ? { code, error } : null;
  } catch {
    return null;
  }
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
