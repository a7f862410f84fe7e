/** The activities of output handlers: calling a webhook, and reading the accepted output back. */

import { outputHandle, outputRecall } from "../../../../actors/execution/activities.ts";
import { execution } from "../../../../actors/execution/execution.ts";
import type { GuardedOptions } from "../../../adapters/egress/port.ts";
import { type Activity, implement, type Runtime, Terminal } from "../../../runtime/port.ts";
import { type Incidents, reportRefusedCall } from "../../incidents/port.ts";
import type { Plans } from "../plans.ts";
import { handlerText, networkOf, outputOf } from "./output.ts";
import { callWebhook, mostAttempts } from "./webhook-call.ts";

export interface HandlerOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly plans: Plans;
  readonly outside: GuardedOptions;
  readonly incidents: Pick<Incidents, "report">;
  /** Pause before the second attempt; it doubles. */
  readonly firstDelayMs?: number;
}

export function outputHandleActivity(options: HandlerOptions): Activity {
  const { runtime, plans, outside, incidents, firstDelayMs } = options;
  return implement(
    outputHandle,
    {
      // Waiting for an outside server costs a node next to nothing.
      concurrency: 128,
      retry: { attempts: mostAttempts, firstDelayMs: 200 },
    },
    async (_, context) => {
      const { actor } = context;
      const state = await runtime.of(execution).at(actor.tenant, actor.key).read();
      if (state === null) throw new Terminal("execution_not_found", "The execution was removed");
      const plan = await plans.of(actor);
      const handler = plan.output_handler;
      if (handler?.type !== "webhook") throw new Terminal("webhook_failed", "No webhook handles the output");
      const { header, iteration } = state;
      const output = await outputOf(runtime, actor);
      const run = { executionId: actor.key, header, plan, iteration: iteration.number, output };
      const body = handler.body_template === null ? output : handlerText(handler.body_template, run);
      const { url, method, headers, timeout_ms: timeoutMs, max_attempts: maxAttempts } = handler;
      const network = networkOf(plan);
      const request = { url, method, headers, body, network, timeoutMs, maxAttempts, firstDelayMs };
      const caller = { tenant: actor.tenant, agentId: header.agent_id, executionId: actor.key };
      const answer = await callWebhook(request, context, outside, (error) =>
        reportRefusedCall(incidents, caller, error),
      );
      // An empty answer leaves the output as it was.
      return answer.output === "" ? { output, truncated: false } : { ...answer };
    },
  );
}

export function outputRecallActivity(runtime: Pick<Runtime, "of">): Activity {
  return implement(
    outputRecall,
    {
      concurrency: 32,
      retry: { attempts: 10, firstDelayMs: 200 },
    },
    async (_, { actor }) => ({ output: await outputOf(runtime, actor) }),
  );
}
