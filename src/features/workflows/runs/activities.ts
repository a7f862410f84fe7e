/** The activities of a run that need no command: output handlers over HTTP, and the removal of its volumes. */
import type { NetworkSpec } from "../../../../actors/agent/manifest/spec.ts";
import { cleanup, webhookCall } from "../../../../actors/workflow/run/activities.ts";
import type { GuardedOptions } from "../../../adapters/egress/port.ts";
import type { Activity, Address } from "../../../runtime/port.ts";
import { implement } from "../../../runtime/port.ts";
import { callWebhook, mostAttempts } from "../../executions/port.ts";
import { type Incidents, reportRefusedCall } from "../../incidents/port.ts";
import type { Volumes } from "../../volumes/port.ts";

export interface WebhookOptions {
  readonly outside: GuardedOptions;
  readonly incidents: Pick<Incidents, "report">;
  /** The run that an actor stands for; absent: each for itself. */
  readonly runIdOf?: (actor: Address) => Promise<string>;
  /** Pause before the second attempt; it doubles. 1000 when absent. */
  readonly firstDelayMs?: number;
}

/** The activity `workflow.webhook`: calls the output handler of a state. */
export function webhookActivity({ outside, incidents, firstDelayMs, runIdOf }: WebhookOptions): Activity {
  return implement(
    webhookCall,
    {
      // Waiting for an outside server costs a node next to nothing.
      concurrency: 128,
      retry: { attempts: mostAttempts, firstDelayMs: 200 },
    },
    async ({ url, listed = [], method, headers, body, timeout_ms, max_attempts }, context) => {
      const network: NetworkSpec = { mode: "deny", allowlist: listed, denylist: [] };
      const bounds = { timeoutMs: timeout_ms, maxAttempts: max_attempts, firstDelayMs };
      const request = { url, method, headers, body, network, ...bounds };
      const { tenant, key } = context.actor;
      const executionId = (await runIdOf?.(context.actor)) ?? key;
      const answer = await callWebhook(request, context, outside, (error) =>
        reportRefusedCall(incidents, { tenant, agentId: null, executionId }, error),
      );
      return { ...answer };
    },
  );
}

/** The activity `workflow.cleanup`: ephemeral volumes go with their run. */
export function cleanupActivity(volumes: Pick<Volumes, "removeOfRun">): Activity {
  return implement(
    cleanup,
    {
      concurrency: 8,
      retry: { attempts: 10, firstDelayMs: 1000 },
      // Volumes lie on the machine that the run's work was done on; the sweep of other hosts removes what lies there.
      hostBound: true,
    },
    async ({ execution_id, volume_ids }) => {
      await volumes.removeOfRun(execution_id, volume_ids);
      return null;
    },
  );
}
