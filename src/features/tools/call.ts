/** A call of a tool, by whichever way it comes: who asks, and what binds the call besides the tenant's own rules. */
import type { ToolGrant } from "../../../actors/agent/manifest/spec.ts";
import type { Identity } from "../../../actors/identity/identity.ts";
import type { Starter } from "../../../actors/identity/starter.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import type { RateUser } from "../../../actors/policy/rates/limits.ts";
import type { CallingRun } from "../../../actors/tool/calling-run.ts";

/** The way a call comes: a signed envelope, an agent's loop, the service's own MCP endpoint, a state of a workflow. */
export type CallEntry = "seal" | "dispatch" | "mcp" | "workflow";

export interface CallWho {
  /** Null for a caller that is no execution. */
  readonly execution: {
    readonly id: string;
    readonly iteration: number;
    readonly agentId: string;
    readonly agentName: string;
    /** Of the workflow that the execution belongs to; absent: of none, or not known here. */
    readonly workflowName?: string | null;
    /** Unix ms; null: nothing bounds it. */
    readonly deadlineAt: number | null;
  } | null;
  /** The workflow run whose state calls; absent: none does. */
  readonly run?: CallingRun;
  readonly sessionId: string | null;
  /** What rates and concurrency are counted by: the id of the execution or of the workflow run, or `<realm>/<sub>` of a caller without one. */
  readonly principal: string;
  /** For whom management tools act: of an execution its starter, else the caller; null: there are no such tools. */
  readonly starter: Starter | null;
  /** Who opened the session, where a person or machine did: management tools need the permission of both. */
  readonly opener: Identity | null;
  /** Whose limits the call counts in beside the tenant's. */
  readonly user: RateUser | null;
}

export interface CallPolicy {
  /** Name of the security context. */
  readonly context: string;
  /** Names of the contexts of what started it, which bind as well. */
  readonly ceilings: readonly string[];
  /** What the manifest opens; null: what the tenant sees. */
  readonly tools: readonly ToolGrant[] | null;
  /** What the session was narrowed to; null: nothing narrows it. */
  readonly patterns: readonly string[] | null;
}

/** What the governing capabilities leave to a call. */
export interface CallBounds {
  readonly maxTimeoutSecs: number;
  readonly maxResponseBytes: number;
  /** Allowlists of paths; each of them has to cover a path. */
  readonly pathRules: readonly (readonly string[])[];
  /** Allowlists of hosts, likewise, for every redirect. */
  readonly domainRules: readonly (readonly string[])[];
}

export interface Call {
  readonly tenant: string;
  readonly entry: CallEntry;
  /** As the caller wrote it, under either prefix. */
  readonly tool: string;
  readonly arguments: { readonly [member: string]: Json };
  /** A UUID; the same on every attempt. */
  readonly idempotencyKey: string;
  readonly invocationId: string;
  readonly who: CallWho;
  readonly policy: CallPolicy;
  readonly requestId: string | null;
  /** Told just before the tool runs, which it then does; what it throws keeps it from running. */
  readonly begins?: () => Promise<void>;
  readonly signal: AbortSignal;
}
