/** The `fs.*` family as a tool provider, acting on what the execution's agent sees under `/workspace`. */
import { fileURLToPath } from "node:url";
import { toolSchema } from "../../../../actors/kernel/schema.ts";
import { wholeCharacters } from "../../../../actors/kernel/text.ts";
import { BudgetExceeded } from "../../../lib/guarded/child.ts";
import { runGuarded } from "../../../lib/guarded/guarded.ts";
import {
  createDirectory,
  deleteOne,
  edit,
  multiEdit,
  read,
  TooMuchHere,
  write,
} from "../../../lib/tool-files/files.ts";
import { checkArguments, type FsTool, fsArguments, fsDescriptions } from "../../../lib/tool-files/schema.ts";
import { View } from "../../../lib/tool-files/view.ts";
import type { ViewSpec } from "../../../lib/tool-files/view-spec.ts";
import {
  executionRequired,
  outcomeOf,
  type RegisteredTool,
  ToolFailure,
  type ToolOutcome,
  type ToolProvider,
  type ToolRequest,
} from "../port.ts";
import type { ScanJob } from "./scan-program.ts";

const program = fileURLToPath(new URL("./scan-program.ts", import.meta.url));
const grepBudgetMs = 2_000;
const walkBudgetMs = 20_000;

/** Tools that may make a mount's content grow. */
const growing: readonly string[] = ["fs.write", "fs.edit", "fs.multi_edit"] satisfies FsTool[];
/** Tools that only look. */
const looking: readonly FsTool[] = ["fs.read", "fs.list", "fs.grep", "fs.glob"];
/** Those whose second run leaves what the first one left. */
const repeatable: readonly FsTool[] = [...looking, "fs.create_dir"];

function registered(name: FsTool): RegisteredTool {
  const readOnly = looking.includes(name);
  return {
    name,
    aliases: [],
    description: fsDescriptions[name],
    inputSchema: toolSchema(fsArguments[name]),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: !readOnly && name !== "fs.create_dir",
      idempotentHint: repeatable.includes(name),
      openWorldHint: false,
    },
    source: "builtin",
    executor: "sandbox",
    runs: "service",
    readOnly,
    idempotent: readOnly,
    truncates: readOnly,
  };
}

/**
 * @param viewFor what an execution's agent sees; `growing` asks for the room that is left in its mounts as well
 */
export function createFsTools(
  viewFor: (tenant: string, executionId: string, growing: boolean) => Promise<ViewSpec>,
): ToolProvider {
  const tools = (Object.keys(fsArguments) as FsTool[]).map(registered);
  return {
    tools: () => tools,
    call: async (request) => {
      try {
        const { tenant, executionId, name, bounds } = request;
        if (executionId === null) throw executionRequired(name);
        const view = await viewFor(tenant, executionId, growing.includes(name));
        await request.still?.();
        return shortened(await runFsTool({ ...view, allowed: bounds.pathRules }, request), bounds.maxResponseBytes);
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

/** Lists and contents longer than the caller may be given are cut, and say so. Both are shorter as JSON than `maxBytes` then. */
function shortened(outcome: ToolOutcome, maxBytes: number): ToolOutcome {
  if (outcome.status !== "succeeded") return outcome;
  const { result } = outcome;
  const { content, encoding, offset, size_bytes: size } = result;
  if (typeof content === "string" && typeof offset === "number" && typeof size === "number") {
    const bytes = Buffer.from(content, encoding === "base64" ? "base64" : "utf-8");
    if (bytes.length <= maxBytes) return outcome;
    const rest = bytes.subarray(0, maxBytes);
    const kept = encoding === "base64" ? rest : rest.subarray(0, wholeCharacters(rest));
    const text = kept.toString(encoding === "base64" ? "base64" : "utf-8");
    return { status: "succeeded", result: { ...result, content: text, truncated: true } };
  }
  const name = Array.isArray(result.entries) ? "entries" : "matches";
  const list = result[name];
  if (!Array.isArray(list)) return outcome;
  let room = maxBytes;
  const over = list.findIndex((one) => {
    room -= Buffer.byteLength(JSON.stringify(one)) + 1;
    return room < 0;
  });
  if (over < 0) return outcome;
  return { status: "succeeded", result: { ...result, [name]: list.slice(0, over), count: over, truncated: true } };
}

/** What of a request the tools work by. */
export type FsRequest = Pick<ToolRequest, "name" | "arguments" | "tenant" | "signal" | "still">;

/** @throws ToolFailure, ToolRefusal */
export async function runFsTool(view: ViewSpec, request: FsRequest): Promise<ToolOutcome> {
  const { name, arguments: given } = request;
  switch (name as FsTool) {
    case "fs.list":
      return scan({ view, call: { tool: "fs.list", given: checkArguments("fs.list", given) } }, walkBudgetMs, request);
    case "fs.glob":
      return scan({ view, call: { tool: "fs.glob", given: checkArguments("fs.glob", given) } }, walkBudgetMs, request);
    case "fs.grep":
      return scan({ view, call: { tool: "fs.grep", given: checkArguments("fs.grep", given) } }, grepBudgetMs, request);
    case "fs.delete": {
      const checked = checkArguments("fs.delete", given);
      if (checked.recursive) return scan({ view, call: { tool: "fs.delete", given: checked } }, walkBudgetMs, request);
      return within(view, (opened) => deleteOne(opened, checked));
    }
    case "fs.read":
      return within(view, (opened) => read(opened, checkArguments("fs.read", given)));
    case "fs.write":
      return within(view, (opened) => write(opened, checkArguments("fs.write", given)));
    case "fs.create_dir":
      return within(view, (opened) => createDirectory(opened, checkArguments("fs.create_dir", given)));
    case "fs.edit": {
      const checked = checkArguments("fs.edit", given);
      return (
        withinReason(view, (opened) => edit(opened, checked)) ??
        scan({ view, call: { tool: "fs.edit", given: checked } }, walkBudgetMs, request)
      );
    }
    case "fs.multi_edit": {
      const checked = checkArguments("fs.multi_edit", given);
      return (
        withinReason(view, (opened) => multiEdit(opened, checked)) ??
        scan({ view, call: { tool: "fs.multi_edit", given: checked } }, walkBudgetMs, request)
      );
    }
    default:
      throw new ToolFailure("not_found", `There is no tool ${String(name)}`);
  }
}

function within(
  spec: ViewSpec,
  act: (view: View) => { readonly [key: string]: string | number | boolean },
): ToolOutcome {
  using view = new View(spec);
  return { status: "succeeded", result: act(view) };
}

/** @returns null when it is too much for the main thread, and nothing has been done */
function withinReason(...[spec, act]: Parameters<typeof within>): ToolOutcome | null {
  try {
    return within(spec, act);
  } catch (error) {
    if (error instanceof TooMuchHere) return null;
    throw error;
  }
}

async function scan(job: ScanJob, budgetMs: number, request: FsRequest): Promise<ToolOutcome> {
  const { tenant, signal, still: begins } = request;
  try {
    const options = { kind: "walk", tenant, budgetMs, signal, durable: true, begins } as const;
    return (await runGuarded(program, job, options)) as ToolOutcome;
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    throw new ToolFailure("timeout", `${job.call.tool} took longer than ${budgetMs / 1000} s`);
  }
}
