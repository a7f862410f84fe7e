/**
 * Deliveries under way while the node leaves. What takes long, because an agent classifies it or because it waits for
 * another one under its key, is not cut off with its connection but refused in time: it is stored, or was not accepted,
 * and another node goes on with it.
 */
import { unavailable } from "../acceptance.ts";

/** @param stopping the node's, the same at every call. @throws what `work` throws; Problem 503 once the node has left */
export type Drain = <T>(work: () => Promise<T>, stopping: AbortSignal) => Promise<T>;

/** @param afterMs how long a node that leaves goes on with what it has begun; its connections are cut later than that */
export function createDrain(afterMs: number): Drain {
  const waiting = new Set<(refusal: unknown) => void>();
  let isListening = false;

  function listen(stopping: AbortSignal): void {
    isListening = true;
    const part = () => {
      for (const refuse of waiting) refuse(unavailable());
    };
    // One listener for all: each delivery's own would be looked for among those of all others.
    stopping.addEventListener("abort", () => setTimeout(part, afterMs).unref(), { once: true });
  }

  return <T>(work: () => Promise<T>, stopping: AbortSignal) => {
    if (!isListening) listen(stopping);
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    waiting.add(reject);
    work()
      .then(resolve, reject)
      .finally(() => waiting.delete(reject));
    return promise;
  };
}
