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

/** Models write null for what they leave out; a server of others may mean it. */
export function written(tool: RegisteredTool, given: Arguments): Arguments {
  if (tool.source === "mcp" || !Object.values(given).includes(null)) return given;
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
}

/**
 * @param signal of the caller, who may leave while a costly schema is checked
 * @param schema the tool's own when absent
 * @returns what does not fit; empty: everything fits
 */
export async function argumentIssues(
  { tenant, entry, signal }: Pick<Call, "tenant" | "entry" | "signal">,
  tool: RegisteredTool,
  given: Arguments,
  // A tool server's schema is JSON by its protocol, those of the service are made as JSON.
  schema = tool.inputSchema as { readonly [member: string]: Json },
): Promise<readonly Issue[]> {
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
