/** The activities of calls that wait for people: what they are shown, and who is asked about what was changed. */
import { callGather } from "../../../../../actors/execution/activities.ts";
import { execution } from "../../../../../actors/execution/execution.ts";
import { LoopEntry } from "../../../../../actors/execution/messages.ts";
import { defineLog } from "../../../../../actors/kernel/effect.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import type { Starters } from "../../../../identity/callers/starters.ts";
import { type Activity, implement, Terminal } from "../../../../runtime/port.ts";
import { type Approvals, shownArguments } from "../../../approvals/port.ts";
import { isCleared } from "../../../pipeline/port.ts";
import { argumentsOf, callOfWork, type LoopOptions, readLog } from "./loop-activities.ts";
import { answerOf } from "./loop-policy.ts";

export interface CallActivityOptions extends LoopOptions {
  readonly approvals: Pick<Approvals, "waitingCalls">;
  readonly starters: Pick<Starters, "addressOf">;
  /** Whether this node sends mail. */
  readonly mails: boolean;
}

/** Calls of one execution that wait at once, however they came; the loop counts its own besides. */
const mostOfExecution = 8;
const mostOfTenant = 1_000;

export function callGatherActivity({ approvals, starters, mails, ...options }: CallActivityOptions): Activity {
  const { runtime, pipeline } = options;
  return implement(
    callGather,
    { concurrency: 64, retry: { attempts: 5, firstDelayMs: 200 } },
    async ({ log, seq, call_id, edited, work }, { actor, signal, id }) => {
      const [[asked], [changed], waiting, state] = await Promise.all([
        readLog(runtime, actor, defineLog(log, LoopEntry), seq, seq),
        edited === undefined ? [] : readLog(runtime, actor, defineLog(log, LoopEntry), edited, edited),
        approvals.waitingCalls(actor.tenant, actor.key, mostOfTenant),
        runtime.of(execution).at(actor.tenant, actor.key).read(),
      ]);
      const entry = asked?.entry ?? null;
      if (entry?.entry !== "message") throw new Terminal("internal_error", "The call is not in the log");
      const given = argumentsOf(changed?.entry ?? entry, call_id) as { readonly [name: string]: Json };
      const { content } = entry.message;
      const { starter } = state?.header ?? {};
      const judging = edited === undefined || work === undefined ? {} : { judged: await judgedAnew() };

      /** By its arguments as they are now: whom they concern may be others than those whom the former ones did. */
      async function judgedAnew() {
        if (work === undefined) throw new Error("the call is not known");
        const [one] = await pipeline.clear([await callOfWork(options, work, { actor, signal, id })], true);
        if (one === undefined) throw new Error("the call was not judged");
        return isCleared(one)
          ? { status: "cleared" as const, approvals: [...one.clearance.approvals] }
          : answerOf(one.clearance);
      }
      return {
        arguments: shownArguments(given, null),
        model_reason: content.trim() === "" ? null : content,
        full: fullOf(waiting),
        mails,
        initiator_email: starter === undefined ? null : await starters.addressOf(starter),
        ...judging,
      };
    },
  );
}

function fullOf(waiting: { readonly execution: number; readonly tenant: number }): "execution" | "tenant" | null {
  if (waiting.execution >= mostOfExecution) return "execution";
  return waiting.tenant >= mostOfTenant ? "tenant" : null;
}
