/** The keys that this node signs frames with, kept at hand. */
import type { ServiceKey } from "../../../../../actors/edge/frames.ts";
import { lookingTogether } from "../../../../lib/looking-together.ts";
import type { EdgeKeys } from "../../keys/port.ts";

type SigningKey = Awaited<ReturnType<EdgeKeys["held"]>>[number];

export interface HeldKeys {
  /** The newest one that a daemon holds too; null: it holds none of ours. */
  common(kids: readonly string[]): Promise<SigningKey | null>;
  /** All of them, the newest first. */
  all(): readonly ServiceKey[];
}

/** How long a look at the table holds. */
const freshMs = 30_000;
/** Between two looks for keys of unknown ids. */
const lookAgainMs = 1000;

/** @param now any steady clock, ms */
export function heldKeys(keys: Pick<EdgeKeys, "held">, now: () => number): HeldKeys {
  let held: readonly SigningKey[] = [];
  let lookedAt = Number.NEGATIVE_INFINITY;
  const look = lookingTogether(async () => {
    held = await keys.held();
    lookedAt = now();
  }, lookAgainMs);
  const found = (kids: readonly string[]) => held.find(({ kid }) => kids.includes(kid)) ?? null;
  return {
    async common(kids) {
      if (now() - lookedAt > freshMs) await look();
      if (found(kids) === null) await look();
      return found(kids);
    },
    all: () => held.map(({ kid, publicKey }) => ({ kid, public_key: publicKey })),
  };
}
