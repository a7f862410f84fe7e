/** A run before its first state: its first blackboard (docs/reference/workflows.md) and everything around it. */

import { isObject, type Json } from "../../../kernel/json.ts";
import type { BodyOf } from "../../../kernel/message.ts";
import { iso } from "../../../kernel/time.ts";
import type { Context } from "../../../kernel/turn.ts";
import type { Definition } from "../../definition.ts";
import type { WorkflowRunMessages } from "../messages.ts";
import type { RunHeader, RunState } from "../state.ts";
import { jsonBytes } from "./size.ts";

export type Start = BodyOf<WorkflowRunMessages["start"]>;
type Values = { readonly [name: string]: Json };

/** The state of a run that has entered nothing yet; what it enters first is noted in `next`. */
export function firstState(start: Start, context: Context): RunState {
  const { definition, input, resume } = start;
  const header = inContextOf(start.header, definition);
  const blackboard = firstBlackboard(start, context);
  return {
    header,
    status: "running",
    started_at: context.now,
    deadline_at: header.timeout_ms === null ? null : context.now + header.timeout_ms,
    paused_at: null,
    last_transition_at: context.now,
    current: null,
    current_state: null,
    next: { target: resume?.state ?? definition.initial_state, feedback: resume === null ? null : feedbackOf(resume) },
    visits: {},
    transition_count: 0,
    outputs: resume?.outputs ?? [],
    recorded: true,
    ending: null,
    definition,
    input,
    blackboard,
    blackboard_bytes: jsonBytes(blackboard),
  };
}

/** The header of a run with the security context that this version of its workflow names. */
export function inContextOf({ own_context: _, ...header }: RunHeader, { security_context }: Definition): RunHeader {
  return { ...header, ...(security_context === undefined ? {} : { own_context: security_context }) };
}

/** What the blackboard begins with beside the keys of the system. */
export const givenTo = ({
  definition,
  overrides,
  resume,
}: Pick<Start, "definition" | "overrides" | "resume">): Values =>
  resume === null ? { ...definition.context, ...overrides } : { ...resume.blackboard, ...overrides };

/** Later wins: the context of the manifest, what the request lays over it, the volumes, the system keys. */
function firstBlackboard(start: Start, context: Context): Values {
  const { header, definition, resume } = start;
  const human = resume?.blackboard.human ?? { feedback: null, response: null, decision: null, approver: null };
  return {
    ...givenTo(start),
    ...volumeKeys(header, definition.storage.workspace?.blackboard_key ?? null),
    ...systemKeys(start, context),
    human,
  };
}

function systemKeys({ header, definition, input }: Start, context: Context): Values {
  const value = isObject(input) ? input : { input };
  const { name, version, context: given, storage } = definition;
  return {
    input: value,
    intent: header.intent,
    tenant_id: header.tenant_id,
    attachments: header.attachments,
    workflow: { ...value, name, version, context: given, storage },
    execution: { id: context.key, started_at: iso(context.now) },
    state: { name: null, feedback: null, visit: 0 },
  };
}

const workspacePath = "/workspace";

/** @param workspaceKey where the manifest wants the workspace's id */
function volumeKeys({ volumes }: RunHeader, workspaceKey: string | null): Values {
  return Object.fromEntries(
    volumes.map(({ name, volume_id, mount_path }) => [
      mount_path === workspacePath && workspaceKey !== null ? workspaceKey : `${name}_volume_id`,
      volume_id,
    ]),
  );
}

/** A state that is entered again gets what it got before. */
function feedbackOf({ blackboard, state }: NonNullable<Start["resume"]>): string | null {
  const last = blackboard.state;
  if (!isObject(last ?? null)) return null;
  const { name, feedback } = last as Values;
  return name === state && typeof feedback === "string" ? feedback : null;
}
