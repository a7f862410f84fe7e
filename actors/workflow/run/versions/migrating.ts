/**
 * Whether a run may go on in another version of its workflow: one that waits in a Human or a Wait that both versions
 * have alike, so that what it waits for means the same in either.
 */
import { auditEntry } from "../../../kernel/audit.ts";
import { isAlike, isObject, type Json } from "../../../kernel/json.ts";
import type { BodyOf } from "../../../kernel/message.ts";
import { Problem } from "../../../kernel/problem.ts";
import { joinedCeilings, keptCeilings } from "../../../policy/ceilings.ts";
import type { Definition, State } from "../../definition.ts";
import { inContextOf } from "../blackboard/seed.ts";
import type { MigrateReply, WorkflowRunMessages } from "../messages.ts";
import { isCompensating, type RunState } from "../state.ts";
import type { RunTurn } from "../turn.ts";

export type Refusal = Omit<Extract<MigrateReply, { outcome: "refused" }>, "outcome">;
export type Migration = BodyOf<WorkflowRunMessages["migrate"]>;

/** Lets the run go on in another version, or says why not; in the version that it is in already it simply stays. */
export function migrate(run: RunTurn, { to, by }: Migration): MigrateReply {
  const { header, definition, blackboard } = run.state;
  if (header.workflow_id === to.workflow_id && isAlike(definition as Json, to.definition as Json)) {
    return { outcome: "migrated" };
  }
  const ceilings = joinedCeilings(header.context_ceilings, to.ceilings);
  const refusal =
    migrationRefusal(run.state, to.definition) ??
    (ceilings instanceof Problem ? { code: "state_changed" as const, message: ceilings.message } : null);
  if (refusal !== null || ceilings instanceof Problem) return { outcome: "refused", ...(refusal as Refusal) };
  const { context_ceilings: _, deployed_by: __, ...kept } = header;
  const deployed = to.deployed_by === undefined ? {} : { deployed_by: to.deployed_by };
  const { version, name, context, storage } = to.definition;
  const versions = { from_version: header.workflow_version, to_version: to.version };
  run.change({
    header: inContextOf(
      { ...kept, ...keptCeilings(ceilings), ...deployed, workflow_id: to.workflow_id, workflow_version: to.version },
      to.definition,
    ),
    definition: to.definition,
  });
  run.note({
    workflow: { ...(isObject(blackboard.workflow) ? blackboard.workflow : {}), name, version, context, storage },
  });
  run.emit("WorkflowExecutionMigrated", {
    message: `The run goes on in version ${to.version}`,
    details: versions,
  });
  const target = { type: "workflow_execution", id: run.id };
  run.fact(auditEntry, { by, action: "execution.migrated", target, details: { workflow_name: name, ...versions } });
  return { outcome: "migrated" };
}

/** @returns what forbids it; null: nothing does */
function migrationRefusal(state: RunState, next: Definition): Refusal | null {
  const { current, status, definition, undo = [] } = state;
  if (status !== "running") return { code: "not_waiting", message: `The run is ${status}` };
  if (isCompensating(state)) return { code: "not_waiting", message: "The run undoes what it did" };
  if (current === null) return { code: "not_waiting", message: "The run is between two states" };
  const had = stateOf(definition, current.name);
  if (had === null || !waits(had, current.work.of)) {
    return { code: "not_waiting", message: `The run is at work in ${current.name}` };
  }
  for (const name of [current.name, ...undo.flatMap((one) => [one.name, one.by])]) {
    if (stateOf(next, name) === null) return { code: "state_missing", message: `The version has no state ${name}` };
  }
  const has = stateOf(next, current.name);
  if (has === null || !isAlike(whatItIs(had), whatItIs(has))) {
    return { code: "state_changed", message: `${current.name} is another one in that version` };
  }
  if (!isAlike(definition.storage, next.storage)) {
    return { code: "state_changed", message: "The versions declare different storage" };
  }
  return null;
}

const stateOf = ({ states }: Definition, name: string): State | null =>
  Object.hasOwn(states, name) ? (states[name] ?? null) : null;

const waits = ({ kind }: State, work: string): boolean =>
  (kind === "Human" && work === "human") || (kind === "Wait" && work === "wait");

/** What comes after the state may differ: the run has not been there. */
function whatItIs(state: State): Json {
  const { transitions: _, outcome: __, max_state_visits: ___, compensate: ____, continue_as: _____, ...rest } = state;
  return rest as Json;
}
