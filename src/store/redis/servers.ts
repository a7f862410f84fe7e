/** Where Redis is, as the settings say it, and what follows for the names of keys. */
import type { Secret } from "../../lib/secret.ts";
import type { RedisGate } from "./gate.ts";

export interface HostAndPort {
  readonly host: string;
  readonly port: number;
}

interface Credentials {
  readonly username: string | null;
  readonly password: string | null;
  readonly tls: boolean;
}

/** Servers that Sentinel watches, of which one takes writes. */
export interface SentinelServers extends Credentials {
  readonly sentinels: readonly HostAndPort[];
  /** Under which the Sentinels know them. */
  readonly name: string;
  readonly sentinelPassword: string | null;
}

/** A Cluster: some of its nodes, which name the others. */
export interface ClusterServers extends Credentials {
  readonly cluster: readonly HostAndPort[];
}

/** A single server by its URL, which holds user, password and database. */
interface SingleServer {
  readonly url: string;
}

/** How long is waited for Redis, and whom its certificate may be signed by; what is usual where they are absent. */
export interface RedisLimits {
  /** For a connection, ms. */
  readonly connectMs?: number;
  /** For the answer to a command that does not block, ms. */
  readonly commandMs?: number;
  /** Certificates of authorities, PEM, instead of those that the system knows. */
  readonly ca?: string;
  /** Before commands to these servers; none when absent. */
  readonly gate?: RedisGate;
}

/** A URL alone is a single server with the usual limits. */
export type RedisServers = string | ((SingleServer | SentinelServers | ClusterServers) & RedisLimits);

/** The same servers with these limits. */
export function withLimits(servers: RedisServers, limits: RedisLimits): RedisServers {
  return typeof servers === "string" ? { url: servers, ...limits } : { ...servers, ...limits };
}

export interface RedisSettings {
  /** Null: given by Sentinel or as a Cluster, or not at all. */
  readonly redisUrl: string | null;
  readonly redisSentinels: readonly HostAndPort[];
  readonly redisSentinelName: string;
  readonly redisSentinelPassword: Secret | null;
  readonly redisCluster: readonly HostAndPort[];
  readonly redisUsername: string;
  readonly redisPassword: Secret | null;
  readonly redisTls: boolean;
}

/** What the settings name; null where they name none. */
export function redisServersOf(settings: RedisSettings): RedisServers | null {
  const { redisSentinels, redisCluster, redisUrl } = settings;
  const credentials: Credentials = {
    username: settings.redisUsername === "" ? null : settings.redisUsername,
    password: settings.redisPassword?.reveal() ?? null,
    tls: settings.redisTls,
  };
  if (redisCluster.length > 0) return { cluster: redisCluster, ...credentials };
  if (redisSentinels.length === 0) return redisUrl;
  return {
    sentinels: redisSentinels,
    name: settings.redisSentinelName,
    sentinelPassword: settings.redisSentinelPassword?.reveal() ?? null,
    ...credentials,
  };
}

/** What the settings contradict each other in. */
export function redisContradictions(settings: Partial<RedisSettings>): readonly string[] {
  const { redisUrl = null, redisSentinels = [], redisCluster = [] } = settings;
  const given = [redisUrl !== null, redisSentinels.length > 0, redisCluster.length > 0].filter(Boolean).length;
  if (given > 1) return ["REDIS_URL, REDIS_SENTINELS and REDIS_CLUSTER exclude one another"];
  const problems: string[] = [];
  if (redisSentinels.length === 0 && settings.redisSentinelPassword)
    problems.push("REDIS_SENTINEL_PASSWORD needs REDIS_SENTINELS");
  const hasCredentials = Boolean(settings.redisUsername) || settings.redisPassword || settings.redisTls === true;
  if (hasCredentials && redisSentinels.length === 0 && redisCluster.length === 0)
    problems.push(
      "REDIS_USERNAME, REDIS_PASSWORD and REDIS_TLS need REDIS_SENTINELS or REDIS_CLUSTER; REDIS_URL holds its own",
    );
  return problems;
}

/** In the form that the client takes. */
export function credentialsOf({ username, password, tls, ca }: Credentials & RedisLimits) {
  return {
    ...(username === null ? {} : { username }),
    ...(password === null ? {} : { password }),
    ...(tls ? { tls: ca === undefined ? {} : { ca } } : {}),
  };
}

/** For messages: where it was looked for, without user and password, and the setting that says so. */
export function describeServers(servers: RedisServers): { readonly place: string; readonly setting: string } {
  const list = (hosts: readonly HostAndPort[]) => hosts.map(({ host, port }) => `${host}:${port}`).join(", ");
  if (typeof servers === "string" || "url" in servers) {
    const url = typeof servers === "string" ? servers : servers.url;
    const place = URL.canParse(url) ? new URL(url).host || "its socket" : "its address";
    return { place, setting: "REDIS_URL" };
  }
  if ("cluster" in servers) return { place: list(servers.cluster), setting: "REDIS_CLUSTER" };
  return { place: `${servers.name} of ${list(servers.sentinels)}`, setting: "REDIS_SENTINELS" };
}

/**
 * Hash tags of the 16 slot groups of a Cluster. Their slots lie 1024 apart, so that masters with equal ranges
 * of slots have equal numbers of groups. Fixed for ever: stored keys depend on them.
 */
const groupTags = [
  "g0.58",
  "g1.40",
  "g2.108",
  "g3.60",
  "g4.1",
  "g5.2",
  "g6.208",
  "g7.14",
  "g8.78",
  "g9.60",
  "g10.63",
  "g11.68",
  "g12.46",
  "g13.49",
  "g14.13",
  "g15.18",
] as const;

/** How many slots the keys of partitions share on a Cluster. */
export const clusterSlotGroups = groupTags.length;

/** The hash tag, with its braces, of a slot group of a Cluster. */
export function groupTag(group: number): string {
  return `{${groupTags[group % groupTags.length]}}`;
}
