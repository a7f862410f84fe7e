/** The activity `workflow.webhook`: calls the output handler of a state. */
import { webhookCall } from "../../../../actors/workflow/run/activities.ts";
import type { GuardedOptions } from "../../../adapters/egress/port.ts";
import type { Activity } from "../../../runtime/port.ts";
import { implement } from "../../../runtime/port.ts";
import { callWebhook, mostAttempts } from "../../executions/port.ts";

export interface WebhookOptions {
  readonly outside: GuardedOptions;
  /** Pause before the second attempt; it doubles. 1000 when absent. */
  readonly firstDelayMs?: number;
}

export function webhookActivity({ outside, firstDelayMs }: WebhookOptions): Activity {
  return implement(
    webhookCall,
    {
      // Waiting for an outside server costs a node next to nothing.
      concurrency: 128,
      retry: { attempts: mostAttempts, firstDelayMs: 200 },
    },
    async ({ url, method, headers, body, timeout_ms, max_attempts }, context) => {
      const request = { url, method, headers, body, timeoutMs: timeout_ms, maxAttempts: max_attempts, firstDelayMs };
      return { ...(await callWebhook(request, context, outside)) };
    },
  );
}
