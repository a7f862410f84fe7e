/** The `fs.*` family as a tool provider, acting on the host directory behind an execution's `/workspace`. */
import { fileURLToPath } from "node:url";
import { BudgetExceeded, runGuarded } from "../guarded.ts";
import { outcomeOf, ToolFailure, type ToolOutcome, type ToolProvider, type ToolRequest } from "../port.ts";
import { createDirectory, deleteOne, edit, multiEdit, read, write } from "./files.ts";
import { Mount } from "./mount.ts";
import type { ScanJob } from "./scan-program.ts";
import { checkArguments, type FsTool, fsArguments, fsDescriptions } from "./schema.ts";

const program = fileURLToPath(new URL("./scan-program.ts", import.meta.url));
const grepBudgetMs = 2_000;
const walkBudgetMs = 20_000;

/** @param workspace host directory of an execution */
export function createFsTools(workspace: (executionId: string) => Promise<string>): ToolProvider {
  const tools = (Object.keys(fsArguments) as FsTool[]).map((name) => ({
    name,
    description: fsDescriptions[name],
    inputSchema: JSON.parse(JSON.stringify(fsArguments[name])) as Record<string, unknown>,
  }));
  return {
    tools: () => tools,
    call: async (request) => {
      try {
        return await run(await workspace(request.executionId), request);
      } catch (error) {
        return outcomeOf(error);
      }
    },
  };
}

async function run(host: string, { name, arguments: given, signal }: ToolRequest): Promise<ToolOutcome> {
  switch (name as FsTool) {
    case "fs.list":
      return scan({ host, call: { tool: "fs.list", given: checkArguments("fs.list", given) } }, walkBudgetMs, signal);
    case "fs.glob":
      return scan({ host, call: { tool: "fs.glob", given: checkArguments("fs.glob", given) } }, walkBudgetMs, signal);
    case "fs.grep":
      return scan({ host, call: { tool: "fs.grep", given: checkArguments("fs.grep", given) } }, grepBudgetMs, signal);
    case "fs.delete": {
      const checked = checkArguments("fs.delete", given);
      if (checked.recursive) return scan({ host, call: { tool: "fs.delete", given: checked } }, walkBudgetMs, signal);
      return within(host, (mount) => deleteOne(mount, checked));
    }
    case "fs.read":
      return within(host, (mount) => read(mount, checkArguments("fs.read", given)));
    case "fs.write":
      return within(host, (mount) => write(mount, checkArguments("fs.write", given)));
    case "fs.create_dir":
      return within(host, (mount) => createDirectory(mount, checkArguments("fs.create_dir", given)));
    case "fs.edit":
      return within(host, (mount) => edit(mount, checkArguments("fs.edit", given)));
    case "fs.multi_edit":
      return within(host, (mount) => multiEdit(mount, checkArguments("fs.multi_edit", given)));
    default:
      throw new ToolFailure("not_found", `There is no tool ${String(name)}`);
  }
}

function within(
  host: string,
  act: (mount: Mount) => { readonly [key: string]: string | number | boolean },
): ToolOutcome {
  using mount = new Mount(host);
  return { status: "succeeded", result: act(mount) };
}

async function scan(job: ScanJob, budgetMs: number, signal: AbortSignal): Promise<ToolOutcome> {
  try {
    return (await runGuarded(program, job, budgetMs, signal)) as ToolOutcome;
  } catch (error) {
    if (!(error instanceof BudgetExceeded)) throw error;
    throw new ToolFailure("timeout", `${job.call.tool} took longer than ${budgetMs / 1000} s`);
  }
}
