/** The JSON-RPC request inside of an envelope. */
import { canonicalText } from "./canonical.ts";
import { type JsonNode, type Members, NumberText } from "./json-text.ts";

export type RpcId = string | NumberText;

export type RpcRequest =
  | { readonly method: "ping" | "tools/list"; readonly id: RpcId; readonly params: Members }
  /** `tools/call`, or a method that is a tool's name. */
  | { readonly method: "tools/call"; readonly id: RpcId; readonly tool: string; readonly arguments: Members };

/** Why a payload is no request. `id` is the one that an answer carries, if there is one. */
export interface RpcFault {
  readonly fault: string;
  readonly id: RpcId | null;
}

/** Longest method or name of a tool. */
const maxName = 200;

export function readRpc(payload: Members): RpcRequest | RpcFault {
  const id = readRpcId(payload);
  const refuse = (fault: string): RpcFault => ({ fault, id });
  if (payload.get("jsonrpc") !== "2.0") return refuse('jsonrpc is not "2.0"');
  if (id === null) return refuse("id is neither a text nor an integer; notifications are not taken");
  const method = payload.get("method");
  if (typeof method !== "string" || method === "" || method.length > maxName) return refuse("method is no name");
  const params = membersOf(payload.get("params"));
  if (params === null) return refuse("params is not an object");
  if (method === "ping" || method === "tools/list") return { method, id, params };
  if (method !== "tools/call") return { method: "tools/call", id, tool: method, arguments: params };
  const tool = params.get("name");
  if (typeof tool !== "string" || tool === "" || tool.length > maxName) return refuse("params.name is no name");
  const args = membersOf(params.get("arguments"));
  if (args === null) return refuse("params.arguments is not an object");
  return { method, id, tool, arguments: args };
}

/** The id that an answer to this payload carries; null: it has none that is allowed. */
function readRpcId(payload: Members): RpcId | null {
  const id = payload.get("id");
  if (typeof id === "string") return id;
  return id instanceof NumberText && /^-?[0-9]+$/.test(id.text) ? id : null;
}

/** The id as it was received, as JSON text. */
export const idText = (id: RpcId): string => canonicalText(id);

/** Absent counts as empty; null is none. */
function membersOf(node: JsonNode | undefined): Members | null {
  if (node === undefined) return new Map();
  return node instanceof Map ? node : null;
}
