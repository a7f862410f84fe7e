/**
 * Watches Redis over connections of its own: whether it answers and takes writes, and why not. While it is away the gate
 * of its servers is closed, and it is asked over a new connection several times a second: the connection of before may
 * wait for long until it notices that the way is free again.
 *
 * Time is counted in ticks of this process: a node that was frozen does not take its own pause for the silence of Redis.
 */
import { Redis } from "ioredis";
import { reasonOf } from "../reason.ts";
import { openRedis, primariesOf, type RedisClient, type RedisServers } from "./connections.ts";

const tickMs = 250;
/** Between two questions, in ticks. */
const pauseTicks = 4;
/** Redis answers at once; one that takes longer is as good as away, in ticks. */
const answerTicks = 16;
/** Between two new connections while Redis is away, in ticks, and how many are tried at once. */
const [scoutTicks, mostScouts] = [2, 10];
/** How long a new connection is given, ms. */
const scoutMs = 5_000;

export interface RedisWatch {
  /** Why Redis is away; null while it answers and takes writes. */
  readonly reason: string | null;
  /** For how long it has answered, ms. */
  readonly upMs: number;
  stop(): void;
}

/**
 * Redis checks that it may write before it runs a script that does not say that it only reads, also one without keys.
 * PING is answered by one whose memory is full.
 */
const writesNothing = "#!lua\nreturn 1";
/** Other errors say that a server knows no such scripts (before Redis 7), or does not let this user run them. */
const refusesWrites = /^(OOM|MISCONF|NOREPLICAS)/;

/** What was found out about Redis. */
interface Finding {
  /** Null: it answers and takes writes. */
  readonly reason: string | null;
  /** Whether commands are refused from now on. A Cluster works on without some of its masters. */
  readonly refuses: boolean;
}

const well: Finding = { reason: null, refuses: false };
const silent: Finding = { reason: "it does not answer", refuses: true };

export function watchRedis(
  servers: RedisServers,
  report: (event: "redis_away" | "redis_back", facts: { readonly reason?: string }) => void,
): RedisWatch {
  const { gate = null, ...ungated } = typeof servers === "string" ? { url: servers } : servers;
  const scouts = new Set<RedisClient>();
  let connectionFailure: Error | null = null;
  let redis = open();
  let reason: string | null = null;
  let upSince = performance.now();
  /** Ticks since the question under way was asked, or since the last one ended. */
  let ticks = pauseTicks;
  let asking = false;
  let sinceScout = 0;

  function open(): RedisClient {
    const opened = openRedis(ungated);
    const note = (error: Error) => {
      connectionFailure = error;
    };
    if (opened instanceof Redis) opened.on("error", note);
    else opened.on("node error", note);
    return opened;
  }

  function say(found: Finding): void {
    if (found.refuses) gate?.close(found.reason ?? "");
    else gate?.open();
    if (reason === found.reason) return;
    const was = reason;
    reason = found.reason;
    if (reason !== null) report("redis_away", { reason });
    else if (was !== null) {
      upSince = performance.now();
      report("redis_back", {});
    }
  }

  const timer = setInterval(tick, tickMs);

  function tick(): void {
    ticks += 1;
    sinceScout += 1;
    if (!asking && ticks >= pauseTicks) void ask();
    else if (asking && ticks === answerTicks) say(silent);
    if (reason === null || sinceScout < scoutTicks || scouts.size >= mostScouts) return;
    sinceScout = 0;
    void scout();
  }

  async function ask(): Promise<void> {
    const asked = redis;
    asking = true;
    ticks = 0;
    const found = await examine(asked).catch((error: unknown) => ({
      // That a command was given up says less than why its connection failed.
      reason: reasonOf(connectionFailure ?? error),
      refuses: true,
    }));
    if (asked !== redis) return;
    asking = false;
    ticks = 0;
    if (found.reason === null) connectionFailure = null;
    say(found);
  }

  /** Asks over a new connection, which takes the place of the other one if Redis is back. */
  async function scout(): Promise<void> {
    const sent = open();
    scouts.add(sent);
    const late = setTimeout(() => sent.disconnect(), scoutMs);
    const found = await examine(sent).catch(() => silent);
    clearTimeout(late);
    if (found.reason !== null || reason === null || !scouts.delete(sent)) {
      scouts.delete(sent);
      sent.disconnect();
      return;
    }
    redis.disconnect();
    redis = sent;
    asking = false;
    ticks = 0;
    connectionFailure = null;
    say(found);
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
      reason = null;
      for (const one of [redis, ...scouts]) one.disconnect();
      scouts.clear();
      gate?.open();
    },
  };
}

/** @throws why it does not answer, or takes no writes */
async function examine(redis: RedisClient): Promise<Finding> {
  // The client of a Cluster knows its masters once it has been asked something.
  if (!(redis instanceof Redis)) await redis.ping();
  const primaries = primariesOf(redis);
  const roles = await Promise.allSettled(primaries.map((primary) => primary.role()));
  const failed = roles.find((one) => one.status === "rejected");
  if (failed !== undefined) {
    return { reason: reasonOf(failed.reason), refuses: roles.every((one) => one.status === "rejected") };
  }
  const reads = roles.filter((one) => one.status === "fulfilled" && one.value[0] !== "master").length;
  if (reads > 0) return { reason: "it is read-only", refuses: reads === roles.length };
  // A full one still takes what makes room, so that commands are not refused.
  const writes = await Promise.allSettled(primaries.map((primary) => primary.eval(writesNothing, 0)));
  const refused = writes.find((one) => one.status === "rejected");
  return refused !== undefined && refusesWrites.test(String(refused.reason?.message))
    ? { reason: reasonOf(refused.reason), refuses: false }
    : well;
}
