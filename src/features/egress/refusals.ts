/** What follows from a refusal: an event of the execution, and a security incident. */

import { LRUCache } from "lru-cache";
import { execution } from "../../../actors/execution/execution.ts";
import type { EgressRefused } from "../../adapters/egress/port.ts";
import type { Masker } from "../../lib/masking/masker.ts";
import { waitAtMost } from "../../lib/timers.ts";
import type { Address, Runtime } from "../../runtime/port.ts";
import type { Incidents } from "../incidents/port.ts";
import type { Subject } from "./admission.ts";

/** Equal refusals of one instance within this time are one event, ms. */
const sameForMs = 10_000;
/** Events of one instance; the incident counts the rest. */
const maxEvents = 100;
/** Instances that are remembered. */
const capacity = 4096;

interface Told {
  count: number;
  readonly at: Map<string, number>;
}

/** How long a client may be kept from its refusal by a mailbox that does not take the event, ms. */
const tellTimeoutMs = 1_000;

/** In place of a host's name while it cannot be known what of it is to be hidden. */
const hiddenHost = "********";

/**
 * @param maskerOf what hides the values that an execution was given: a host's name may be one; null: it was given none
 * @returns a function that resolves once the event is on its way, and never rejects
 */
export function createRefusals(
  runtime: Pick<Runtime, "of">,
  incidents: Pick<Incidents, "report">,
  maskerOf: (execution: Address) => Promise<Masker | null>,
  warn: (error: unknown) => void,
): (subject: Subject, refusal: EgressRefused) => Promise<void> {
  const told = new LRUCache<string, Told>({ max: capacity });

  function isNews(instanceId: string, what: string): boolean {
    let known = told.get(instanceId);
    if (known === undefined) {
      known = { count: 0, at: new Map() };
      told.set(instanceId, known);
    }
    const now = performance.now();
    const last = known.at.get(what);
    if (known.count >= maxEvents || (last !== undefined && now - last < sameForMs)) return false;
    known.count += 1;
    known.at.set(what, now);
    return true;
  }

  async function shown({ executionId: key, tenant, agentId }: Subject, host: string): Promise<string> {
    // What a command of a run is given is known to its attempt alone.
    if (agentId === null) return host;
    try {
      const masker = await maskerOf({ kind: execution.kind, key, tenant });
      return masker === null ? host : masker.mask(host);
    } catch {
      return hiddenHost;
    }
  }

  async function report(subject: Subject, refusal: EgressRefused): Promise<void> {
    const { executionId, tenant, instanceId, agentId } = subject;
    const { port, reason } = refusal;
    const host = await shown(subject, refusal.host);
    incidents.report({
      category: "egress_blocked",
      tenant,
      agentId,
      executionId: subject.of === "further" ? null : executionId,
      sessionId: null,
      toolName: null,
      violationType: reason,
      details: { host, port, reason },
    });
    // The record of a command's run has no such event.
    if (agentId === null) return;
    if (!isNews(instanceId, `${host}:${port} ${reason}`)) return;
    const body = { instance_id: instanceId, host, port, reason };
    await runtime.of(execution).at(tenant, executionId).tell("egress_blocked", body);
  }

  // An agent that ends because of the refusal has the event before its end.
  return (subject, refusal) => waitAtMost(tellTimeoutMs, report(subject, refusal).catch(warn));
}
