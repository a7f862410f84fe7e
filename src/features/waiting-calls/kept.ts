/** A call as it is kept while people decide, and as it is made when they have. */
import { starterOf } from "../../../actors/identity/starter.ts";
import type { KeptCall } from "../../../actors/tool-call/messages.ts";
import type { Starters } from "../../identity/callers/starters.ts";
import type { Call } from "../pipeline/port.ts";

export function keptCall(
  { entry, tool, idempotencyKey, who, policy, requestId }: Call,
  given: Call["arguments"],
): KeptCall {
  const { execution, run, sessionId, principal, starter, opener, user } = who;
  const { context, ceilings, tools, patterns } = policy;
  return {
    ...{ entry, tool, arguments: { ...given }, idempotency_key: idempotencyKey, request_id: requestId },
    execution:
      execution === null
        ? null
        : {
            id: execution.id,
            iteration: execution.iteration,
            agent_id: execution.agentId,
            agent_name: execution.agentName,
            deadline_at: execution.deadlineAt,
          },
    ...{ session_id: sessionId, principal, starter, user, context },
    opener: opener === null ? null : starterOf(opener),
    ceilings: [...ceilings],
    grants: tools === null ? null : [...tools],
    patterns: patterns === null ? null : [...patterns],
    ...(run === undefined ? {} : { run }),
  };
}

/**
 * The call as it is made now. Who opened its session acts with what that identity still holds; one that holds nothing any
 * more leaves the call without anyone to act for.
 */
export async function madeAgain(
  kept: KeptCall,
  place: { readonly tenant: string; readonly invocationId: string; readonly signal: AbortSignal },
  starters: Pick<Starters, "identityOf">,
): Promise<Call> {
  const { entry, tool, arguments: given, idempotency_key, request_id, execution, session_id, principal } = kept;
  const opener = kept.opener === null ? null : await starters.identityOf(kept.opener, place.tenant);
  const isGone = kept.opener !== null && opener === null;
  return {
    ...place,
    ...{ entry, tool, arguments: given, idempotencyKey: idempotency_key, requestId: request_id },
    who: {
      execution:
        execution === null
          ? null
          : {
              id: execution.id,
              iteration: execution.iteration,
              agentId: execution.agent_id,
              agentName: execution.agent_name,
              deadlineAt: execution.deadline_at,
            },
      ...(kept.run === undefined ? {} : { run: kept.run }),
      ...{ sessionId: session_id, principal, opener, user: kept.user },
      starter: isGone ? null : kept.starter,
    },
    policy: { context: kept.context, ceilings: kept.ceilings, tools: kept.grants, patterns: kept.patterns },
  };
}
