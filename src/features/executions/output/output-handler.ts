/** The activities of output handlers: calling a webhook, and reading the accepted output back. */
import type { ExecutionState } from "../../../../actors/execution/state.ts";
import type { GuardedOptions } from "../../../adapters/egress/port.ts";
import { type ActivityDefinition, type Runtime, Terminal } from "../../../runtime/port.ts";
import type { Plans } from "../plans.ts";
import { handlerText, outputOf } from "./output.ts";
import { callWebhook, mostAttempts } from "./webhook-call.ts";

export interface HandlerOptions {
  readonly runtime: Pick<Runtime, "read" | "log">;
  readonly plans: Plans;
  readonly outside: GuardedOptions;
  /** Pause before the second attempt; it doubles. */
  readonly firstDelayMs?: number;
}

export function outputHandleActivity(options: HandlerOptions): ActivityDefinition {
  const { runtime, plans, outside, firstDelayMs } = options;
  return {
    name: "output.handle",
    // Waiting for somebody else's server costs a node next to nothing.
    concurrency: 128,
    retry: { attempts: mostAttempts, firstDelayMs: 200 },
    run: async (_, context) => {
      const { actor } = context;
      const stored = await runtime.read(actor);
      if (!stored) throw new Terminal("execution_not_found", "The execution was removed");
      const plan = await plans.of(actor);
      const handler = plan.output_handler;
      if (handler?.type !== "webhook") throw new Terminal("webhook_failed", "No webhook handles the output");
      // The runtime checked it against the actor's schema when it was written.
      const { header, iteration } = stored.state as unknown as ExecutionState;
      const output = await outputOf(runtime, actor);
      const run = { executionId: actor.key, header, plan, iteration: iteration.number, output };
      const body = handler.body_template === null ? output : handlerText(handler.body_template, run);
      const { url, method, headers, timeout_ms: timeoutMs, max_attempts: maxAttempts } = handler;
      const request = { url, method, headers, body, timeoutMs, maxAttempts, firstDelayMs };
      const answer = await callWebhook(request, context, outside);
      // An empty answer leaves the output as it was.
      return answer.output === "" ? { output, truncated: false } : { ...answer };
    },
  };
}

export function outputRecallActivity(runtime: Pick<Runtime, "log">): ActivityDefinition {
  return {
    name: "output.recall",
    concurrency: 32,
    retry: { attempts: 10, firstDelayMs: 200 },
    run: async (_, { actor }) => ({ output: await outputOf(runtime, actor) }),
  };
}
