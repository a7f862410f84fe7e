/** Sealing and opening with the master keys of a node. */
import { Problem } from "../../../actors/kernel/problem.ts";
import type { Incidents } from "../incidents/incidents.ts";
import { type MasterKey, openText, prefixOf, sealText, type Unopened } from "./envelope.ts";
import type { SealedPlace, Sealer } from "./port.ts";

export interface SealerOptions {
  readonly current: MasterKey;
  /** Opens and seals nothing; null outside a rotation. */
  readonly previous: MasterKey | null;
  readonly incidents: Pick<Incidents, "report">;
}

export function createSealer({ current, previous, incidents }: SealerOptions): Sealer {
  const earlier = previous === null || previous.id === current.id ? null : previous;
  const masters = earlier === null ? [current] : [current, earlier];
  const outdatedPrefix = earlier === null ? null : prefixOf(earlier);

  function reportUnopened({ tenant, record, version }: SealedPlace, why: Unopened): void {
    incidents.report({
      category: "decryption_failed",
      tenant,
      agentId: null,
      executionId: null,
      sessionId: null,
      toolName: null,
      violationType: why,
      details: { record, version },
    });
  }

  return {
    outdatedPrefix,
    seal: (place, plain) => sealText(current, place, plain),
    open(place, sealed) {
      const opened = openText(masters, place, sealed);
      if ("plain" in opened) return opened.plain;
      reportUnopened(place, opened.why);
      throw new Problem("decryption_failed", "What is stored encrypted cannot be opened");
    },
    isOutdated: (sealed) => outdatedPrefix !== null && sealed.startsWith(outdatedPrefix),
  };
}
