/**
 * How much a node holds of contents that are being verified or routed: a slow router costs its tenant's share, and not the
 * node's memory.
 */

import { unavailable } from "./acceptance.ts";
import type { Intake } from "./intake.ts";

/** Bytes of all contents together, and of one tenant's. */
const mostBytes = 256 * 1_048_576;
const mostOfOne = 64 * 1_048_576;
/** A content of so few bytes is always let through. */
const smallBytes = 16_384;

export interface BodyBudget {
  /**
   * Sets bytes aside for a content.
   * @returns gives them back
   * @throws Problem 503 `stimulus_service_unavailable` where there is no room
   */
  hold(owner: string, bytes: number): () => void;
}

export function createBodyBudget(most = mostBytes, ofOne = mostOfOne, small = smallBytes): BodyBudget {
  const held = new Map<string, number>();
  let total = 0;
  return {
    hold(owner, bytes) {
      if (bytes <= small) return () => {};
      const before = held.get(owner) ?? 0;
      if (total + bytes > most || before + bytes > ofOne) throw unavailable();
      total += bytes;
      held.set(owner, before + bytes);
      return () => {
        total -= bytes;
        const left = (held.get(owner) ?? 0) - bytes;
        if (left > 0) held.set(owner, left);
        else held.delete(owner);
      };
    },
  };
}

/** Holds the contents of each tenant's messages from the moment they are complete until they are answered. */
export function withinBudget(intake: Intake, budget: BodyBudget): Intake {
  return async (arrival, taking) => {
    const release = budget.hold(arrival.tenant, arrival.content.length);
    try {
      return await intake(arrival, taking);
    } finally {
      release();
    }
  };
}
