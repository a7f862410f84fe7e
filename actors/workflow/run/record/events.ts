/**
 * The log of a run (docs/reference/workflows.md). An entry is stored as type, message and details; who reads it adds the sequence, the
 * time and what names the run.
 */
import { type Static, Type } from "@sinclair/typebox";
import { defineLog } from "../../../kernel/effect.ts";
import { type Json, JsonObject } from "../../../kernel/json.ts";

type Details = { readonly [key: string]: Json };

export const eventTypes = [
  "WorkflowExecutionStarted",
  "WorkflowStateEntered",
  "WorkflowStateExited",
  "WorkflowIterationStarted",
  "WorkflowIterationCompleted",
  "WorkflowIterationFailed",
  "RefinementApplied",
  "SubworkflowTriggered",
  "SubworkflowCompleted",
  "SubworkflowFailed",
  "ContainerRunStarted",
  "ContainerRunCompleted",
  "ContainerRunFailed",
  "HumanInputRequested",
  "HumanInputResolved",
  "WorkflowStateVisitLimitExceeded",
  "WorkflowStateRetried",
  "WorkflowSignalBuffered",
  "WorkflowMapProgress",
  "WorkflowBranchJoined",
  "WorkflowCompensationStarted",
  "WorkflowCompensationCompleted",
  "WorkflowCompensationFailed",
  "WorkflowExecutionMigrated",
  "WorkflowExecutionContinued",
  "WorkflowExecutionPaused",
  "WorkflowExecutionResumed",
  "WorkflowOutputCoercionFailed",
  "WorkflowWarning",
  "WorkflowExecutionCompleted",
  "WorkflowExecutionFailed",
  "WorkflowExecutionCancelled",
  "WorkflowExecutionTimedOut",
] as const;
export type EventType = (typeof eventTypes)[number];

/** Of a state in a branch: which one. */
type InBranch = { readonly branch?: string };

/** Details that the run's graph is made of; those of the other events are for people. */
export interface ReadDetails {
  readonly WorkflowStateEntered: InBranch & {
    readonly state_name: string;
    readonly visit: number;
    readonly entered_at: string;
  };
  readonly WorkflowStateRetried: InBranch & {
    readonly state_name: string;
    /** The next one. */
    readonly attempt: number;
    readonly error: string;
    readonly failed_at: string;
    readonly next_at: string;
  };
  readonly WorkflowStateExited: InBranch & {
    readonly state_name: string;
    readonly visit: number;
    readonly output: { readonly status: string; readonly [key: string]: Json };
    readonly transition: { readonly condition: string; readonly target: string } | null;
    readonly exited_at: string;
  };
}
type DetailsOf<T extends EventType> = T extends keyof ReadDetails ? ReadDetails[T] : Details;

export interface EventBody<T extends EventType = EventType> {
  /** One line for people. */
  readonly message: string;
  readonly state_name?: string;
  readonly iteration_number?: number;
  readonly details: DetailsOf<T>;
}

/** An event as it is stored. */
export const StoredEvent = Type.Object({
  type: Type.Unsafe<EventType>(Type.String()),
  message: Type.String(),
  state_name: Type.Optional(Type.String()),
  iteration_number: Type.Optional(Type.Integer()),
  details: JsonObject,
});
export type StoredEvent = Static<typeof StoredEvent>;
export const workflowEvents = defineLog("events", StoredEvent);

export function eventOf<T extends EventType>(type: T, body: EventBody<T>): StoredEvent {
  const { message, state_name, iteration_number, details } = body;
  return {
    type,
    message,
    ...(state_name === undefined ? {} : { state_name }),
    ...(iteration_number === undefined ? {} : { iteration_number }),
    details,
  };
}

/** Whether a stored event is of this type; its details then have the shape that `eventOf` demanded when it was written. */
export function isEvent<T extends keyof ReadDetails>(
  event: StoredEvent,
  type: T,
): event is StoredEvent & { readonly details: ReadDetails[T] } {
  return event.type === type;
}
