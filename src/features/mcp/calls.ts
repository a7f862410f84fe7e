/** Calls of tools by callers of the tool server: made as those of a session without an execution. */
import { starterOf } from "../../../actors/identity/starter.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { rateUserOf } from "../../../actors/policy/rates/limits.ts";
import { contextByIdentity } from "../../../actors/policy/security/system.ts";
import type { Tenants } from "../../identity/tenants/tenants.ts";
import type { AskPeople, Call, CallPolicy, CallWho, Invoked, Pipeline } from "../pipeline/port.ts";
import type { Attempts } from "../seal/port.ts";
import type { ContextReader } from "../security-contexts/port.ts";
import type { RegisteredTool } from "../tools/port.ts";
import type { FaceCaller } from "./caller.ts";

/** What a call came to; one that waits for a person names its approval. */
export type Answered =
  | Exclude<Invoked, { readonly is: "waiting" }>
  | (Extract<Invoked, { readonly is: "waiting" }> & { readonly invocation_id: string });

type Refused = Extract<Answered, { readonly is: "refused" }>;

export interface ToolCallsOptions {
  readonly pipeline: Pick<Pipeline, "invoke" | "effective">;
  readonly contexts: Pick<ContextReader, "exists" | "mayUse">;
  readonly attempts: Attempts;
  readonly tenants: Pick<Tenants, "find">;
  readonly askPeople: AskPeople;
  readonly newId: () => string;
}

/** A call as it is asked for. */
export interface Wanted {
  /** As the service names the tool. */
  readonly tool: string;
  readonly given: { readonly [member: string]: Json };
  /** A UUID; the same when the call is made again. */
  readonly key: string;
  readonly signal: AbortSignal;
}

export type ToolCalls = ReturnType<typeof createToolCalls>;

/** What rates, concurrency and pending calls of a caller are counted by. */
export const principalOf = ({ identity }: Pick<FaceCaller, "identity">): string =>
  `${identity.realm}/${identity.userId}`;

export function createToolCalls(options: ToolCallsOptions) {
  const { pipeline, contexts, attempts, tenants, askPeople, newId } = options;

  /** @throws Problem 404 `security_context_not_found`, 403 `security_context_forbidden` */
  async function policyOf({ identity, tenant, context: named }: FaceCaller): Promise<CallPolicy> {
    const tier = (await tenants.find(tenant))?.standing.tier ?? "free";
    const context = named ?? contextByIdentity(identity, tier);
    if (!(await contexts.exists(tenant, context))) {
      throw new Problem("security_context_not_found", "There is no such security context");
    }
    if (!(await contexts.mayUse(tenant, context, identity, tier))) {
      throw new Problem("security_context_forbidden", `The caller may not use the security context ${context}`);
    }
    return { context, ceilings: [], tools: null, patterns: null };
  }

  const whoOf = (caller: FaceCaller): CallWho => ({
    execution: null,
    sessionId: null,
    principal: principalOf(caller),
    starter: starterOf(caller.identity),
    opener: caller.identity,
    user: rateUserOf(caller.identity),
  });

  async function attempt(caller: FaceCaller, tool: string, context: string): Promise<Refused | null> {
    const seconds = await attempts.take(caller.tenant, principalOf(caller));
    return seconds === null ? null : tooManyAttempts(tool, context, seconds);
  }

  return {
    /** Counts a request of a call that was made already. @returns the refusal of more than a caller may try */
    attempt: async (caller: FaceCaller, tool: string): Promise<Refused | null> =>
      attempt(caller, tool, caller.context ?? ""),

    /**
     * The tools of the service that the caller's context leaves, by name.
     * @throws Problem for a context that is not there, or not for this caller
     */
    async offered(caller: FaceCaller): Promise<readonly RegisteredTool[]> {
      const tools = await pipeline.effective(caller.tenant, whoOf(caller), await policyOf(caller));
      return tools.filter(({ source }) => source === "management");
    },

    /** @throws Problem as `offered`, and 503 when the call could not be begun */
    async call(caller: FaceCaller, { tool, given, key, signal }: Wanted): Promise<Answered> {
      const policy = await policyOf(caller);
      const who = whoOf(caller);
      const refused = await attempt(caller, tool, policy.context);
      if (refused !== null) return refused;
      const { tenant, requestId } = caller;
      const invocationId = newId();
      const call: Call = {
        ...{ tenant, entry: "mcp", tool, arguments: given, idempotencyKey: key, invocationId },
        ...{ who, policy, requestId, signal },
      };
      const invoked = await pipeline.invoke(call, askPeople);
      return invoked.is === "waiting" ? { ...invoked, invocation_id: invocationId } : invoked;
    },
  };
}

/** More calls than a session may try. Nothing is put on record. */
function tooManyAttempts(tool: string, context: string, seconds: number): Refused {
  return {
    is: "refused",
    error_code: 2005,
    code: "rate_limited",
    violation_type: "rate_limit_exceeded",
    message: `More calls were tried than a caller may; the next one in ${seconds} s`,
    details: {
      tool,
      violation_type: "rate_limit_exceeded",
      security_context: context,
      attempted: tool,
      limit_source: "session",
      retry_after_seconds: seconds,
    },
  };
}
