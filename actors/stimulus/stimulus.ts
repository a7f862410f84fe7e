/** A stimulus on its way from its delivery to the run it starts: its shapes, and how that way ends. */
import type { Identity } from "../identity/identity.ts";
import type { Starter } from "../identity/starter.ts";
import type { FailedStatus } from "./statuses.ts";

export type Channel = "api" | "webhook" | "replay";

/** `routed`: the answer waits for the run; `received`: it says only that the stimulus is stored. */
export type Acknowledge = "routed" | "received";

/** Who a stimulus was received from: a caller, or a webhook. */
export interface Receiver {
  readonly kind: Identity["kind"] | "webhook";
  readonly sub: string;
  readonly email: string | null;
  readonly tier: Identity["tier"];
  /** Of a caller, whose subject is one of this realm; null of webhooks, and of what former versions took in. */
  readonly realm: string | null;
}

/** The caller who posts or replays a stimulus. */
export const receiverOf = ({ kind, userId, email, tier, realm }: Identity): Receiver => ({
  kind,
  sub: userId,
  email,
  tier,
  realm,
});

/** A message that was checked and is to be accepted. */
export interface Arrival {
  readonly tenant: string;
  /** Lower case. */
  readonly source: string;
  readonly channel: Channel;
  readonly acknowledge: Acknowledge;
  /** Verbatim, or base64 of bytes that are no text. */
  readonly content: string;
  readonly contentEncoding: "utf-8" | "base64";
  readonly contentType: string | null;
  /** Of the bytes. */
  readonly contentSize: number;
  /** Hex. */
  readonly contentSha256: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly headersTruncated: boolean;
  /** Null: every delivery is a new one. */
  readonly key: string | null;
  /** Hex SHA-256 of the signed bytes, where equal ones are a repeat under any key; null: they may be meant. */
  readonly guard: string | null;
  /** The configured source that it came through; null: none. */
  readonly sourceId: string | null;
  /** Of a replay that names its workflow. */
  readonly override: { readonly workflow: string; readonly version: string | null } | null;
  readonly replayOf: string | null;
  readonly receivedBy: Receiver;
  /** For whom its run acts; null, like none: a webhook, whose source says so. */
  readonly startedBy?: Starter | null;
}

/** An accepted stimulus, as the node that processes it needs it. */
export interface Stimulus extends Arrival {
  readonly id: string;
  readonly executionId: string;
  /** Of an attempt to classify it that was begun; null: none yet. */
  readonly routerExecutionId: string | null;
  /** Attempts begun, this one included: it tells one attempt from another. */
  readonly attempts: number;
  /** Those of them that failed and were told of: not those that an outage or the end of a node cut off. */
  readonly failures: number;
  /** Unix milliseconds. */
  readonly receivedAt: number;
}

export type RoutingMode = "deterministic" | "llm_classified" | "override";

/** The record's `classification_detail`. */
export interface ClassificationDetail {
  readonly routing_mode: RoutingMode;
  readonly workflow_id: string | null;
  readonly workflow_name: string | null;
  readonly confidence: number | null;
  readonly threshold: number | null;
  readonly reasoning: string | null;
  readonly router_agent_id: string | null;
  readonly router_execution_id: string | null;
}

/** Which workflow a stimulus goes to. */
export interface Chosen {
  /** Name or UUID. */
  readonly workflow: string;
  readonly version: string | null;
  /** Without `workflow_id` and `workflow_name`, which the start adds. */
  readonly detail: ClassificationDetail;
}

/** A stimulus that started no run. */
export interface Failure {
  readonly status: FailedStatus;
  /** Stable; also the code of the answer's error. */
  readonly code: string;
  readonly message: string;
  /** Further members of the error body. */
  readonly extras: Readonly<Record<string, unknown>>;
  readonly detail: ClassificationDetail | null;
}

/** The run that a stimulus started. */
export interface StimulusRun {
  readonly workflow_id: string;
  readonly workflow_name: string;
}

/** It started a run; or nothing routed it, and states of runs that waited for it took it. */
export type Classified =
  | { readonly status: "classified"; readonly started: StimulusRun; readonly detail: ClassificationDetail }
  | { readonly status: "classified"; readonly started: null; readonly detail: null };

/** How the processing of a stimulus ended. */
export type Settlement = Classified | Failure;
