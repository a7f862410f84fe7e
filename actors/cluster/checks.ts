/** What a check of an installation says, and how measurements become a word: for operators who look for what is wrong. */

export type CheckStatus = "ok" | "warn" | "fail";

export interface Check {
  readonly name: string;
  readonly status: CheckStatus;
  /** One sentence: what was found. */
  readonly message: string;
  /** What to do about it; null where nothing has to be done. */
  readonly remedy: string | null;
}

const mib = 1_048_576;
const gib = 1024 * mib;

/** @param free, total bytes of a file system */
export function diskCheck(name: string, free: number, total: number): Check {
  const percent = total === 0 ? 100 : (free / total) * 100;
  const message = `${sizeOf(free)} of ${sizeOf(total)} are free`;
  const remedy = "Free some space or give the node a larger disk: starts are refused where none is left";
  if (free < 512 * mib || percent < 1) return { name, status: "fail", message, remedy };
  if (free < 2 * gib || percent < 5) return { name, status: "warn", message, remedy };
  return { name, status: "ok", message, remedy: null };
}

const sizeOf = (bytes: number): string =>
  bytes >= gib ? `${(bytes / gib).toFixed(1)} GiB` : `${Math.round(bytes / mib)} MiB`;

/**
 * @param of      whose clock
 * @param skewMs  how far it is ahead of this node's, negative behind
 * @param sureMs  how far that may be wrong: the time that the question took
 */
export function clockCheck(name: string, of: string, skewMs: number, sureMs: number): Check {
  const off = Math.max(0, Math.abs(skewMs) - sureMs);
  const direction = skewMs > 0 ? "behind" : "ahead of";
  if (off < 1000) return { name, status: "ok", message: `This node's clock agrees with ${of}`, remedy: null };
  const message = `This node's clock is ${(off / 1000).toFixed(1)} s ${direction} that of ${of}`;
  const remedy = "Keep the clocks of all machines by NTP (chrony, systemd-timesyncd)";
  // Tokens are judged with 30 s of tolerance.
  return { name, status: off >= 30_000 ? "fail" : "warn", message, remedy };
}

/** @param used, most bytes; 0 for most: there is no bound */
export function redisMemoryCheck(name: string, used: number, most: number): Check {
  if (most <= 0) return { name, status: "ok", message: `Redis uses ${sizeOf(used)}, without a bound`, remedy: null };
  const percent = Math.round((used / most) * 100);
  const message = `Redis uses ${percent} % of its ${sizeOf(most)}`;
  const remedy = "Raise maxmemory: a Redis that is full refuses messages, and starts with them";
  return {
    name,
    status: percent >= 95 ? "fail" : percent >= 80 ? "warn" : "ok",
    message,
    remedy: percent >= 80 ? remedy : null,
  };
}

/** What an operator can do about a weakness of a store or a sandbox, by its code. */
export const remedies: Readonly<Record<string, string>> = {
  postgres_version: "Upgrade PostgreSQL to 15 or newer",
  postgres_synchronous_commit: "Set synchronous_commit to on, and restart the nodes",
  postgres_fsync: "Set fsync and full_page_writes to on in postgresql.conf",
  postgres_standby: "Set synchronous_standby_names, or accept that a failover loses the last commits",
  redis_version: "Upgrade Redis to 7.0 or Valkey to 7.2, or newer",
  redis_appendonly: "CONFIG SET appendonly yes, and write it into redis.conf",
  redis_maxmemory_policy: "CONFIG SET maxmemory-policy noeviction, and write it into redis.conf",
  unsandboxed:
    "Install bubblewrap (apt-get install bubblewrap, dnf install bubblewrap, apk add bubblewrap), allow user namespaces to it and restart the node",
  limit_not_enforced: "Delegate the cgroup to the service (systemd: Delegate=yes) and restart the node",
};
