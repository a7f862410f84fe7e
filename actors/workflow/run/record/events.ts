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
  "WorkflowExecutionPaused",
  "WorkflowExecutionResumed",
  "WorkflowOutputCoercionFailed",
  "WorkflowExecutionCompleted",
  "WorkflowExecutionFailed",
  "WorkflowExecutionCancelled",
  "WorkflowExecutionTimedOut",
] as const;
export type EventType = (typeof eventTypes)[number];

export interface EventBody<_T extends EventType = EventType> {
  /** One line for people. */
  readonly message: string;
  readonly state_name?: string;
  readonly iteration_number?: number;
  readonly details: Details;
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
