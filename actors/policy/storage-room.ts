/** How much more may be written into volumes while something writes to them (docs/reference/volumes.md). */

/** A volume that is written to. */
export interface WrittenVolume {
  readonly id: string;
  /** Its own bound, and the name of that. */
  readonly limit: number;
  readonly quota: "size_limit_bytes" | "disk";
  /** What it held when the writing began. */
  readonly before: number;
  /** What it holds now. */
  readonly taken: number;
}

/** A bound on several volumes together. */
export interface SharedBound {
  readonly quota: "user_bytes" | "max_storage_gb";
  readonly limit: number;
  /** What all of them hold, by the records. */
  readonly used: number;
  /** What the records say of those that are written to, by id; others do not count in this bound. */
  readonly counted: ReadonlyMap<string, number>;
}

export interface Room {
  /** Bytes; less than nothing: too much was written. */
  readonly bytes: number;
  readonly quota: WrittenVolume["quota"] | SharedBound["quota"];
  readonly limit: number;
  /** Where the bound is one volume's. */
  readonly volumeId: string | null;
}

/**
 * The bound that leaves the least room. What lay there before is nothing that this writing did: where a bound was passed
 * already, nothing may be added.
 * @returns null where nothing is bounded
 */
export function leastRoom(volumes: readonly WrittenVolume[], shared: readonly SharedBound[]): Room | null {
  const rooms = [...volumes.map(ownRoom), ...shared.map((bound) => sharedRoom(bound, volumes))];
  return rooms.reduce<Room | null>((least, room) => (least === null || room.bytes < least.bytes ? room : least), null);
}

/** Bytes that may still be added to one of the volumes. */
export function roomIn(id: string, volumes: readonly WrittenVolume[], shared: readonly SharedBound[]): number {
  const rooms = [
    ...volumes.filter((volume) => volume.id === id).map(ownRoom),
    ...shared.filter(({ counted }) => counted.has(id)).map((bound) => sharedRoom(bound, volumes)),
  ];
  return Math.max(0, Math.min(...rooms.map(({ bytes }) => bytes)));
}

const ownRoom = ({ id, limit, quota, before, taken }: WrittenVolume): Room => ({
  bytes: Math.max(limit, before) - taken,
  quota,
  limit,
  volumeId: id,
});

function sharedRoom({ quota, limit, used, counted }: SharedBound, volumes: readonly WrittenVolume[]): Room {
  const mine = volumes.filter(({ id }) => counted.has(id));
  const total = used + sum(mine.map(({ id, taken }) => taken - (counted.get(id) ?? 0)));
  const grown = Math.max(0, sum(mine.map(({ taken, before }) => taken - before)));
  // Without what this writing added.
  const others = total - grown;
  return { bytes: Math.max(limit, others) - total, quota, limit, volumeId: null };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
