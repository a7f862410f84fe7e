/** Failed authentications per client address, as one node counts them: past 300 a minute they are answered 429. */
import { LRUCache } from "lru-cache";
import { Problem } from "../../actors/kernel/problem.ts";

export interface FailureLimit {
  /**
   * Counts one failure.
   * @throws Problem 429 `rate_limited` once the address has used its minute up
   */
  count(address: string): void;
}

const windowMs = 60_000;
const maxAddresses = 50_000;

export function createFailureLimit(now: () => number, perMinute = 300): FailureLimit {
  const windows = new LRUCache<string, { readonly since: number; failures: number }>({ max: maxAddresses });
  return {
    count(address) {
      const at = now();
      const current = windows.get(address);
      const window = current && at - current.since < windowMs ? current : { since: at, failures: 0 };
      window.failures++;
      if (window !== current) windows.set(address, window);
      if (window.failures <= perMinute) return;
      const wait = Math.max(1, Math.ceil((window.since + windowMs - at) / 1000));
      throw new Problem("rate_limited", "Too many failed authentications", {}, { "Retry-After": String(wait) });
    },
  };
}
