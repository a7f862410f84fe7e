/** Watches Redis over a connection of its own: whether it answers and takes writes, and why not. */
import { Redis } from "ioredis";
import { reasonOf } from "../reason.ts";
import { openRedis, primariesOf, type RedisServers } from "./connections.ts";

const everyMs = 1_000;
/** Redis answers at once; one that takes longer is as good as away, ms. */
const answerMs = 4_000;

export interface RedisWatch {
  /** Why Redis is away; null while it answers and takes writes. */
  readonly reason: string | null;
  /** For how long it has answered, ms. */
  readonly upMs: number;
  stop(): void;
}

export function watchRedis(
  servers: RedisServers,
  report: (event: "redis_away" | "redis_back", facts: { readonly reason?: string }) => void,
): RedisWatch {
  const redis = openRedis(servers);
  let reason: string | null = null;
  let upSince = performance.now();
  let connectionFailure: Error | null = null;
  let asking = false;
  const note = (error: Error) => {
    connectionFailure = error;
  };
  if (redis instanceof Redis) redis.on("error", note);
  else redis.on("node error", note);

  function say(found: string | null): void {
    if (reason === found) return;
    const was = reason;
    reason = found;
    if (found !== null) report("redis_away", { reason: found });
    else if (was !== null) {
      upSince = performance.now();
      report("redis_back", {});
    }
  }

  const timer = setInterval(() => {
    if (!asking) void ask();
  }, everyMs);

  async function ask(): Promise<void> {
    asking = true;
    const late = setTimeout(() => say("it does not answer"), answerMs);
    try {
      await redis.ping();
      const roles = await Promise.all(primariesOf(redis).map((primary) => primary.role()));
      connectionFailure = null;
      say(roles.every(([role]) => role === "master") ? null : "it is read-only");
    } catch (error) {
      // That a command was given up says less than why its connection failed.
      say(reasonOf(connectionFailure ?? error));
    } finally {
      clearTimeout(late);
      asking = false;
    }
  }

  return {
    get reason() {
      return reason;
    },
    get upMs() {
      return reason === null ? performance.now() - upSince : 0;
    },
    stop() {
      clearInterval(timer);
      redis.disconnect();
    },
  };
}
