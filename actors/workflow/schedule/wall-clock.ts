/**
 * What clocks on the wall show in a time zone. A local time is kept like a time in UTC that reads the same: Unix
 * milliseconds of that. Which zone changes when is what the platform knows of zones (`Intl`).
 */

/** No zone changes its clock twice within this, nor by more than a day. */
const aroundMs = 26 * 3_600_000;
/** Zones may be written in many ways; what is kept of them is bounded. */
const maxFormats = 500;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  if (formats.size >= maxFormats) formats.clear();
  formats.set(zone, made);
  return made;
}

/** How far the zone is before UTC at a moment, ms. */
function offsetAt(zone: string, at: number): number {
  if (zone === "UTC") return 0;
  const second = Math.floor(at / 1000) * 1000;
  const read: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(second)) read[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = read;
  return Date.UTC(year, month - 1, day, hour, minute, seconds) - second;
}

/** The local time at a moment. */
export const wallAt = (zone: string, at: number): number => at + offsetAt(zone, at);

/** The latest local time that was shown at a moment or within a day before: the clock may have been set back since. */
export const latestWallBy = (zone: string, at: number): number =>
  at + Math.max(offsetAt(zone, at), offsetAt(zone, at - aroundMs));

/**
 * The moment of a local time: of one that comes twice the first; of one that is skipped the end of the gap. Later local
 * times never come before earlier ones.
 */
export function momentOf(zone: string, wall: number): number {
  const offsets = [offsetAt(zone, wall - aroundMs), offsetAt(zone, wall + aroundMs)];
  const moments = offsets.map((offset) => wall - offset).filter((at) => wallAt(zone, at) === wall);
  return moments.length > 0
    ? Math.min(...moments)
    : changeBetween(zone, wall - Math.max(...offsets), wall - Math.min(...offsets));
}

/** When the clock is set between two moments, to the second; the first one has another offset than the second. */
function changeBetween(zone: string, from: number, to: number): number {
  const before = offsetAt(zone, from);
  let [low, high] = [Math.floor(from / 1000), Math.ceil(to / 1000)];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(zone, middle * 1000) === before) low = middle;
    else high = middle;
  }
  return high * 1000;
}
