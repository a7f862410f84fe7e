/** A start as it is asked for: by a request, by a parent execution, by a schedule. */

import type { AgentRuntimeOverrides } from "../../../../actors/execution/child.ts";
import type { Header, MountPlan } from "../../../../actors/execution/start/plan.ts";
import type { Identity } from "../../../../actors/identity/identity.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { type Issue, invalid, invalidField, Problem, type ProblemCode } from "../../../../actors/kernel/problem.ts";
import { isStorable, isStorableJson } from "../../../../actors/manifest/storable.ts";
import { isUuid } from "../../../http/route.ts";
import { maxOverridesBytes, type StartBody, type StartQuery } from "../schema.ts";

/** Characters; as in manifests. */
const maxLabelKey = 63;

/** Who started it, and where it stands among other executions. */
export interface StartOrigin {
  readonly trigger: Header["trigger"];
  /** The parent's own place, and the swarm the child joins. */
  readonly parent: {
    readonly executionId: string;
    readonly depth: number;
    readonly path: readonly string[];
    readonly swarmId: string | null;
  } | null;
  readonly workflow: { readonly name: string; readonly executionId: string } | null;
  readonly initiatingUserSub: string | null;
  /** Counted, never refused by the concurrency quota (judges, output handlers). */
  readonly exempt: boolean;
}

/** What permissions and quotas need to know of whoever wishes the start. */
export type Starter = Pick<Identity, "kind" | "role" | "tier" | "membership" | "userId">;

/** An agent of the tenant, or a global one that none of the tenant's own shadows. */
export type AgentReference = { readonly agentId: string } | { readonly agentName: string };

/** Everything left out is as if the request had not named it. */
export type StartRequest = AgentReference & {
  readonly tenant: string;
  readonly origin: StartOrigin;
  /** Null: nobody in particular; the tenant's own standing decides. */
  readonly starter: Starter | null;
  readonly input: Json;
  readonly intent?: string | null;
  readonly version?: string | null;
  readonly contextOverrides?: Json;
  readonly attachments?: readonly Json[];
  readonly securityContext?: string | null;
  readonly timeoutSeconds?: number | null;
  readonly maxIterations?: number | null;
  readonly maxTokens?: number | null;
  readonly labels?: Readonly<Record<string, string>>;
  /** Volumes of the run that is to be judged: an agent labelled `judge` sees them read-only at the same paths. */
  readonly judgedMounts?: readonly MountPlan[];
  /** What a workflow's run lays over the agent's manifest; whoever started the run was judged for all of it. */
  readonly overrides?: AgentRuntimeOverrides;
};

/** A start that a caller of the API asks for. */
function apiOrigin(identity: Identity): StartOrigin {
  return { trigger: "api", parent: null, workflow: null, initiatingUserSub: identity.userId, exempt: false };
}

/** The agent's id from a body: a text that is no UUID is told apart from none at all. */
export function agentIdOf(body: StartBody): string {
  const { agent_id } = body;
  if (agent_id === undefined || agent_id === null) throw invalidField("agent_id", "is required");
  if (typeof agent_id !== "string" || !isUuid(agent_id)) throw new Problem("invalid_agent_id", "Invalid agent ID");
  return agent_id.toLowerCase();
}

/**
 * The request of a caller, as far as its shape can be judged without the agent.
 * @throws Problem 422 `validation_failed`
 */
export function readStart(
  call: { readonly tenant: string; readonly identity: Identity },
  agentId: string,
  body: StartBody,
  query: StartQuery,
): StartRequest {
  const { input, intent = null, context_overrides = null, labels = {} } = body;
  if (input === undefined || input === null) throw invalidField("input", "is required");
  if (intent !== null && !isStorable(intent)) throw refused("validation_failed", "intent", unusableText);
  checkLabels(labels);
  checkOverrides(context_overrides);
  return {
    tenant: call.tenant,
    origin: apiOrigin(call.identity),
    starter: call.identity,
    agentId,
    input,
    intent,
    version: query.version ?? body.version ?? null,
    contextOverrides: context_overrides,
    attachments: body.attachments ?? [],
    securityContext: body.security_context ?? body.security_context_name ?? null,
    timeoutSeconds: body.timeout_seconds ?? null,
    maxIterations: body.max_iterations ?? null,
    maxTokens: body.max_tokens ?? null,
    labels,
  };
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  const pairs = Object.entries(labels);
  if (pairs.some(([key]) => key.length > maxLabelKey)) {
    throw refused("validation_failed", "labels", `keys may have at most ${maxLabelKey} characters`);
  }
  if (pairs.some(([key, value]) => key === "" || !isStorable(key) || !isStorable(value))) {
    throw refused("validation_failed", "labels", "keys may not be empty; no NUL or broken Unicode");
  }
}

function checkOverrides(overrides: Json): void {
  if (overrides === null) return;
  if (Buffer.byteLength(JSON.stringify(overrides)) > maxOverridesBytes) {
    throw refused("validation_failed", "context_overrides", `is larger than ${maxOverridesBytes} bytes`);
  }
  if (!isStorableJson(overrides)) throw refused("validation_failed", "context_overrides", unusableText);
}

export const unusableText = "contains a NUL character or broken Unicode";

/** A refusal for one reason at one place. */
export function refused(code: ProblemCode, path: string, message: string): Problem {
  const issue: Issue = { path, message, code: code === "validation_failed" ? "invalid" : code };
  return invalid(code, `${path}: ${message}`, [issue]);
}
