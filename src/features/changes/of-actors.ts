/** Which commits of actors are changes of records, and with which status. */

import { approval } from "../../../actors/approval/approval.ts";
import { type ChangeType, deleted } from "../../../actors/change/change.ts";
import { edgeHost } from "../../../actors/edge-host/host.ts";
import type { HostState } from "../../../actors/edge-host/state.ts";
import { execution } from "../../../actors/execution/execution.ts";
import { fleetRun } from "../../../actors/fleet-run/fleet-run.ts";
import type { AnyActorDefinition } from "../../../actors/kernel/actor.ts";
import { workflowRun } from "../../../actors/workflow/run/run.ts";
import { type ActorChange, defineProjection, type Projection, type StateOf } from "../../runtime/port.ts";
import type { Changes } from "./port.ts";

interface Telling<State> {
  readonly type: ChangeType;
  statusOf(state: State): string;
  /** Whether a commit changes what the record shows; absent: each does. */
  isNews?(before: State, after: State): boolean;
  /** Whether the actor is a record of its own; absent: each is. */
  isRecord?(state: State): boolean;
  /** Other changes than commits are told of the record too, so that its versions say nothing of the order. */
  readonly isToldOtherwise?: true;
}

function telling<D extends AnyActorDefinition>(
  changes: Pick<Changes, "changed" | "mayBeFollowed">,
  definition: D,
  { type, statusOf, isNews, isRecord, isToldOtherwise }: Telling<StateOf<D>>,
): Projection {
  const tell = ({ key: id, tenant, before, after, version }: ActorChange<StateOf<D>>): void => {
    const state = after ?? before;
    if (state === null || !changes.mayBeFollowed(tenant) || isRecord?.(state) === false) return;
    if (before !== null && after !== null && isNews?.(before, after) === false) return;
    const status = after === null ? deleted : statusOf(after);
    changes.changed(tenant, { type, id, status, ...(isToldOtherwise ? {} : { rev: version }) });
  };
  return defineProjection(
    definition,
    () => [],
    (all) => all.forEach(tell),
  );
}

/** Heartbeats and frames are no news. */
const isNewsOfHost = (before: HostState, after: HostState): boolean =>
  before.status !== after.status ||
  before.epoch !== after.epoch ||
  before.agent_version !== after.agent_version ||
  before.commands.length !== after.commands.length ||
  before.not_accepting.join() !== after.not_accepting.join();

export const changesOfActors = (changes: Pick<Changes, "changed" | "mayBeFollowed">): readonly Projection[] => [
  telling(changes, execution, { type: "execution", statusOf: ({ status }) => status }),
  telling(changes, workflowRun, {
    type: "run",
    statusOf: ({ status }) => status,
    // A child record of items is shown with its run.
    isRecord: ({ header }) => header.batch === undefined,
  }),
  telling(changes, approval, { type: "approval", statusOf: ({ status }) => status }),
  telling(changes, fleetRun, { type: "fleet_run", statusOf: ({ status }) => status }),
  telling(changes, edgeHost, {
    type: "host",
    statusOf: ({ status }) => status,
    isNews: isNewsOfHost,
    isToldOtherwise: true,
  }),
];
