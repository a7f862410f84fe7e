/** Looks at many things each at its time, with one timer for all: a look is late by a second at most. */

export interface Wheel<T> {
  /** Has it looked at after so many ms, in place of an earlier look. */
  set(item: T, afterMs: number): void;
  delete(item: T): void;
  stop(): void;
}

const tickMs = 1000;

/** @param look says after how many ms to look again; null: never */
export function createWheel<T>(look: (item: T) => number | null): Wheel<T> {
  const slots = new Map<number, Set<T>>();
  const places = new Map<T, number>();
  let tick = 0;

  function remove(item: T): void {
    const at = places.get(item);
    if (at === undefined) return;
    places.delete(item);
    slots.get(at)?.delete(item);
  }

  function set(item: T, afterMs: number): void {
    remove(item);
    // The tick under way is not a whole one.
    const at = tick + 1 + Math.ceil(afterMs / tickMs);
    places.set(item, at);
    const slot = slots.get(at) ?? new Set();
    slots.set(at, slot.add(item));
  }

  const timer = setInterval(() => {
    tick += 1;
    const due = slots.get(tick);
    slots.delete(tick);
    for (const item of due ?? []) {
      places.delete(item);
      const again = look(item);
      if (again !== null) set(item, again);
    }
  }, tickMs);
  return { set, delete: remove, stop: () => clearInterval(timer) };
}
