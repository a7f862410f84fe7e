/** When the next heartbeat is due. */
import { frameLimits } from "../../../../actors/edge/frames.ts";

/** What a welcome may ask for, ms: less would keep the machine busy, more no timer could count. */
const [shortestMs, longestMs] = [1_000, 600_000];

/** Milliseconds until the next heartbeat. @param askedMs of the welcome @param random from 0 to below 1 */
export function heartbeatAfter(askedMs: number, random: () => number = Math.random): number {
  const jitter = 1 + frameLimits.heartbeatJitter * (2 * random() - 1);
  return Math.min(Math.max(askedMs, shortestMs), longestMs) * jitter;
}
