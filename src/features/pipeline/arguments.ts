/** The arguments of a call against the schema of its tool. */
import type { Json } from "../../../actors/kernel/json.ts";
import { checkAgainstSchema } from "../../lib/schema-check/input-check.ts";
import type { Call, RegisteredTool } from "../tools/port.ts";

type Arguments = { readonly [member: string]: Json };
type Issue = { readonly [member: string]: Json };

/** Defaults are the tool's own to fill in: nothing is added here. */
const rules = { rules: { deepDefaults: false, readsText: false }, most: Number.MAX_SAFE_INTEGER };
/** Tools of the service bring schemas whose price is known. */
const ownRules = { ...rules, isOwn: true };
const maxIssues = 20;

/** Whom a call addresses on another machine. */
export interface Target {
  readonly edge_node_id?: Json;
  readonly edge_selector?: Json;
}

/** Takes out whom the call addresses; a tool may have a `target` of its own that says something else. */
export function splitTarget(given: Arguments): { readonly target: Target | null; readonly given: Arguments } {
  const { target = null, ...rest } = given;
  if (target === null || typeof target !== "object" || Array.isArray(target)) return { target: null, given };
  const isAddress = "edge_node_id" in target || "edge_selector" in target;
  return isAddress ? { target: target as Target, given: rest } : { target: null, given };
}

/** Models write null for what they leave out; a server of others may mean it. */
export function written(tool: RegisteredTool, given: Arguments): Arguments {
  if (tool.source === "mcp" || !Object.values(given).includes(null)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/**
 * @param signal of the caller, who may leave while a costly schema is checked
 * @returns what does not fit; empty: everything fits
 */
export async function argumentIssues(
  { tenant, entry, signal }: Pick<Call, "tenant" | "entry" | "signal">,
  tool: RegisteredTool,
  given: Arguments,
): Promise<readonly Issue[]> {
  // A tool server's schema is JSON by its protocol, those of the service are made as JSON.
  const schema = tool.inputSchema as { readonly [member: string]: Json };
  const characters = JSON.stringify(given).length;
  // A loop's call is durable work: a line that is too long would be taken for a fault of the model's.
  const waiter = { tenant, left: () => signal, durable: entry === "dispatch" };
  const how = tool.source === "mcp" ? rules : ownRules;
  const verdict = await checkAgainstSchema(waiter, schema, given, characters, how);
  if (verdict.ok) return [];
  return verdict.issues.slice(0, maxIssues).map((issue) => ({ ...issue, path: pathOf(issue.path) }));
}

/** As callers know the value: the arguments are no member of an input. */
const pathOf = (path: string): string => path.replace(/^input(?=[.[]|$)/, "arguments");
