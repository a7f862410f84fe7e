/** The activities of calls that wait for people: what they are shown. */
import { redactedArguments } from "../../../../../actors/approval/redaction.ts";
import { callGather } from "../../../../../actors/execution/activities.ts";
import { LoopEntry } from "../../../../../actors/execution/messages.ts";
import { defineLog } from "../../../../../actors/kernel/effect.ts";
import type { Json } from "../../../../../actors/kernel/json.ts";
import { sha256Hex } from "../../../../lib/digest.ts";
import { type Activity, implement, type Runtime, Terminal } from "../../../../runtime/port.ts";
import type { Approvals } from "../../../approvals/port.ts";
import { argumentsOf, readLog } from "./loop-activities.ts";

export interface CallActivityOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly approvals: Pick<Approvals, "waitingCalls">;
  /** Whether this node sends mail. */
  readonly mails: boolean;
}

/** Calls of one execution that wait at once, however they came; the loop counts its own besides. */
const mostOfExecution = 8;
const mostOfTenant = 1_000;

export function callGatherActivity({ runtime, approvals, mails }: CallActivityOptions): Activity {
  return implement(
    callGather,
    { concurrency: 64, retry: { attempts: 5, firstDelayMs: 200 } },
    async ({ log, seq, call_id, edited }, { actor }) => {
      const [[asked], [changed], waiting] = await Promise.all([
        readLog(runtime, actor, defineLog(log, LoopEntry), seq, seq),
        edited === undefined ? [] : readLog(runtime, actor, defineLog(log, LoopEntry), edited, edited),
        approvals.waitingCalls(actor.tenant, actor.key, mostOfTenant),
      ]);
      const entry = asked?.entry ?? null;
      if (entry?.entry !== "message") throw new Terminal("internal_error", "The call is not in the log");
      const given = argumentsOf(changed?.entry ?? entry, call_id) as { readonly [name: string]: Json };
      const { content } = entry.message;
      const full = fullOf(waiting);
      return {
        arguments: {
          given: { ...given },
          redacted: redactedArguments(given),
          sha256: sha256Hex(JSON.stringify(given)),
        },
        model_reason: content.trim() === "" ? null : content,
        full,
        mails,
      };
    },
  );
}

function fullOf(waiting: { readonly execution: number; readonly tenant: number }): "execution" | "tenant" | null {
  if (waiting.execution >= mostOfExecution) return "execution";
  return waiting.tenant >= mostOfTenant ? "tenant" : null;
}
