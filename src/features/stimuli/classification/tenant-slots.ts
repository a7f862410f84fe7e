/**
 * Slots: a fixed number of classifications of each tenant run at once, the others wait in order. So a tenant whose router
 * hangs delays no other tenant.
 */

export interface TenantSlots {
  /**
   * Asks for a turn.
   * @param go called once, when the slot is free; at once where none of the tenant waits
   * @returns to be called when the turn is over, or not wanted any more
   */
  take(tenant: string, go: () => void): () => void;
}

interface Line {
  going: number;
  /** In the order they came. */
  readonly held: Set<() => void>;
}

/** @param most of one tenant at once */
export function createTenantSlots(most: number): TenantSlots {
  const lines = new Map<string, Line>();

  function next(tenant: string, line: Line): void {
    for (const go of line.held) {
      if (line.going >= most) return;
      line.held.delete(go);
      line.going += 1;
      go();
    }
    if (line.going === 0) lines.delete(tenant);
  }

  return {
    take(tenant, go) {
      const line = lines.get(tenant) ?? { going: 0, held: new Set() };
      lines.set(tenant, line);
      // A value of its own, even where the same callback is given twice.
      const turn = () => go();
      line.held.add(turn);
      next(tenant, line);
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        if (!line.held.delete(turn)) line.going -= 1;
        next(tenant, line);
      };
    },
  };
}
