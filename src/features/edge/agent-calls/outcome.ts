/** What a host made of a call, as the tool's own outcome. */
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { CMD_RUN } from "../../../../actors/tool/catalog.ts";
import type { ToolOutcome } from "../../tools/port.ts";
import type { HostCallOutcome } from "../fleet/port.ts";

type Members = { readonly [member: string]: Json };
type Ended = Extract<HostCallOutcome, { readonly is: "ended" }>;
export type OverOutcome = Ended | Extract<HostCallOutcome, { readonly is: "not_run" }>;

/** Codes of tools that mean what a host has another word for. */
const codes: ReadonlyMap<string, string> = new Map([
  ["invalid_args", "invalid_arguments"],
  ["timed_out", "timeout"],
]);

/** What a run came to that ran nothing. */
const notRun: ReadonlyMap<string, readonly [code: string, message: string]> = new Map([
  ["approval_rejected", ["rejected_by_person", "A person rejected the run of"]],
  ["approval_timed_out", ["approval_timed_out", "No person approved in time the run of"]],
  ["no_targets", ["edge_disconnected", "The host cannot be reached for"]],
  ["run_deadline", ["timeout", "The time was up for"]],
]);

/** @param runId of the run, which its host's record and the audit log name as well */
export function outcomeOnHost(tool: string, runId: string, over: OverOutcome): ToolOutcome {
  if (over.is === "not_run") {
    const [code, message] = notRun.get(over.reason) ?? ["cancelled", "The run was cancelled of"];
    return { status: "failed", code, message: `${message} ${tool}`, details: { fleet_command_id: runId } };
  }
  const { status, error_kind: kind, node_id, command_id } = over;
  const place: Members = { edge_node_id: node_id, fleet_command_id: runId, command_id };
  if (isResult(tool, over)) return { status: "succeeded", result: { ...resultOf(over), ...place } };
  const word = kind ?? status;
  const message = over.error_message ?? `${tool} ended as ${status} on the host`;
  return {
    status: "failed",
    code: codes.get(word) ?? word,
    message,
    details: { ...(tool === CMD_RUN ? outputOf(over) : {}), ...place, host_status: status },
  };
}

/** A command that ran has a result, whatever it exited with, and although its time was up: as in a sandbox. */
function isResult(tool: string, { status, error_kind, structured }: Ended): boolean {
  if (status === "ok") return true;
  const isCommand = tool === CMD_RUN && isObject(structured);
  return isCommand && (error_kind === "nonzero_exit" || status === "timed_out");
}

/** What the tool says itself; of a host that gave nothing, what is known of its output. */
const resultOf = (ended: Ended): Members => (isObject(ended.structured) ? ended.structured : outputOf(ended));

const outputOf = ({ exit_code, stdout_tail, stderr_tail }: Ended): Members => ({
  ...{ exit_code, stdout: stdout_tail, stderr: stderr_tail },
});
