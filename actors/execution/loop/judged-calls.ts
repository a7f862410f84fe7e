/** The calls of a reply as policy has judged them: which may run, and the answers of those that may not. */
import type { CallClearance, ClearedCall } from "../../policy/security/clearance.ts";
import { findTool, type ToolEntry } from "../../tool/catalog.ts";
import type { ToolCall } from "../activities.ts";
import type { Loop } from "../state.ts";
import type { ExecutionTurn } from "../turn.ts";
import { failByPolicy, misused, refuseByPolicy, refuseUnlisted } from "./call-answers.ts";

/** The tool that a call may run, and what policy says of it; null: it was answered. */
export function entryOf(
  turn: ExecutionTurn,
  loop: Loop,
  call: ToolCall,
  clearance: CallClearance | undefined,
): { readonly entry: ToolEntry; readonly clearance: ClearedCall | null } | null {
  if (clearance?.is === "refused") {
    refuseByPolicy(turn, loop, call, clearance);
    return null;
  }
  // Of an answer of an earlier version, which asked no policy.
  const entry = clearance === undefined ? findTool(turn.state.tools, call.name) : entryIn(clearance);
  if (call.malformed !== undefined && entry !== undefined) {
    misused(turn, loop, call, `${entry.name}: the arguments must be one JSON object`, []);
    return null;
  }
  if (clearance?.is === "failed") {
    failByPolicy(turn, loop, call, clearance);
    return null;
  }
  if (entry === undefined) {
    refuseUnlisted(turn, loop, call);
    return null;
  }
  return { entry, clearance: clearance ?? null };
}

const entryIn = (clearance: CallClearance): ToolEntry | undefined =>
  clearance.is === "cleared" ? clearance.entry : undefined;
