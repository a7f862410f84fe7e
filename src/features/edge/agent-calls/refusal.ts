/** What the rules of a tenant say of its agents, told as what policy says of any call. */
import { Problem } from "../../../../actors/kernel/problem.ts";
import { ToolRefusal } from "../../tools/port.ts";

/** @throws ToolRefusal where agents may run nothing on hosts; all else as it is */
export async function asPolicy<T>(tool: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "agent_runs_denied") throw error;
    throw new ToolRefusal(2000, error.code, "tool_not_allowed", error.message, tool);
  }
}
