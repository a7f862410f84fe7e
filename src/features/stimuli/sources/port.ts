/** Where stimuli come from, as the intake and routing see it. Answers are at most 3 s old. */
import type { Starter } from "../../../../actors/identity/starter.ts";
import type { Problem } from "../../../../actors/kernel/problem.ts";
import type { Acknowledge } from "../../../../actors/stimulus/stimulus.ts";

export const presetNames = ["svc", "github", "stripe", "slack", "standard_webhooks"] as const;
export type PresetName = (typeof presetNames)[number];

/** The configuration of one source in one tenant (docs/reference/stimuli.md). */
export interface StimulusSource {
  readonly id: string;
  readonly tenant: string;
  /** Lower case. */
  readonly source: string;
  /** Name or UUID; null: the tenant's router decides. */
  readonly workflow: string | null;
  readonly workflowVersion: string | null;
  readonly enabled: boolean;
  readonly preset: PresetName;
  readonly toleranceSeconds: number;
  /** Whether equal signed bytes are a repeat under any key; null: as its preset has it. */
  readonly replayGuard: boolean | null;
  /** Deliveries without a signed time are refused. */
  readonly requireTimestamp: boolean;
  readonly acknowledge: Acknowledge;
  readonly idempotencyFallback: "none" | "body_sha256";
  /** The provider's events that start something; empty: all. */
  readonly events: readonly string[];
  /** An expression over `payload` and `headers`: what it does not hold for starts nothing; null: all does. */
  readonly match: string | null;
  /** Stimuli of this source let through a minute, beside the tenant's own rate; null: no such limit. */
  readonly ratePerMinute: number | null;
  /** Lower case; `*` = all that may be forwarded at all. */
  readonly forwardHeaders: readonly string[];
  /** For whom the runs of its webhooks act; null: a former version made it. */
  readonly creator?: Starter | null;
}

/** A tenant whose secrets may verify a delivery to a source. */
export interface Candidate {
  readonly tenant: string;
  readonly source: string;
  /** Null: bound by an environment variable alone. */
  readonly registered: StimulusSource | null;
  readonly preset: PresetName;
  readonly toleranceSeconds: number;
  readonly requireTimestamp: boolean;
  /** Key bytes of the current and of previous secrets; empty: there is none. Never logged. */
  readonly secrets: readonly Uint8Array[];
  /** Why there is none although one is stored: 500 `decryption_failed`; why one is missing: 503 `secrets_unavailable`. */
  readonly fault?: Problem;
}

/** The agent that picks a workflow (docs/reference/stimuli.md). */
export interface Router {
  readonly tenant: string;
  /** One that is no agent's where the router was configured before there was such an agent, and there is none yet. */
  readonly agentId: string;
  readonly confidenceThreshold: number;
  readonly timeoutSeconds: number;
  /** Names or UUIDs as they were given; null: all of the tenant's own workflows. */
  readonly allowedWorkflows: readonly string[] | null;
}

/** Why a source passed a message over. */
export interface IgnoredMessage {
  /** `event`: it is none of `events`; `match`: the expression does not hold; `match_failed`: it could not be evaluated. */
  readonly reason: "event" | "match" | "match_failed";
  /** As the provider calls it; null: the message does not say, or the preset has no such names. */
  readonly event: string | null;
}

export interface Sources {
  /** Candidates of a bare URL: the oldest 20 sources of that name and the tenants bound by a variable. */
  candidates(source: string): Promise<readonly Candidate[]>;
  /** The one candidate of a source's own URL; null: there is no such pair. */
  candidate(source: string, sourceId: string): Promise<Candidate | null>;
  sourceOf(tenant: string, source: string): Promise<StimulusSource | null>;
  routerOf(tenant: string): Promise<Router | null>;
  /** Notes that a stimulus of the source was stored; written down now and then. */
  received(source: Pick<StimulusSource, "tenant" | "id">, at: number): void;
  /** Notes that the source passed a message over; written down now and then. @param at Unix milliseconds */
  ignored(source: Pick<StimulusSource, "tenant" | "id">, what: IgnoredMessage, at: number): void;
}
