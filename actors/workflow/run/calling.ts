/**
 * Calls of tools by states. A call is made by an activity; one that people are asked about goes on in an actor of its own
 * beside the run, which tells of the people and of the end in one commit with either. While it waits, the timeout of the
 * state stands still. What a rate refuses, or a number of calls that are under way, is tried again until the state's time
 * is up: with an id of its own in the record of calls, and the same key.
 */

import { workflowRunKind } from "../../execution/child.ts";
import { isObject, type Json } from "../../kernel/json.ts";
import type { CallingRun } from "../../tool/calling-run.ts";
import { type CallOutcome, toolCallProtocol } from "../../tool-call/messages.ts";
import { type ToolCall, type ToolCalled, toolCall } from "./activities/tool-call.ts";
import { childWaiting } from "./children/child-waits.ts";
import { tellPeople } from "./children/people.ts";
import { fail } from "./ending.ts";
import { StateFault } from "./kind.ts";
import type { NewsOf } from "./messages.ts";
import { toolCallId } from "./relevance.ts";
import { callTimer, stateTimer } from "./state.ts";
import type { RunTurn } from "./turn.ts";
import type { CallWork } from "./work.ts";

/** How long refusals are waited out where the state has no timeout. */
const longestWaitMs = 30 * 60_000;
/** Longest pause before a refused call is tried again: room may come sooner than a rate says. */
const longestPauseMs = 60_000;
/** The state's time stands still a little longer than people have time: their own clock is the first to tell. */
const graceMs = 60_000;

export interface WantedCall {
  readonly tool: string;
  readonly arguments: Json;
  /** It begins a fleet run, which tells the run of itself. */
  readonly sends?: true;
}

/** Makes the call of the state at work. @throws StateFault `invalid_arguments` */
export function beginCall(run: RunTurn, wanted: WantedCall): CallWork {
  const { deadline_at } = run.current;
  const key = run.context.newId();
  return {
    invocation: make(run, wanted, key),
    key,
    since: run.now,
    again_at: null,
    give_up_at: deadline_at ?? run.now + longestWaitMs,
    approval_id: null,
  };
}

/** Makes a call again that was refused for a while. */
export function callAgain(run: RunTurn, work: CallWork, wanted: WantedCall): CallWork {
  return { ...work, invocation: make(run, wanted, work.key), since: run.now, again_at: null };
}

/** @returns the call's id in the record of calls */
function make(run: RunTurn, wanted: WantedCall, key: string): string {
  const invocation_id = run.context.newIdBeside(toolCallProtocol);
  const { header, definition } = run.state;
  if (!isObject(wanted.arguments)) throw new StateFault("invalid_arguments", "The arguments must be an object");
  const call: ToolCall = {
    invocation_id,
    key,
    tool: wanted.tool,
    arguments: wanted.arguments,
    run: callingRun(run, wanted),
    context: definition.security_context ?? header.security_context,
    ceilings: header.context_ceilings ?? [],
    starter: header.starter ?? null,
    counted_for: header.counted_for ?? null,
  };
  run.perform(toolCall, call, { id: toolCallId(invocation_id), then: "tool_called" });
  return invocation_id;
}

function callingRun(run: RunTurn, { sends }: WantedCall): CallingRun {
  const { header } = run.state;
  return {
    id: runIdOf(run),
    root_execution_id: header.root_execution_id,
    workflow_id: header.workflow_id,
    workflow_name: header.workflow_name,
    ...placeOf(run),
    owner: { kind: workflowRunKind, key: run.id },
    ...(sends === undefined ? {} : { sends }),
  };
}

/** The run as people know it: items of a Map belong to the run of the Map. */
export const runIdOf = ({ id, state }: RunTurn): string => state.header.batch?.run_id ?? id;

/** The state as people know it: what is done for an item is done by its Map. */
export function placeOf(run: RunTurn): { readonly state_name: string; readonly visit: number } {
  const { batch } = run.state.header;
  if (batch !== undefined) return { state_name: batch.state_name, visit: batch.visit };
  const { name: state_name, visit } = run.current;
  return { state_name, visit };
}

/** What became of making a call. `waiting`: nothing more is to be done but to wait for the call's own actor. */
export type CallNews =
  | { readonly is: "ended"; readonly outcome: CallOutcome }
  | { readonly is: "waiting" }
  | { readonly is: "again"; readonly work: CallWork };

/** Reads the outcome of the activity; a refusal that passes is waited out as long as there is time. */
export function onCalled(run: RunTurn, work: CallWork, outcome: ToolCalled): CallNews {
  if (!outcome.ok) {
    const code = outcome.code === "process_died" ? "interrupted" : outcome.code;
    return { is: "ended", outcome: { outcome: "failed", result: { code, message: outcome.message } } };
  }
  const { value } = outcome;
  if (value.is !== "later") return value;
  const again_at = run.now + Math.min(longestPauseMs, Math.max(1, value.after_ms));
  if (again_at >= work.give_up_at && run.current.deadline_at === null) {
    return { is: "ended", outcome: value.outcome };
  }
  const { entry } = run.current;
  run.schedule(callTimer(entry), again_at, "call_due", { entry });
  return { is: "again", work: { ...work, again_at } };
}

/** People are asked about the call or have decided: the log tells of it, and the state's time stands still meanwhile. */
export function onPeople<W extends CallWork>(
  run: RunTurn,
  work: W,
  { asked, decided, tool }: Pick<NewsOf<"tool_waiting">, "asked" | "decided"> & { readonly tool: string },
): W {
  tellPeople(run, { asked, decided });
  if (decided !== null) goesOn(run, work.invocation);
  if (asked === null) return decided === null ? work : { ...work, since: run.now };
  const { approval_id, expires_at } = asked;
  childWaiting(run, {
    child_execution_id: work.invocation,
    waiting: { approval_id, tool, expires_at },
    since: run.now,
    most_ms: Math.max(0, expires_at - run.now) + graceMs,
  });
  return { ...work, approval_id };
}

/** No person is waited for any more. */
function goesOn(run: RunTurn, invocation: string): void {
  if ((run.current.waits ?? []).length === 0) return;
  childWaiting(run, { child_execution_id: invocation, waiting: null, since: null, most_ms: 0 });
}

/** The call is over, or no longer waited for: what it waited for is not shown any more. */
export function callOver(run: RunTurn, { invocation }: CallWork): void {
  goesOn(run, invocation);
}

/** Gives the call up: it is not made any more, or told to stop. */
export function leaveCall(run: RunTurn, { invocation, again_at }: CallWork, reason: string): void {
  if (again_at !== null) run.cancelTimer(callTimer(run.current.entry));
  run.abandon(toolCallId(invocation));
  // Of a call that was made at once there is no such actor.
  run.tell(toolCallProtocol, invocation, "withdraw", { reason }, { coCommit: true });
  goesOn(run, invocation);
}

/**
 * People have not answered in time, and the policy that asked them wants the run to fail of that: no rule of the state is
 * asked, and a state of a branch fails the whole run. An item of a Map fails by itself.
 */
export function failByPeople(run: RunTurn, { result }: CallOutcome): void {
  const { deadline_at, entry } = run.current;
  if (deadline_at !== null) run.cancelTimer(stateTimer(entry));
  run.move({ current: null });
  fail(run, "tool_approval_timed_out", String(result.message ?? "No person approved the call in time"), true);
}

/** A failed call in the words of results. */
export function failureOf({ result }: CallOutcome): { readonly error: string; readonly message: string } {
  const { code = null, message = null } = result as { readonly [member: string]: Json };
  // A tool server's own failure has no code.
  const error = typeof code === "string" ? code : "tool_failed";
  return { error, message: typeof message === "string" ? message : "The tool says that it failed" };
}
