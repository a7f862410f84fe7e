/** What a tool called in a loop answered: the log of its execution has it, as the model was told it. */
import { execution } from "../../../actors/execution/execution.ts";
import { LoopEntry } from "../../../actors/execution/messages.ts";
import { defineLog } from "../../../actors/kernel/effect.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { Runtime } from "../../runtime/port.ts";
import type { StoredInvocation } from "./records.ts";

/** @returns null: the log is gone */
export async function loggedResult(
  runtime: Pick<Runtime, "of">,
  tenant: string,
  { record, in_log }: StoredInvocation,
): Promise<Json> {
  if (in_log === null || record.execution_id === null) return null;
  const { log, seq } = in_log;
  const actor = runtime.of(execution).at(tenant, record.execution_id);
  const [found] = await actor.log(defineLog(log, LoopEntry), seq - 1, 1);
  if (found?.seq !== seq || found.entry.entry !== "message") return null;
  const { content } = found.entry.message;
  try {
    return JSON.parse(content) as Json;
  } catch {
    // A long one was trimmed for the model, and is no JSON any more.
    return { trimmed: content };
  }
}
