/**
 * What a node knows, and what must be known to take a message, a state or an effect.
 *
 * Nodes of two versions run side by side. What one of them does not know waits for one that does (`parked.ts`), and its
 * partition goes there (`../ownership/shares.ts`).
 */
import type { ActivityDefinition } from "../../../actors/kernel/activity.ts";
import type { AnyActorDefinition } from "../../../actors/kernel/actor.ts";

export interface Knowledge {
  /** By kind of actor. */
  readonly kinds: Readonly<Record<string, { readonly version: number; readonly messages: readonly string[] }>>;
  /** The version of each activity. */
  readonly activities: Readonly<Record<string, number>>;
  /** Names of the effects that the outbox carries. */
  readonly effects: readonly string[];
}

/** Something that a node must know. */
export type Need =
  | readonly ["kind", kind: string]
  /** The message, in the shape that this version of its actor gives it. */
  | readonly ["message", kind: string, type: string, version: number]
  | readonly ["state", kind: string, version: number]
  | readonly ["effect", name: string];

/** The version of a definition that does not state one, and of what nodes stored before there were versions. */
export const firstVersion = 1;

/** The effects that this version's outbox carries. */
export const knownEffects = ["tell", "schedule", "cancel", "reply"] as const;

export const versionOf = (definition: { readonly version?: number }): number => definition.version ?? firstVersion;

export function knowledgeOf(
  actors: readonly AnyActorDefinition[],
  activities: readonly Pick<ActivityDefinition, "name" | "version">[],
): Knowledge {
  const byName = <T>([a]: readonly [string, T], [b]: readonly [string, T]) => (a < b ? -1 : 1);
  const kinds = actors.map((actor) => {
    const messages = Object.keys(actor.messages).sort();
    return [actor.kind, { version: versionOf(actor), messages }] as const;
  });
  return {
    kinds: Object.fromEntries(kinds.sort(byName)),
    activities: Object.fromEntries(activities.map((one) => [one.name, versionOf(one)] as const).sort(byName)),
    effects: knownEffects,
  };
}

export function knows({ kinds, effects }: Knowledge, need: Need): boolean {
  switch (need[0]) {
    case "kind":
      return Object.hasOwn(kinds, need[1]);
    case "message": {
      const known = Object.hasOwn(kinds, need[1]) ? kinds[need[1]] : undefined;
      return known !== undefined && known.version >= need[3] && known.messages.includes(need[2]);
    }
    case "state":
      return Object.hasOwn(kinds, need[1]) && (kinds[need[1]]?.version ?? 0) >= need[2];
    case "effect":
      return effects.includes(need[1]);
    default:
      return false;
  }
}

export const encodeNeed = (need: Need): string => JSON.stringify(need);

/** What another version wrote may be a need of which this one has no idea: then it does not know it. */
export function decodeNeed(text: string): Need | null {
  try {
    return JSON.parse(text) as Need;
  } catch {
    return null;
  }
}
