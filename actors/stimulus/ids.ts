/** Ids of stimuli are UUIDv7, minted when one is accepted: they begin with that time. */

const latestMs = 2 ** 48 - 1;

/** Not greater than any id minted at this time (Unix milliseconds) or later, and greater than every one minted before. */
export function firstIdOf(ms: number): string {
  const time = Math.min(latestMs, Math.max(0, Math.floor(ms)))
    .toString(16)
    .padStart(12, "0");
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}
