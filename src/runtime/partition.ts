/** Which partition an actor belongs to, and how the runtime's keys in Redis are named. */

/** FNV-1a over UTF-16 code units: fixed for ever, since stored actors depend on it. */
export function partitionOf(kind: string, key: string, partitions: number): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < kind.length; index++) hash = Math.imul(hash ^ kind.charCodeAt(index), 0x01000193);
  for (let index = 0; index < key.length; index++) hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  // The low bits of FNV mix poorly for keys that differ in their last characters only.
  hash ^= hash >>> 15;
  return (hash >>> 0) % partitions;
}

export interface Keys {
  mailbox(partition: number): string;
  /** Pub/sub channel with the log entries of a partition's actors, as they are committed. */
  tail(partition: number): string;
  /** Pub/sub channel with replies to callers on a node. */
  replies(node: string): string;
  /** Pub/sub channel that names activities to stop. */
  abandoned: string;
  /** Pub/sub channel that says: look at the leases now. */
  leases: string;
  /** Stream that ends a node's blocking read early. */
  wake(node: string): string;
}

export function runtimeKeys(prefix: string): Keys {
  return {
    mailbox: (partition) => `${prefix}:mailbox:{${partition}}`,
    tail: (partition) => `${prefix}:tail:${partition}`,
    replies: (node) => `${prefix}:replies:${node}`,
    abandoned: `${prefix}:abandoned`,
    leases: `${prefix}:leases`,
    wake: (node) => `${prefix}:wake:${node}`,
  };
}
