/**
 * Waiting for stimuli that are processed elsewhere: this node's own are known at once, those of other nodes are looked
 * up, all together, several times a second.
 */
export interface SettledWatch {
  /** This node settled it. */
  settled(stimulus: { readonly id: string }): void;
  /** Resolves when the stimulus is no longer `received`, or after `timeoutMs`. */
  wait(stimulus: { readonly tenant: string; readonly id: string }, timeoutMs: number): Promise<void>;
  close(): void;
}

const lookEveryMs = 200;

/** @param stillReceived which of these stimuli are not settled yet, by id */
export function watchSettled(
  stillReceived: (asked: readonly { readonly tenant: string; readonly id: string }[]) => Promise<ReadonlySet<string>>,
): SettledWatch {
  const waiting = new Map<string, { readonly tenant: string; readonly wake: Set<() => void> }>();
  let timer: ReturnType<typeof setInterval> | null = null;
  let isLooking = false;

  function wake(id: string): void {
    const found = waiting.get(id);
    if (found === undefined) return;
    waiting.delete(id);
    for (const call of found.wake) call();
    if (waiting.size === 0) rest();
  }

  function rest(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  async function look(): Promise<void> {
    if (isLooking) return;
    isLooking = true;
    try {
      const asked = [...waiting].map(([id, { tenant }]) => ({ tenant, id }));
      const open = await stillReceived(asked);
      for (const { id } of asked) if (!open.has(id)) wake(id);
    } catch {
      // The store is away; the next look may find it.
    } finally {
      isLooking = false;
    }
  }

  return {
    settled: ({ id }) => wake(id),
    wait({ tenant, id }, timeoutMs) {
      return new Promise((resolve) => {
        const entry = waiting.get(id) ?? { tenant, wake: new Set<() => void>() };
        const done = () => {
          clearTimeout(timeout);
          resolve();
        };
        const timeout = setTimeout(() => {
          entry.wake.delete(done);
          if (entry.wake.size === 0) waiting.delete(id);
          if (waiting.size === 0) rest();
          resolve();
        }, timeoutMs);
        entry.wake.add(done);
        waiting.set(id, entry);
        timer ??= setInterval(() => void look(), lookEveryMs);
      });
    },
    close() {
      rest();
      for (const id of [...waiting.keys()]) wake(id);
    },
  };
}
