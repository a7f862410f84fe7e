/** A start of an execution as a request of the API asks for it. */

import type { Plan, Warning } from "../../../../actors/execution/start/plan.ts";
import type { StartOrigin, StartRequest } from "../../../../actors/execution/start/request.ts";
import { type ExecutionState, isOver } from "../../../../actors/execution/state.ts";
import type { Identity } from "../../../../actors/identity/identity.ts";
import { starterOf } from "../../../../actors/identity/starter.ts";
import type { Json } from "../../../../actors/kernel/json.ts";
import { invalidAt, invalidField, Problem } from "../../../../actors/kernel/problem.ts";
import { isStorable, isStorableJson, unusableText } from "../../../../actors/manifest/storable.ts";
import { rateUserOf } from "../../../../actors/policy/rates/limits.ts";
import { isUuid, type OpenCall } from "../../../http/route.ts";
import { maxOverridesBytes, type RetryBody, type StartBody, type StartQuery } from "../schema.ts";

/** Characters; as in manifests. */
const maxLabelKey = 63;

/** Who asks, and what of the request had no effect. */
type Caller = Pick<OpenCall<unknown, unknown, unknown>, "warnings"> & {
  readonly tenant: string;
  readonly identity: Identity;
};

/** A start that a caller of the API asks for. */
function apiOrigin(identity: Identity): StartOrigin {
  return {
    trigger: "api",
    parent: null,
    workflow: null,
    initiatingUserSub: identity.userId,
    initiatingRealm: identity.realm,
    exempt: false,
  };
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
export function readStart(call: Caller, agentId: string, body: StartBody, query: StartQuery): StartRequest {
  const { input, intent = null, context_overrides = null, labels = {} } = body;
  if (input === undefined || input === null) throw invalidField("input", "is required");
  if (intent !== null && !isStorable(intent)) throw invalidAt("validation_failed", "intent", unusableText);
  checkLabels(labels);
  checkOverrides(context_overrides);
  return {
    tenant: call.tenant,
    origin: apiOrigin(call.identity),
    starter: call.identity,
    startedBy: starterOf(call.identity),
    countedFor: rateUserOf(call.identity),
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
    warnings: withoutEffect(call.warnings),
  };
}

/**
 * A start that repeats an execution which has ended, as the caller's own: without a parent, a workflow or the volumes of a
 * run, by the version that ran unless another is named.
 * @throws Problem 409 `invalid_state` while it has not ended; 422 `validation_failed`
 */
export function readRetry(
  call: Caller,
  earlier: { readonly id: string; readonly state: ExecutionState; readonly plan: Plan },
  { input, version: named }: RetryBody,
  { version = named }: StartQuery,
): StartRequest {
  const { id, plan } = earlier;
  const { header, status } = earlier.state;
  if (!isOver(earlier.state)) throw new Problem("invalid_state", "The execution has not ended", { status });
  if (input === null) throw invalidField("input", "may not be null");
  const { timeout_seconds, max_iterations, max_tokens, security_context } = plan.asked;
  return {
    tenant: call.tenant,
    origin: apiOrigin(call.identity),
    starter: call.identity,
    startedBy: starterOf(call.identity),
    countedFor: rateUserOf(call.identity),
    agentId: header.agent_id,
    // Attachments are folded into the stored input already; folding the same ones again changes nothing.
    input: input ?? plan.input,
    intent: header.intent,
    version: version ?? header.agent_version,
    contextOverrides: plan.context_overrides,
    attachments: plan.attachments.map((attachment) => ({ ...attachment })),
    securityContext: security_context,
    timeoutSeconds: timeout_seconds,
    maxIterations: max_iterations,
    maxTokens: max_tokens,
    labels: header.labels,
    retryOf: id,
    warnings: withoutEffect(call.warnings),
  };
}

/** The record has each code once. */
function withoutEffect(warnings: Caller["warnings"]): Warning[] {
  const codes = [...new Set(warnings.map(({ code }) => code))];
  return codes.map((code) => {
    const found = warnings.filter((one) => one.code === code).map(({ path, message }) => `${path}: ${message}`);
    return { code, message: found.join("; ").toWellFormed().replaceAll("\0", "") };
  });
}

function checkLabels(labels: Readonly<Record<string, string>>): void {
  const pairs = Object.entries(labels);
  if (pairs.some(([key]) => key.length > maxLabelKey)) {
    throw invalidAt("validation_failed", "labels", `keys may have at most ${maxLabelKey} characters`);
  }
  if (pairs.some(([key, value]) => key === "" || !isStorable(key) || !isStorable(value))) {
    throw invalidAt("validation_failed", "labels", "keys may not be empty; no NUL or broken Unicode");
  }
}

function checkOverrides(overrides: Json): void {
  if (overrides === null) return;
  if (Buffer.byteLength(JSON.stringify(overrides)) > maxOverridesBytes) {
    throw invalidAt("validation_failed", "context_overrides", `is larger than ${maxOverridesBytes} bytes`);
  }
  if (!isStorableJson(overrides)) throw invalidAt("validation_failed", "context_overrides", unusableText);
}
