/** What a node finds out about its Redis when it starts: version, what it keeps and what it throws away. */
import type { Weakness } from "../postgres/facts.ts";
import { primariesOf, type RedisClient } from "./connections.ts";

export interface RedisFacts {
  /** Null where the server does not say. */
  readonly version: string | null;
  readonly isValkey: boolean;
  readonly appendOnly: boolean | null;
  readonly evictionPolicy: string | null;
}

/** Of a Cluster the weakest of its masters counts. `INFO` is allowed where `CONFIG` is not. */
export async function inspectRedis(redis: RedisClient): Promise<RedisFacts> {
  await redis.ping();
  const texts = await Promise.all(primariesOf(redis).map((primary) => primary.info()));
  const facts = texts.map(factsOf);
  const weakest = facts.find(({ evictionPolicy }) => evictionPolicy !== "noeviction") ?? facts[0];
  if (weakest === undefined) return { version: null, isValkey: false, appendOnly: null, evictionPolicy: null };
  return { ...weakest, appendOnly: facts.some(({ appendOnly }) => appendOnly === false) ? false : weakest.appendOnly };
}

function factsOf(info: string): RedisFacts {
  const field = (name: string) => new RegExp(`^${name}:(.*?)\\r?$`, "m").exec(info)?.[1] ?? null;
  const aof = field("aof_enabled");
  const valkey = field("valkey_version");
  return {
    version: valkey ?? field("redis_version"),
    isValkey: valkey !== null,
    appendOnly: aof === null ? null : aof === "1",
    evictionPolicy: field("maxmemory_policy"),
  };
}

/** Why a node in production does not start with this Redis; null when it does. */
export function redisRefusal({ evictionPolicy }: RedisFacts): string | null {
  if (evictionPolicy === null || evictionPolicy === "noeviction") return null;
  return `Redis throws accepted work away when it is full: maxmemory-policy is ${evictionPolicy}. Set it to noeviction.`;
}

export function redisWeaknesses(facts: RedisFacts): readonly Weakness[] {
  const found: Weakness[] = [];
  const say = (code: string, message: string) => found.push({ code, message });
  const [oldest, name] = facts.isValkey ? [[7, 2], "Valkey"] : [[7, 0], "Redis"];
  if (facts.version !== null && isOlder(facts.version, oldest)) {
    say("redis_version", `${name} ${facts.version} is older than ${oldest.join(".")}, the oldest supported`);
  }
  if (facts.appendOnly === false) {
    say("redis_appendonly", "appendonly is off: a Redis that stops loses what it holds, which is then sent again");
  }
  const refusal = redisRefusal(facts);
  if (refusal !== null) say("redis_maxmemory_policy", refusal);
  return found;
}

function isOlder(version: string, [major = 0, minor = 0]: readonly number[]): boolean {
  const [ownMajor = 0, ownMinor = 0] = version.split(".").map(Number);
  return ownMajor < major || (ownMajor === major && ownMinor < minor);
}
