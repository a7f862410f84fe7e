/** The states of an agent, who owns it, and what is told about every change. */

import { Type } from "@sinclair/typebox";
import { systemTenant } from "../identity/identity.ts";
import type { Json } from "../kernel/json.ts";
import { Problem } from "../kernel/problem.ts";
import { Text, Time } from "../kernel/schema.ts";

export const agentStatuses = ["active", "paused", "archived"] as const;
export type AgentStatus = (typeof agentStatuses)[number];
export type AgentScope = "tenant" | "global";

const agentEventTypes = [
  "agent_deployed",
  "agent_updated",
  "agent_paused",
  "agent_resumed",
  "agent_removed",
  "agent_scope_changed",
] as const;
export type AgentEventType = (typeof agentEventTypes)[number];

const eventBody = Type.Object(
  { agent_id: Text, name: Text, version: Text, occurred_at: Time },
  { additionalProperties: true, description: "Besides what the event is about: `old_version`, `new_scope` and others" },
);
/** An entry of an agent's history as streams carry it. */
export const AgentLifecycleEvent = Type.Union(
  agentEventTypes.map((type) => Type.Object({ [type]: eventBody })),
  { description: "What happened to an agent" },
);

/** One entry of an agent's history: `{[type]: body}` on the wire. */
export interface AgentEvent {
  readonly type: AgentEventType;
  readonly body: { readonly [key: string]: Json };
}

/** As an event names an agent: with its current version after the change. */
export interface EventSubject {
  readonly agent_id: string;
  readonly name: string;
  readonly version: string;
}

/** @param facts what the event has beside the agent and the time */
export function agentEvent(
  type: AgentEventType,
  { agent_id, name, version }: EventSubject,
  at: Date,
  facts: { readonly [key: string]: Json } = {},
): AgentEvent {
  return { type, body: { agent_id, name, version, ...facts, occurred_at: at.toISOString() } };
}

/**
 * What becomes of a request for another status. The one an agent has already is granted and changes nothing.
 *
 *   active   → paused             agent_paused
 *   active, paused → archived     no event
 *   paused, archived → active     agent_resumed
 *
 * @returns the event that tells it, null when there is none; `changed` false when nothing happens
 * @throws Problem 409 `agent_archived`: an archived agent cannot be paused
 */
export function changeStatus(
  from: AgentStatus,
  to: AgentStatus,
): { readonly changed: boolean; readonly event: "agent_paused" | "agent_resumed" | null } {
  if (from === to) return { changed: false, event: null };
  if (to === "active") return { changed: true, event: "agent_resumed" };
  if (to === "archived") return { changed: true, event: null };
  if (from === "archived") throw new Problem("agent_archived", "The agent is archived");
  return { changed: true, event: "agent_paused" };
}

/** Whose an agent is and who sees it. */
export interface Ownership {
  readonly tenant: string;
  readonly scope: AgentScope;
  /** Where a global agent came from and returns to; null for one that belongs to a tenant. */
  readonly origin_tenant: string | null;
}

/** Promotion gives the agent to the platform and remembers the tenant; demotion gives it back. Null: nothing changes. */
export function changeScope(from: Ownership, to: AgentScope): Ownership | null {
  if (from.scope === to) return null;
  if (to === "global") return { tenant: systemTenant, scope: "global", origin_tenant: from.tenant };
  return { tenant: from.origin_tenant ?? systemTenant, scope: "tenant", origin_tenant: null };
}
