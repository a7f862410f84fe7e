/** Which partition an actor belongs to, and how the runtime's keys in Redis are named. */
import { groupTag } from "../../store/redis/servers.ts";

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

/** FNV-1a over UTF-16 code units: fixed for ever, since stored actors depend on it. */
export function partitionOf(kind: string, key: string, partitions: number): number {
  return settled(hashed(hashed(offsetBasis, kind), key), partitions);
}

function hashed(before: number, text: string): number {
  let hash = before;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), prime);
  return hash;
}

function settled(hash: number, partitions: number): number {
  // The low bits of FNV mix poorly for keys that differ in their last characters only.
  const mixed = hash ^ (hash >>> 15);
  // The same remainder, without a division of floating-point numbers, which half of the unsigned hashes are.
  return (partitions & (partitions - 1)) === 0 ? mixed & (partitions - 1) : (mixed >>> 0) % partitions;
}

/** Characters of an id that may be changed: so many that one of their values fits, so few that the rest is random. */
const loose = 3;
const looseValues = 1 << (4 * loose);
const looseForm = new RegExp(`[0-9a-f]{${loose}}$`);
const digits = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

/**
 * An id like this one whose actor lies in a partition that fits: the last hexadecimal digits are counted up until it does.
 * For one partition of many that takes about as many steps as there are partitions, so a step makes no text.
 * @returns null when no value of them fits, or when they are none
 */
export function idWhere(
  kind: string,
  id: string,
  partitions: number,
  fits: (partition: number) => boolean,
): string | null {
  if (!looseForm.test(id)) return null;
  const head = id.slice(0, -loose);
  const first = Number.parseInt(id.slice(-loose), 16);
  const before = hashed(hashed(offsetBasis, kind), head);
  for (let step = 0; step < looseValues; step++) {
    const value = (first + step) & (looseValues - 1);
    if (fits(settled(hashedDigits(before, value), partitions))) return head + value.toString(16).padStart(loose, "0");
  }
  return null;
}

/** The hash of a text that goes on with this value, written in so many hexadecimal digits as may be changed. */
function hashedDigits(before: number, value: number): number {
  let hash = before;
  for (let shift = 4 * (loose - 1); shift >= 0; shift -= 4) {
    hash = Math.imul(hash ^ (digits[(value >> shift) & 15] ?? 0), prime);
  }
  return hash;
}

/**
 * Names in Redis. On a single server, with or without Sentinel, there is one slot group and the names have no tag of it. On a
 * Cluster there are 16: what is read with one command, the mailboxes of a group's partitions and the streams of a node
 * beside them, shares a slot by its hash tag.
 */
export interface Keys {
  /** Groups of partitions whose keys share a slot. */
  readonly slotGroups: number;
  groupOf(partition: number): number;
  mailbox(partition: number): string;
  /** Where the mailbox was before the messages were moved to a Cluster; null where the name is the same. */
  formerMailbox(partition: number): string | null;
  /** Pub/sub channel with the log entries of a partition's actors, as they are committed. */
  tail(partition: number): string;
  /** A sorted set of the partitions that nodes follow; used on a Cluster. */
  followers: string;
  /** Pub/sub channel with replies to callers on a node. */
  replies(node: string): string;
  /** A key of each slot group that is gone once Redis was flushed. */
  epoch(group: number): string;
  /** Pub/sub channel that names activities to stop. */
  abandoned: string;
  /** Pub/sub channel that says: look at the leases now. */
  leases: string;
  /** A stream that a node reads with the mailboxes of a slot group: ends its blocking read early. Group 0 is always read. */
  wake(node: string, group?: number): string;
}

/**
 * @param slotGroups 1, or 16 on a Cluster
 * @param generation how often the number of partitions was changed: each number has mailboxes of its own, so that a node
 *   that does not know of the change can send nothing into one of a partition that is another one by now
 */
export function runtimeKeys(prefix: string, slotGroups = 1, generation = 0): Keys {
  const groupOf = (partition: number) => partition % slotGroups;
  const single = slotGroups === 1;
  const suffix = generation === 0 ? "" : `:${generation}`;
  const plainMailbox = (partition: number) => `${prefix}:mailbox:{${partition}}${suffix}`;
  return {
    slotGroups,
    groupOf,
    mailbox: single
      ? plainMailbox
      : (partition) => `${prefix}:mailbox:${groupTag(groupOf(partition))}:${partition}${suffix}`,
    formerMailbox: single ? () => null : plainMailbox,
    tail: (partition) => `${prefix}:tail:${partition}`,
    followers: `${prefix}:followers`,
    replies: (node) => `${prefix}:replies:${node}`,
    epoch: (group) => (single ? `${prefix}:epoch` : `${prefix}:epoch:${groupTag(group)}`),
    abandoned: `${prefix}:abandoned`,
    leases: `${prefix}:leases`,
    wake: (node, group = 0) => (single ? `${prefix}:wake:${node}` : `${prefix}:wake:${groupTag(group)}:${node}`),
  };
}
