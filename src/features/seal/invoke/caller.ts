/** Who calls by a session, and by which rules. */
import { execution } from "../../../../actors/execution/execution.ts";
import { rateUserIn } from "../../../../actors/policy/rates/counted.ts";
import type { Starters } from "../../../identity/callers/starters.ts";
import type { Runtime } from "../../../runtime/port.ts";
import type { Plans } from "../../executions/port.ts";
import type { CallPolicy, CallWho } from "../../tools/port.ts";
import type { Session } from "./session.ts";

export interface SealCaller {
  readonly who: CallWho;
  readonly policy: CallPolicy;
}

export interface CallersOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Pick<Plans, "of">;
  readonly starters: Pick<Starters, "identityOf">;
}

/** What of a caller never changes while the session lasts. */
type Settled = Pick<CallWho, "execution" | "starter" | "user"> & Pick<CallPolicy, "ceilings" | "tools">;

/** @throws Problem 503 while the records cannot be read */
export function createCallers({ runtime, plans, starters }: CallersOptions) {
  /** With the session, which is let go of when it has ended. */
  const known = new WeakMap<Session, Promise<Settled>>();

  async function settle(session: Session): Promise<Settled> {
    const { tenant, executionId: id, agentId, opener, detached } = session;
    if (detached) {
      const user = opener === null ? null : { realm: opener.realm, userId: opener.sub };
      return { execution: null, starter: opener, user, ceilings: [], tools: null };
    }
    const address = { kind: execution.kind, key: id, tenant };
    const [state, plan] = await Promise.all([runtime.of(execution).at(tenant, id).read(), plans.of(address)]);
    const { calls, tools } = plan;
    return {
      execution: {
        ...{ id, agentId },
        agentName: state?.header.agent_name ?? "",
        workflowName: state?.header.workflow_name ?? null,
        iteration: session.iteration ?? state?.iteration.number ?? 1,
        deadlineAt: null,
      },
      starter: state?.header.starter ?? null,
      user: rateUserIn(state?.header ?? {}),
      ceilings: state?.header.context_ceilings ?? [],
      tools: calls?.grants ?? tools.map(({ name }) => ({ name, skip_judge: false })),
    };
  }

  function settled(session: Session): Promise<Settled> {
    const remembered = known.get(session);
    if (remembered !== undefined) return remembered;
    const settling = settle(session);
    known.set(session, settling);
    // The next call reads anew.
    settling.catch(() => known.delete(session));
    return settling;
  }

  return async (session: Session): Promise<SealCaller> => {
    const { context, patterns, principal, opener, tenant, detached } = session;
    const { execution, starter, user, ceilings, tools } = await settled(session);
    // Who opened the session lends it no more than they may still do themself.
    const opening = opener === null ? null : await starters.identityOf(opener, tenant);
    const isLost = opener !== null && opening === null;
    return {
      who: {
        execution,
        sessionId: session.id,
        principal,
        starter: isLost ? null : starter,
        opener: detached ? null : opening,
        user,
      },
      policy: { context, ceilings, tools, patterns },
    };
  };
}
