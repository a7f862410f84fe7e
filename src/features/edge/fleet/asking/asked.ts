/** What a run is asked for, read from a request. */
import { isObject, type Json } from "../../../../../actors/kernel/json.ts";
import { invalidField, Problem } from "../../../../../actors/kernel/problem.ts";
import { isStorable, isStorableJson, unusableText } from "../../../../../actors/manifest/storable.ts";

/** What hosts know how to run. */
const hostTools: readonly string[] = [
  "cmd.run",
  ...["read", "write", "list", "create_dir", "delete", "edit", "multi_edit", "grep", "glob"].map(
    (name) => `fs.${name}`,
  ),
];

type Arguments = { readonly [name: string]: Json };
const maxArgsBytes = 262_144;

/** @throws Problem 422 `unknown_tool`, `validation_failed` */
export function readTool(tool: string | undefined, alias: string | undefined): string {
  const named = tool ?? alias;
  if (named === undefined) throw invalidField("tool", "is required");
  if (hostTools.includes(named)) return named;
  throw new Problem("unknown_tool", `Hosts have no tool of this name; they have ${hostTools.join(", ")}`);
}

/** As JSON. @throws Problem 413 `body_too_large`, 422 */
export function readArgs(args: Arguments): string {
  const text = JSON.stringify(args);
  if (Buffer.byteLength(text) > maxArgsBytes)
    throw new Problem("body_too_large", `args may have ${maxArgsBytes} bytes`, { limit: maxArgsBytes });
  if (!isStorableJson(args)) throw invalidField("args", "holds text that cannot be stored");
  const fault = unsafeInteger(args, "args");
  if (fault !== null) throw invalidField(fault, "must be an integer within ±(2^53 - 1)");
  return text;
}

/** Where an integer stands that not every reader of JSON keeps as it is; null: nowhere. */
function unsafeInteger(value: Json | undefined, path: string): string | null {
  if (typeof value === "number") return Number.isInteger(value) && !Number.isSafeInteger(value) ? path : null;
  if (Array.isArray(value)) return firstOf(value.entries(), path);
  return isObject(value) ? firstOf(Object.entries(value), path) : null;
}

function firstOf(members: Iterable<readonly [string | number, Json]>, path: string): string | null {
  for (const [name, member] of members) {
    const found = unsafeInteger(member, `${path}.${String(name).slice(0, 64)}`);
    if (found !== null) return found;
  }
  return null;
}

/** @throws Problem 422 */
export function readContext(name: string | null | undefined): string | null {
  if (name !== null && name !== undefined && !isStorable(name))
    throw invalidField("security_context_name", unusableText);
  return name ?? null;
}

const mask = "********";

/** Arguments as people may see them: without the values of the environment. */
export function maskedArgs(args: Arguments): Arguments {
  const { env_additions } = args;
  if (!isObject(env_additions)) return args;
  const names = Object.keys(env_additions);
  return { ...args, env_additions: Object.fromEntries(names.map((name) => [name, mask])) };
}
