/**
 * Which of the nodes' unix sockets a program uses. Every node of the host listens on a socket of its own in one directory;
 * a program begins with any of them, so that the nodes share the work, and stays with the one that answers.
 */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** A socket that did not answer is tried last for this long, ms. */
const avoidedMs = 30_000;

export interface Doors {
  /** Paths to try, in order. Empty: no node listens. */
  candidates(): readonly string[];
  answered(path: string): void;
  /** It took a connection and said nothing: its node is frozen, or too busy. */
  silent(path: string): void;
}

/** @param now monotonic milliseconds @param random from 0 up to 1 */
export function openDoors(directory: string, now: () => number, random: () => number = Math.random): Doors {
  const places = new Map<string, number>();
  const silentAt = new Map<string, number>();
  let lastGood: string | null = null;

  function rank(path: string): number {
    const since = silentAt.get(path);
    if (since !== undefined && now() - since < avoidedMs) return 2;
    if (path === lastGood) return -1;
    let place = places.get(path);
    if (place === undefined) {
      place = random();
      places.set(path, place);
    }
    return place;
  }

  return {
    candidates: () => {
      const ranked = listSockets(directory).map((path) => ({ path, rank: rank(path) }));
      return ranked.sort((a, b) => a.rank - b.rank).map(({ path }) => path);
    },
    answered: (path) => {
      silentAt.delete(path);
      lastGood = path;
    },
    silent: (path) => {
      silentAt.set(path, now());
      if (lastGood === path) lastGood = null;
    },
  };
}

function listSockets(directory: string): string[] {
  try {
    return readdirSync(directory)
      .map((name) => join(directory, name))
      .filter((path) => statSync(path, { throwIfNoEntry: false })?.isSocket() ?? false);
  } catch {
    return [];
  }
}
