/** The activity `workflow.webhook`: calls the output handler of a state. */
import { Value } from "@sinclair/typebox/value";
import { WEBHOOK, WebhookCall } from "../../../../actors/workflow/run/activities.ts";
import type { GuardedOptions } from "../../../adapters/egress/port.ts";
import type { ActivityDefinition } from "../../../runtime/port.ts";
import { callWebhook, mostAttempts } from "../../executions/output/webhook-call.ts";

export interface WebhookOptions {
  readonly outside: GuardedOptions;
  /** Pause before the second attempt; it doubles. 1000 when absent. */
  readonly firstDelayMs?: number;
}

export function webhookActivity({ outside, firstDelayMs }: WebhookOptions): ActivityDefinition {
  return {
    name: WEBHOOK,
    // Waiting for somebody else's server costs a node next to nothing.
    concurrency: 128,
    retry: { attempts: mostAttempts, firstDelayMs: 200 },
    run: async (input, context) => {
      const { url, method, headers, body, timeout_ms, max_attempts } = Value.Parse(WebhookCall, input);
      const request = { url, method, headers, body, timeoutMs: timeout_ms, maxAttempts: max_attempts, firstDelayMs };
      return { ...(await callWebhook(request, context, outside)) };
    },
  };
}
